"""Checks by perfect play, against brute force."""

import numpy as np
import pytest

from agents.core import AgentSpec
from arena.analysis.checks import always, winnable
from arena.analysis.checks.registry import FAILS, HOLDS, VACUOUS, verdicts
from arena.analysis.evidence import evidence_of
from arena.analysis.move_losses import judge
from arena.planning.games import Games, moves_of_game, rechunk_games
from arena.stats.clustered_means import cluster_mean_upper_bound, min_clusters
from games import game
from games.solving.solver import sign
from tests.arena.played import experiment, games_by_hand, play_lines
from tests.games.naive import full_search
from tests.games.naive import sowing as naive

NAME = "kalah(3,2)"
TWO = {"one": AgentSpec("random"), "two": AgentSpec("random")}
GOOD = {"one": AgentSpec("perfect"), "two": AgentSpec("random")}
OF = game(NAME)
LINES = [(a, b) for a in range(3) for b in range(3)
         if a in OF.legal(OF.start()) and b in OF.legal(OF.play(OF.start(), a))]  # fmt: skip
WINNABLE = {"that": "one beats two", "always": "winnable", "min_distinct": 1}


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def wild():
    """Games of two random agents."""
    return played(TWO)


def played(agents):
    asked = experiment(agents, of=NAME)
    games, openings = play_lines(asked, LINES)
    return asked.plan, games, openings


def verdict_on(run, check, **more):
    plan, games, _ = run
    asked = experiment(dict(plan.agents), check, of=plan.game_name)
    made = evidence_of(plan, lambda: [games], starts=lambda: LINES, **more)
    return verdicts(asked.checks, made)[0]


def brute_force(moves) -> list[tuple[int, int, int]]:
    """The mover of each ply, the best value and that of the move, for the mover."""
    state, found = naive.start(naive.Rules(3, 2)), []
    for move in moves:
        values = full_search.values(state)
        found.append((naive.mover(state), max(values.values()), values[move]))
        state = naive.play(state, move)
    return found


def thrown_away(run, agent) -> list[int]:
    """The games that the agent did not win, or lost, though its opening gave it more."""
    _, games, _ = run
    rows = []
    for row in range(len(games)):
        player = 0 if games.first[row] == agent else 1
        mover, best, _ = brute_force(moves_of_game(games, row))[2]
        worth = sign(best if mover == player else -best)
        result = sign(int(games.margin[row]) * (1 - 2 * player))
        if result < worth and result < 1:
            rows.append(row)
    return rows


def test_moves_judged_piece_by_piece_are_those_of_all_at_once(wild, monkeypatch):
    plan, games, _ = wild
    whole = evidence_of(plan, lambda: [games], starts=lambda: LINES).judge_moves(0)
    monkeypatch.setattr(judge, "rechunk_games", lambda parts: rechunk_games(parts, 6))
    found = evidence_of(plan, lambda: [games], starts=lambda: LINES).judge_moves(0)
    assert len(whole.row) > 20
    assert found.last == whole.last
    for one, other in zip(found.columns, whole.columns, strict=True):
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()


def test_games_that_were_winnable_and_not_won_are_those_of_brute_force(wild):
    found = verdict_on(wild, WINNABLE)
    rows = thrown_away(wild, 0)
    assert found.status == FAILS
    assert found.detail.startswith(f"{len(rows)} of {len(wild[1])} games thrown away; ")
    shortest = min(rows, key=lambda row: (wild[1].plies[row], row))
    assert f"the shortest is game {shortest}: one moves" in found.detail


def test_a_failure_names_the_move_that_cost_the_result_and_shows_it(wild):
    found = verdict_on(wild, WINNABLE)
    line = found.replay.split('"')[3].split()
    positions = OF.replay(" ".join(line))
    moves = [OF.parse_move(at, word) for at, word in zip(positions, line, strict=False)]
    _, best, left = brute_force(moves)[-1]
    assert sign(best) > sign(left)
    assert f"ply {len(line)}: {line[-1]} turns a " in found.detail
    assert f"{best:+d} into {left:+d}: it loses {best - left}" in found.detail


def test_an_agent_that_wins_all_that_can_be_won_holds():
    run = played(GOOD)
    found = verdict_on(run, WINNABLE)
    not_won = [row for row in range(len(run[1])) if not won(run, row)]
    assert not thrown_away(run, 0)
    assert found.status == HOLDS
    assert found.detail.startswith(f"{len(run[1]) - len(not_won)} of {len(run[1])} games won, all")
    assert "before one's first move (proved)" in found.detail
    assert verdict_on(run, WINNABLE | {"min_distinct": 99}).status == VACUOUS


def won(run, row) -> bool:
    sides = 1 if run[1].first[row] == 0 else -1
    return sides * run[1].margin[row] > 0


def test_what_cannot_be_decided_is_no_success(wild, monkeypatch):
    monkeypatch.setattr(always, "MAX_NODES", 0)
    monkeypatch.setattr(winnable, "SMALL_DATABASE_BEANS", 0)
    found = verdict_on(wild, WINNABLE)
    assert found.status == VACUOUS
    assert "cannot be decided" in found.detail


def test_a_board_that_is_hopeless_is_said_at_once():
    games = games_by_hand((0, 1, [(0, "WL")]))
    asked = experiment(TWO, WINNABLE, of="othello")
    made = evidence_of(asked.plan, lambda: [games], starts=lambda: [()])
    assert verdicts(asked.checks, made)[0].status == VACUOUS


def test_a_game_whose_moves_are_lost_still_has_a_verdict(wild):
    plan, games, openings = wild
    found = verdict_on((plan, Games(games.columns, None, {}), openings), WINNABLE)
    assert found.status == FAILS
    assert found.replay is None


def losses(run, agent) -> dict[int, list[tuple[int, int, int]]]:
    """By opening: value, value left and loss of every move that an agent chose."""
    _, games, _ = run
    found: dict[int, list[tuple[int, int, int]]] = {}
    for row in range(len(games)):
        player = 0 if games.first[row] == agent else 1
        plies = brute_force(moves_of_game(games, row))[2:]
        own = [(best, left, best - left) for mover, best, left in plies if mover == player]
        found.setdefault(int(games.opening[row]), []).extend(own)
    return found


def test_the_mean_loss_is_that_of_brute_force_with_a_bound_over_openings(wild):
    own = losses(wild, 0)
    lost = [move[2] for moves in own.values() for move in moves]
    clusters = [opening for opening, moves in own.items() for _ in moves]
    bound = cluster_mean_upper_bound(clusters, lost, 0.95)
    check = {"that": "one", "max_mean_loss": 0.0, "last_beans": 12, "min_distinct": 2}
    found = verdict_on(wild, check)
    assert found.status == FAILS
    text = f"one loses {np.mean(lost):.3f} a move, at most {bound.high:.3f}"
    assert text in found.detail
    assert f"{len(lost)} of {len(lost)} moves judged" in found.detail
    assert verdict_on(wild, check | {"max_mean_loss": bound.high + 0.001}).status == HOLDS
    assert verdict_on(wild, check | {"max_mean_loss": bound.high - 0.001}).status == FAILS
    assert verdict_on(wild, check | {"min_distinct": 99}).status == VACUOUS


@pytest.mark.parametrize("what", ["win", "draw"])
def test_results_thrown_away_are_those_of_brute_force(wild, what):
    moves = [move for own in losses(wild, 1).values() for move in own]
    wins = sum(best > 0 and sign(left) < 1 for best, left, _ in moves)
    draws = sum(best == 0 and left < 0 for best, left, _ in moves)
    check = {"that": "two", "never_throws_away": what, "last_beans": 12}
    found = verdict_on(wild, check)
    assert found.status == FAILS
    assert found.detail.startswith(f"{wins} wins and {draws if what == 'draw' else 0} draws ")
    assert "ply " in found.detail
    assert found.replay
    assert verdict_on(played(GOOD), check | {"that": "one"}).status == HOLDS
    assert verdict_on(wild, check | {"last_beans": 1}).status in (HOLDS, FAILS, VACUOUS)


@pytest.mark.parametrize("check", [{"max_mean_loss": 1.0}, {"never_throws_away": "win"}])
def test_without_moves_nothing_is_judged(wild, check):
    plan, games, openings = wild
    found = verdict_on((plan, Games(games.columns, None, {}), openings), {"that": "one"} | check)
    assert found.status == VACUOUS
    assert "keep_moves = true" in found.detail


@pytest.mark.parametrize(("openings", "shape"), [(10, 1.0), (30, 1.0), (10, 0.2), (50, 0.2)])
def test_the_bound_of_a_ratio_covers_it(openings, shape):
    random, covered = np.random.default_rng(1), 0
    for _ in range(400):
        sizes = random.integers(1, 20, openings)
        level = random.gamma(shape, 0.4 / shape, openings)
        sums = random.poisson(level * sizes).astype(float)
        bound = cluster_mean_upper_bound(
            np.repeat(np.arange(openings), sizes), np.repeat(sums / sizes, sizes), 0.95
        )
        covered += bound.high >= 0.4
    assert covered / 400 >= 0.93


def test_a_loss_that_few_openings_show_is_not_denied_by_perfect_ones():
    assert cluster_mean_upper_bound(range(10), [0] * 10, 0.95).high == pytest.approx(
        2 * (1 - 0.05**0.1)
    )
    least = min_clusters(0.1, 0.95)
    assert least == 59  # log(0.05) / log(1 - 0.1 / 2)
    assert cluster_mean_upper_bound(range(least), [0] * least, 0.95).high <= 0.1
    assert cluster_mean_upper_bound(range(least - 1), [0] * (least - 1), 0.95).high > 0.1
    assert min_clusters(0.0, 0.95) is None
    assert min_clusters(5.0, 0.95) == 2


def test_one_cluster_bounds_nothing():
    assert cluster_mean_upper_bound([], [], 0.95) is None
    assert cluster_mean_upper_bound([1, 1], [0, 2], 0.95) == (1.0, float("inf"), 1)
