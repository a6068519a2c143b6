"""The profile of a game: counts as brute force makes them, and the words of the command."""

import pytest

from arena.commands.profile import main
from arena.concluding.game_profile import (
    GameCounts,
    counts_of,
    doubling,
    exact_value,
    openings,
    played,
    player,
    self_play,
)
from arena.stats.elo import elo_from_score
from games import game
from games.base.errors import DONE, MISTAKE
from tests.games.naive import full_search
from tests.games.naive import sowing as naive

SIZE = (2, 2)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def all_lines(of, line):
    """Every game there is, as lines of positions."""
    legal = of.legal(line[-1])
    if not legal:
        yield line
    for move in legal:
        yield from all_lines(of, [*line, of.play(line[-1], move)])


def brute_force(state) -> list[list[int]]:
    """The counts of every game from a state on, by the naive rules."""
    if naive.over(state):
        margin = naive.margin(state)
        return [[1, 0, 0, 0, 0, margin == 0, 1 + (margin > 0) - (margin < 0)]]
    children = [naive.play(state, move) for move in naive.legal(state)]
    again = [naive.mover(c) == naive.mover(state) and not naive.over(c) for c in children]
    own = [0, 1, len(children), len(children) == 1, any(again) and not all(again), 0, 0]
    return [
        [mine + later for mine, later in zip(own, game_, strict=True)]
        for child in children
        for game_ in brute_force(child)
    ]


def test_the_counts_are_those_of_brute_force():
    of = game(f"kalah({SIZE[0]},{SIZE[1]})")
    lines = list(all_lines(of, [of.start()]))
    games = brute_force(naive.start(naive.Rules(*SIZE)))
    assert len(lines) > 5
    assert counts_of(of, lines) == GameCounts(*map(sum, zip(*games, strict=True)))


def test_the_exact_value_is_that_of_brute_force():
    state = naive.start(naive.Rules(*SIZE))
    bounds = exact_value(game(f"kalah({SIZE[0]},{SIZE[1]})"), 5.0)
    assert bounds.low == bounds.high == max(full_search.values(state).values())
    assert exact_value(game("othello(8)"), 5.0) is None


def test_self_play_is_one_game_an_opening_and_the_same_by_its_seed():
    of = game("kalah(4,3)")
    begun = openings(of, 10, 7)
    assert len({line[-1] for line in begun}) == 10
    lines = self_play(of, 100, 10, 7)
    assert [line[0] for line in lines] == [line[-1] for line in begun]
    assert all(of.over(line[-1]) for line in lines)
    assert lines == self_play(of, 100, 10, 7)
    assert len(openings(game("kalah(1,1)"), 10, 7)) == 1


def test_a_doubling_is_counted_from_both_sides():
    of, points = game("kalah(4,3)"), 0.0
    more, less = player(of, 100), player(of, 50)
    for place, line in enumerate(openings(of, 12, 3)):
        as_first = of.margin(played(of, (more, less), line, place)[-1])
        as_second = -of.margin(played(of, (less, more), line, place)[-1])
        points += sum((margin > 0) + (margin == 0) / 2 for margin in (as_first, as_second))
    assert 0 < points < 24
    assert doubling(of, 50, 12, 3).value == pytest.approx(elo_from_score(points / 24))


def test_one_table_has_all_variants(capsys):
    assert main(["kalah(3,2)", "owari(3,2)", "--games", "12"]) == DONE
    text = capsys.readouterr().out
    for name in ("kalah(3,2)", "owari(3,2)"):
        rows = [line for line in text.splitlines() if line.startswith(f"{name} ")]
        assert [row.split()[1] for row in rows] == ["random", "250", "1,000", "4,000"]
    assert "kalah(3,2): exact value for the first mover: +4" in text
    assert "kalah(3,2): the best extra turn is not best in " in text
    assert "owari(3,2): the best extra turn" not in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["kala"], "kalah"),
        (["kalah(3,2)", "--games", "1"], "--games must be a whole number from 2"),
        (["kalah(3,2)", "--seconds", "0"], "--seconds must be a number above 0"),
        (["kalah(3,0)"], "is over before it begins"),
    ],
)
def test_a_mistake_is_one_line(words, message, capsys):
    assert main(words) == MISTAKE
    shown = capsys.readouterr().err
    assert message in shown
    assert shown.count("\n") == 1
