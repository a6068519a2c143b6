"""`pitflip learn --show` and `--compare`."""

import numpy as np

from agents.evaluation.learned_value import find_tables
from agents.evaluation.weights import LearnedWeights, write_learned_weights
from games import game
from tests.commands import learn


def file_of(path, name, kind, set_, own=None):
    """A file with weights of 0 except those in `set_`."""
    of = game(name)
    tables = find_tables(of, kind)
    layout = tables.layout(of.rules, own)
    different = np.unique(tables.shared_entries(layout))
    weights = np.zeros((1, len(different)), np.int16)
    for entry, value in set_.items():
        weights[0, np.searchsorted(different, entry)] = value
    groups = {each.name: each.description for each in layout.groups}
    write_learned_weights(path, LearnedWeights(of.name, kind, groups, weights, 5, 24, games=7))
    return path


def said(capsys, *words):
    assert learn([str(word) for word in words]) == 0
    return capsys.readouterr().out


def test_holes_are_rows_of_bean_values(tmp_path, capsys):
    # Three beans in the second hole of the mover are worth two beans more than none.
    path = file_of(tmp_path / "a.npz", "kalah(4,3)", "holes", {16 + 3: 512, 16: 128})
    text = said(capsys, "--show", path)
    (row,) = (line for line in text.splitlines() if line.startswith("  own hole 2"))
    assert row.split()[3:6] == ["-0.5", "-0.5", "1.5"]
    assert "learned from 7 games" in text


def test_patterns_are_pictures_of_their_best_and_worst_readings(tmp_path, capsys):
    own = {"corner": "a1 b1 a2"}
    # a1 the mover's, b1 and a2 the other's: 1 + 2 * 3 + 2 * 9.
    path = file_of(tmp_path / "a.npz", "othello(4)", "patterns", {1 + 6 + 18: 512, 2: -256}, own)
    lines = said(capsys, "--show", path).splitlines()
    at = lines.index("corner: a1 b1 a2")
    assert lines[at + 1].split() == ["+2.0", "-1.0"]
    assert [line.split() for line in lines[at + 2 : at + 4]] == [["XO", "O."], ["O", "."]]


def test_two_files_are_compared_and_other_tables_are_refused(tmp_path, capsys):
    one = file_of(tmp_path / "a.npz", "kalah(4,3)", "holes", {3: 512})
    two = file_of(tmp_path / "b.npz", "kalah(4,3)", "holes", {3: 256, 4: 256})
    assert said(capsys, "--compare", one, one) == "the same weights\n"
    assert "2 of 128 weights are not 0" in said(capsys, "--compare", one, two)
    other = file_of(tmp_path / "c.npz", "kalah(4,4)", "holes", {3: 256})
    assert learn(["--compare", str(one), str(other)]) == 2
    assert "its game is kalah(4,4)" in capsys.readouterr().err


def test_a_broken_file_gets_one_line(tmp_path, capsys):
    path = tmp_path / "x.npz"
    path.write_bytes(b"nothing")
    assert learn(["--show", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
