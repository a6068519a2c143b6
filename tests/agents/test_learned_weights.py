"""Files of learned weights: what is written is read; what is not whole, ours or fitting is not."""

import json
import zipfile

import numpy as np
import pytest

from agents.core import AgentSpec, SpecError
from agents.evaluation import learned_weights
from agents.evaluation.learned_value import looked_up
from agents.evaluation.learned_weights import (
    FEATURES,
    MOST_BYTES,
    LearnedWeights,
    learned_for,
    read_learned,
    write_learned,
)
from agents.evaluation.weights import read_weights
from agents.registry import build
from games import game

GAME = "kalah(4,3)"


@pytest.fixture
def file(tmp_path):
    of = game(GAME)
    layout = looked_up(of, "holes").layout(of.rules)
    weights = np.random.default_rng(3).integers(-900, 900, (2, layout.entries)).astype(np.int16)
    groups = {each.name: each.words for each in layout.groups}
    path = tmp_path / "kalah.npz"
    write_learned(path, LearnedWeights(GAME, "holes", groups, weights, 5, 24, commands=("x",)))
    return path


def test_what_is_written_is_read_and_equal_weights_are_equal_bytes(file, tmp_path):
    read = read_learned(file)
    assert (read.game, read.kind, read.phases, read.least, read.most) == (GAME, "holes", 2, 5, 24)
    again = tmp_path / "again.npz"
    write_learned(again, read)
    assert again.read_bytes() == file.read_bytes()
    assert read_learned(again).digest == read.digest


def test_weights_for_another_variant_are_refused_in_one_line(file):
    with pytest.raises(SpecError, match=r"are for kalah\(4,3\), not for kalah\(4,4\)$"):
        learned_for(file, game("kalah(4,4)"))


def test_an_agent_says_so_too_and_no_evaluation_of_a_users_takes_them(file):
    spec = AgentSpec("alphabeta", nodes=9, weights=str(file))
    build(spec, game(GAME))
    for changed, of, words in (
        (spec, "owari", "not for owari"),
        (spec.replace(evaluate="mine.py:evaluate"), GAME, "an evaluation of your own has none"),
        (spec.replace(weights=f"{file}.gone.npz"), GAME, "cannot be read"),
    ):
        with pytest.raises(SpecError, match=words) as error:
            build(changed, game(of))
        assert "\n" not in str(error.value)


def flipped(content, at):
    return content[:at] + bytes([content[at] ^ 255]) + content[at + 1 :]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[: len(content) // 2],
        lambda content: content[:-30],
        lambda content: flipped(content, len(content) // 2),
        lambda content: b"",
        lambda content: b"[weights]\npot = 1.0\n",
        lambda content: bytes(MOST_BYTES + 1),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(file, damage):
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(SpecError) as error:
        read_learned(file)
    assert str(file) in str(error.value)
    assert "\n" not in str(error.value)


def repacked(path, **arrays):
    """The file with other arrays in it."""
    with np.load(path) as stored:
        whole = {name: stored[name] for name in stored.files}
    np.savez_compressed(path, **{**whole, **arrays})


def test_changed_weights_another_format_and_foreign_arrays_are_refused(file):
    content = file.read_bytes()
    about = json.loads(np.load(file)["about"].tobytes())
    for arrays, words in (
        ({"weights": np.zeros((2, 128), np.int16)}, "not those that were written"),
        ({"about": told(about | {"format": 9})}, "its format is 9"),
        ({"about": told(about | {"scale": 32})}, "not those that were written"),
        ({"about": told([])}, "no whole file"),
        ({"weights": np.array([{}], object)}, "no whole file"),
        ({"more": np.zeros(3)}, "something else"),
    ):
        file.write_bytes(content)
        repacked(file, **arrays)
        with pytest.raises(SpecError, match=words):
            read_learned(file)


def told(about):
    return np.frombuffer(json.dumps(about).encode(), np.uint8)


def test_a_file_that_would_unpack_to_gigabytes_is_not_unpacked(file, monkeypatch):
    monkeypatch.setattr(learned_weights, "MOST_UNPACKED", 1 << 20)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("about.npy", b"")
        packed.writestr("weights.npy", bytes(1 << 21))
    with pytest.raises(SpecError, match="too large"):
        read_learned(file)


def test_weights_that_do_not_fit_the_tables_are_refused(file):
    read = read_learned(file)
    short = LearnedWeights(GAME, "holes", read.groups, read.weights[:, :-1], 5, 24)
    write_learned(file, short)
    with pytest.raises(SpecError, match="127 weights do not fit"):
        learned_for(file, game(GAME))


def test_weights_of_features_are_read_as_a_table(tmp_path):
    path = tmp_path / "features.npz"
    weights = np.array([[1.0, 0.5], [2.0, 0.25]])
    write_learned(path, LearnedWeights(GAME, FEATURES, {"pot": "", "far": ""}, weights))
    assert read_weights(path) == {"pot": (1.0, 2.0), "far": (0.5, 0.25)}
