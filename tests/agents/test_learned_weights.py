"""Files of learned weights."""

import json
import zipfile

import numpy as np
import pytest

from agents.core import AgentSpec, SpecError
from agents.evaluation import weights as weights_module
from agents.evaluation.learned_value import find_tables
from agents.evaluation.weights import (
    FEATURES,
    MOST_BYTES,
    LearnedWeights,
    load_learned_weights,
    read_learned_weights,
    read_weights,
    write_learned_weights,
)
from agents.registry import build
from games import game

GAME = "kalah(4,3)"


@pytest.fixture
def file(tmp_path):
    of = game(GAME)
    layout = find_tables(of, "holes").layout(of.rules)
    weights = np.random.default_rng(3).integers(-900, 900, (2, layout.entries)).astype(np.int16)
    groups = {each.name: each.description for each in layout.groups}
    path = tmp_path / "kalah.npz"
    write_learned_weights(
        path, LearnedWeights(GAME, "holes", groups, weights, 5, 24, commands=("x",))
    )
    return path


def test_round_trip_is_byte_identical(file, tmp_path):
    read = read_learned_weights(file)
    assert (read.game, read.kind, read.phases, read.least, read.most) == (GAME, "holes", 2, 5, 24)
    again = tmp_path / "again.npz"
    write_learned_weights(again, read)
    assert again.read_bytes() == file.read_bytes()
    assert read_learned_weights(again).digest == read.digest


def test_weights_of_other_variant_are_refused(file):
    with pytest.raises(SpecError, match=r"are for kalah\(4,3\), not for kalah\(4,4\)$"):
        load_learned_weights(file, game("kalah(4,4)"))


def test_agent_refuses_unsuitable_weights(file):
    spec = AgentSpec("alphabeta", nodes=9, weights=str(file))
    build(spec, game(GAME))
    for changed, of, words in (
        (spec, "owari", "not for owari"),
        (spec.replace(evaluate="mine.py:evaluate"), GAME, "your own evaluation does not use"),
        (spec.replace(weights=f"{file}.gone.npz"), GAME, "cannot be read"),
    ):
        with pytest.raises(SpecError, match=words) as error:
            build(changed, game(of))
        assert "\n" not in str(error.value)


def flip_bits(content, at):
    return content[:at] + bytes([content[at] ^ 255]) + content[at + 1 :]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[: len(content) // 2],
        lambda content: content[:-30],
        lambda content: flip_bits(content, len(content) // 2),
        lambda content: b"",
        lambda content: b"[weights]\npot = 1.0\n",
        lambda content: bytes(MOST_BYTES + 1),
    ],
)
def test_damaged_file_is_refused(file, damage):
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(SpecError) as error:
        read_learned_weights(file)
    assert str(file) in str(error.value)
    assert "\n" not in str(error.value)


def replace_arrays(path, **arrays):
    with np.load(path) as stored:
        whole = {name: stored[name] for name in stored.files}
    np.savez_compressed(path, **{**whole, **arrays})


def test_altered_content_is_refused(file):
    content = file.read_bytes()
    about = json.loads(np.load(file)["about"].tobytes())
    for arrays, words in (
        ({"weights": np.zeros((2, 128), np.int16)}, "do not match their digest"),
        ({"about": header_array(about | {"format": 9})}, "its format is 9"),
        ({"about": header_array(about | {"scale": 32})}, "do not match their digest"),
        ({"about": header_array([])}, "not a complete file"),
        ({"weights": np.array([{}], object)}, "not a complete file"),
        ({"more": np.zeros(3)}, "and no others"),
    ):
        file.write_bytes(content)
        replace_arrays(file, **arrays)
        with pytest.raises(SpecError, match=words):
            read_learned_weights(file)


def header_array(about):
    return np.frombuffer(json.dumps(about).encode(), np.uint8)


def test_zip_bomb_is_refused(file, monkeypatch):
    monkeypatch.setattr(weights_module, "MOST_UNPACKED", 1 << 20)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("about.npy", b"")
        packed.writestr("weights.npy", bytes(1 << 21))
    with pytest.raises(SpecError, match="too large"):
        read_learned_weights(file)


def test_wrong_number_of_weights_is_refused(file):
    read = read_learned_weights(file)
    short = LearnedWeights(GAME, "holes", read.groups, read.weights[:, :-1], 5, 24)
    write_learned_weights(file, short)
    with pytest.raises(SpecError, match="127 weights do not fit"):
        load_learned_weights(file, game(GAME))


def test_feature_weights_are_read_as_table(tmp_path):
    path = tmp_path / "features.npz"
    weights = np.array([[1.0, 0.5], [2.0, 0.25]])
    write_learned_weights(path, LearnedWeights(GAME, FEATURES, {"pot": "", "far": ""}, weights))
    assert read_weights(path) == {"pot": (1.0, 2.0), "far": (0.5, 0.25)}
