"""Foreign and broken files of weights: through every command one line that names the file."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from agents.evaluation.weights import read_learned_weights
from games.base.errors import USER_ERROR
from tests.arena.running import ROOT, experiment_file
from tests.commands import explain, learn, plan, run

GAME = "kalah(4,4)"
SHIPPED = read_learned_weights(ROOT / "games" / "sowing" / "weights" / "kalah_4_4.npz")
EXPERIMENT = ROOT / "experiments" / "own_heuristic.toml"


def packed(path: Path, weights=SHIPPED.weights, **changes) -> None:
    """Write learned weights with other values in their header, and a digest that fits it."""
    about = {**SHIPPED.header(), **changes}
    head = {key: value for key, value in about.items() if key not in ("more", "digest")}
    digest = hashlib.blake2b(json.dumps(head, sort_keys=True).encode(), digest_size=8)
    digest.update(np.ascontiguousarray(weights).tobytes())
    text = json.dumps({**about, "digest": digest.hexdigest()}).encode()
    np.savez_compressed(path, about=np.frombuffer(text, np.uint8), weights=weights)


FEATURES = {"kind": "features", "scale": 1}
LEARNED = {
    "another variant": {"game": "kalah(6,4)"},
    "another game": {"game": "othello(8)", "kind": "patterns"},
    "features of another game": {
        "game": "othello(8)", "weights": np.ones((1, 1)), "groups": {"mobility": ""}, **FEATURES
    },
    "a game that is a number": {"game": 5},
    "a kind that is a list": {"kind": ["all_pairs"]},
    "an unknown kind": {"kind": "patterns"},
    "the kind of features": FEATURES,
    "groups that are a list": {"groups": ["holes"]},
    "other groups": {"groups": {"x": "a1"}},
    "no groups": {"weights": np.ones((1, 0)), "groups": {}, **FEATURES},
    "a column too many": {"weights": np.ones((1, 2)), "groups": {"pot": ""}, **FEATURES},
    "a feature that is not a number": {
        "weights": np.full((1, 1), np.nan), "groups": {"pot": ""}, **FEATURES
    },
    "columns missing": {"weights": SHIPPED.weights[:, :-5]},
    "no phase": {"weights": SHIPPED.weights[:0]},
    "weights of another type": {"weights": SHIPPED.weights.astype(float)},
    "objects": {"weights": np.array([[{}]], object)},
    "a phase that begins nowhere": {"least": 10**30},
    "a phase that ends nowhere": {"most": -1},
    "a scale of nothing": {"scale": 0},
    "another scale": {"scale": 1},
    "another format": {"format": 9},
}  # fmt: skip
BYTES = {
    "nothing.npz": b"",
    "text.npz": b"hello",
    "half.npz": (ROOT / "games" / "sowing" / "weights" / "kalah_4_4.npz").read_bytes()[:5000],
    "nothing.toml": b"",
    "an empty table.toml": b"[weights]\n",
    "no TOML.toml": b"pot = ",
    "bytes.toml": b"\0\xff\xfe",
    "a list.toml": b"weights = [1]\n",
    "a number.toml": b"weights = 3\n",
    "another game.toml": b"[weights]\ncorner = 1\nparity = 2\nfrontier = 3\n",
    "an experiment.toml": EXPERIMENT.read_bytes(),
    "a misspelt name.toml": b"poot = 1\n",
    "a name with a newline.toml": b'"a\\nb" = 1\n',
    "text as a number.toml": b'pot = "x"\n',
    "true.toml": b"pot = true\n",
    "nan.toml": b"pot = nan\n",
    "too large.toml": b"pot = 1e9\n",
    "many digits.toml": b"pot = " + b"9" * 400 + b"\n",
    "too many digits.toml": b"pot = " + b"9" * 5000 + b"\n",
    "nine phases.toml": b"pot = [1, 1, 1, 1, 1, 1, 1, 1, 1]\n",
    "no phases.toml": b"pot = []\n",
    "a table.toml": b"[weights.pot]\na = 1\n",
    "deep.toml": b"pot = " + b"[" * 300 + b"]" * 300,
}
FILES = [f"{name}.npz" for name in LEARNED] + list(BYTES) + ["a directory.toml", "missing.npz"]


def written(directory: Path, name: str) -> Path:
    """The broken file of this name."""
    path = directory / name
    if (what := LEARNED.get(path.stem)) and path.suffix == ".npz":
        if name.startswith("objects"):
            np.savez_compressed(path, about=np.zeros(3, np.uint8), **what)
        else:
            packed(path, **what)
    elif name in BYTES:
        path.write_bytes(BYTES[name])
    elif "directory" in name:
        path.mkdir()
    return path


def one_line(shown: str) -> str:
    """What a command wrote on its error stream, which must be a line without a traceback."""
    lines = shown.splitlines()
    assert len(lines) == 1, shown
    return lines[0]


@pytest.mark.parametrize("name", FILES)
def test_broken_weights_file_gives_one_line(name, tmp_path, capsys):
    path = written(tmp_path, name)
    file = experiment_file(
        tmp_path,
        f'game = "{GAME}"\npairs = 1\n[agents.a]\nkind = "alphabeta"\nnodes = 9\n'
        f'weights = "{path.name}"\n[agents.b]\nkind = "first"\n',
    )
    for command in (run, plan):
        assert command([str(file)]) == USER_ERROR
        line = one_line(capsys.readouterr().err)
        assert line.startswith(f"{file}:6: [agents.a] ")
        assert path.name in line
    if path.stem != "features of another game":  # these names are features of this game, too
        assert explain([GAME, "", "--agent", f"{file}:a", "--solve-seconds", "0"]) == USER_ERROR
        one_line(capsys.readouterr().err)


READABLE = ("features of another game", "a feature that is not a number")


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith("npz")])
def test_a_broken_file_of_learned_weights_is_not_shown(name, tmp_path, capsys):
    path = written(tmp_path, name)
    if path.stem not in READABLE:
        assert learn(["--show", str(path)]) == USER_ERROR
        assert path.name in one_line(capsys.readouterr().err)
