"""Is an extra turn always best? Counted as the reference did, and as brute force does."""

import pytest

from benchmarks.extra_turns import ExtraTurnCounts, count_extra_turns, main, reachable_positions
from games import game
from games.solving.solver import sign, solver_of
from tests.arena.running import experiment_file, only_run, run_experiment_file, small
from tests.games.naive import full_search
from tests.games.naive import sowing as naive


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def brute_force(rules: naive.Rules) -> ExtraTurnCounts:
    """The counts over all positions of a small board."""
    seen, level, found = {naive.start(rules)}, [naive.start(rules)], [0, 0, 0]
    while level:
        state = level.pop()
        if naive.over(state):
            continue
        values, mover = full_search.values(state), naive.mover(state)
        children = {move: naive.play(state, move) for move in values}
        again = {m for m, c in children.items() if naive.mover(c) == mover and not naive.over(c)}
        if again and set(values) - again:
            extra = max(values[move] for move in again)
            other = max(values[move] for move in set(values) - again)
            found = [n + more for n, more in zip(
                found, (1, extra < other, sign(extra) < sign(other)), strict=True)]  # fmt: skip
        level += [child for child in children.values() if child not in seen]
        seen |= set(children.values())
    return ExtraTurnCounts(*found)


@pytest.mark.parametrize("size", [(2, 2), (3, 1), pytest.param((3, 2), marks=pytest.mark.slow)])
def test_the_counts_are_those_of_brute_force(size):
    of = game(f"kalah({size[0]},{size[1]})")
    assert count_extra_turns(solver_of(of), reachable_positions(of)) == brute_force(
        naive.Rules(*size)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "worse", "result"), [("kalah(3,2)", 11.8, 6.3), ("kalah(3,3)", 14.0, 6.3)]
)
def test_the_shares_are_those_of_the_reference(name, worse, result):
    of = game(name)
    found = count_extra_turns(solver_of(of), reachable_positions(of))
    assert round(100 * found.worse / found.choices, 1) == worse
    assert round(100 * found.result_worse / found.choices, 1) == result


def test_a_run_stands_for_the_positions_near_the_end_of_its_games(tmp_path, capsys):
    path = experiment_file(tmp_path, small(4) + '[agents.greedy]\nkind = "greedy"\n')
    run_experiment_file(path, tmp_path / "results")
    main(["kalah(2,2)", str(only_run(tmp_path / "results"))])
    *_, board, run = capsys.readouterr().out.splitlines()
    assert board.startswith("| `kalah(2,2)` | ")
    assert int(run.split(" | ")[1]) > 0
