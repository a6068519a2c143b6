"""The command that finds openings which perfect play leaves even."""

from arena.commands.even_openings import main
from games import game
from games.solving import solver_of

NAME = "kalah(3,2)"


def found(tmp_path, monkeypatch, *words) -> list[tuple[str, int]]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = tmp_path / "even.csv"
    assert main([NAME, str(path), *words]) == 0
    head, *rows = path.read_text().splitlines()
    assert head == "moves,margin"
    return [(moves, int(margin)) for moves, margin in (row.split(",") for row in rows)]


def test_every_line_is_near_and_none_that_is_near_is_missing(tmp_path, monkeypatch):
    of, lines = game(NAME), dict(found(tmp_path, monkeypatch, "--plies", "3", "--within", "2"))
    solver, level = solver_of(of), {of.start(): ""}
    for _ in range(3):
        level = {
            of.play(at, move): f"{line} {of.move_text(at, move)}".strip()
            for at, line in level.items()
            for move in of.legal(at)
        }
    near = {}
    for at in level:
        margin = solver.margin(at).low * (1 - 2 * at.mover)
        if not of.over(at) and abs(margin) <= 2:
            near[at] = margin
    assert {of.replay(line)[-1]: margin for line, margin in lines.items()} == near


def test_the_count_and_the_beans_are_limits(tmp_path, monkeypatch):
    assert len(found(tmp_path, monkeypatch, "--plies", "3", "--count", "2")) == 2
    assert not found(tmp_path, monkeypatch, "--plies", "3", "--most-beans", "1")


def test_a_mistake_is_one_line(tmp_path, capsys):
    assert main([NAME, str(tmp_path / "a.csv"), "--plies", "no"]) == 2
    assert "--plies must be a whole number from 1 to 60" in capsys.readouterr().err
