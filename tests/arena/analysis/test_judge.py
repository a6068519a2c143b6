"""The judge: every row against brute force, any number of workers, interruption and resume."""

import json
import shutil
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from arena.analysis.move_losses.judge import JudgeSettings, TimeLimitReached, judge_run
from arena.analysis.move_losses.losses import agent_losses
from arena.analysis.move_losses.run_lines import load_run_lines
from arena.playing.options import Interrupts, PlayOptions
from games import game
from games.base import progress
from games.solving import SolverSettings, move_losses, solver_of
from games.solving.move_losses import GenericJudge, JudgeLimits, judge_of, losses_by_ply
from games.solving.solver import sign
from tests.arena.running import experiment_file, only_run, run_experiment_file, small
from tests.commands import judge as main
from tests.games.naive import full_search
from tests.games.naive import sowing as naive
from tests.games.solving.test_solver import naive_rules

AGENTS = '[agents.smart]\nkind = "smart"\n[agents.bad]\nkind = "random"\n'
BOARDS = (
    "kalah(3,2)",
    "kalah-kgp(3,2)",
    *(
        pytest.param(name, marks=pytest.mark.slow)
        for name in (
            "owari(3,2)",
            "kalah(4,2)",
            "kalah-paper(3,2)",
            "kalah-2022(3,2)",
            "kalah-manchester(3,2)",
        )
    ),
)


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def stored(directory, name, pairs=12, more=""):
    """A finished run of a small game."""
    path = directory / "demo.toml"
    path.write_text(
        f'game = "{name}"\npairs = {pairs}\nopenings = {{ random_plies = 1, repeat = true }}\n'
        f"{more}{AGENTS}"
    )
    run_experiment_file(path, directory / "results")
    return only_run(directory / "results")


@pytest.fixture(scope="module", params=BOARDS)
def run(request, tmp_path_factory):
    return stored(tmp_path_factory.mktemp("judged"), request.param)


@pytest.fixture(scope="module")
def small_run(tmp_path_factory):
    return stored(tmp_path_factory.mktemp("judged"), "kalah(4,3)", 30)


def judged(run, *words) -> pd.DataFrame:
    assert main([str(run), "--quiet", "--workers", "0", *words]) == 0
    return pd.read_parquet(run / "moves.parquet")


@cache
def brute_force(name: str, line: str) -> list[tuple[str, int, int, set[str]]]:
    """For every ply: the move, its value and the best value for the mover, all best moves."""
    of, state, plies = game(name), naive.start(naive_rules(name)), []
    position = of.start()
    for word in line.split():
        move, values = of.parse_move(position, word), full_search.values(state)
        best = max(values.values())
        texts = {of.move_text(position, each) for each, worth in values.items() if worth == best}
        plies.append((word, values[move], best, texts))
        state, position = naive.play(state, move), of.play(position, move)
    return plies


def test_every_move_is_judged_as_brute_force_does(run):
    moves, games = judged(run, "--last-beans", "99"), pd.read_parquet(run / "games.parquet")
    name = games.attrs["game"]
    assert len(moves) == games.plies.sum()
    assert moves.known.all()
    assert moves.exact.all()
    for number, rows in moves.groupby("game"):
        played_game = games.loc[number]
        truth = brute_force(name, played_game.moves)
        assert rows.ply.tolist() == list(range(1, len(rows) + 1))
        for row, (word, after, best, texts) in zip(rows.itertuples(), truth, strict=True):
            assert (row.move, row.value, row.after, row.loss) == (word, best, after, best - after)
            assert row.result_loss == sign(best) - sign(after)
            assert row.best in texts
            assert row.best == word or row.loss > 0
        assert rows.opening.sum() == len(played_game.opening_moves.split())
        assert set(rows.mover) == {played_game["first"], played_game["second"]}


def test_the_margin_at_the_end_is_the_value_at_the_beginning_and_what_was_lost(run):
    moves, games = judged(run), pd.read_parquet(run / "games.parquet")
    of = game(games.attrs["game"])
    solver = solver_of(of, SolverSettings(10, 0))  # one that judged nothing
    for number, rows in moves.groupby("game"):
        rows, played_game = rows[rows.known], games.loc[number]  # noqa: PLW2901  # those judged
        at = of.replay(" ".join(played_game.moves.split()[: rows.ply.iloc[0] - 1]))[-1]
        value = solver.margin(at).low * (1 - 2 * at.mover)
        signs = np.where(rows.mover == played_game["first"], -1, 1)
        assert value + (signs * rows.loss).sum() == played_game.margin


def test_what_is_unknown_is_the_beginning_of_a_game_and_counted_neither_way(small_run, capsys):
    moves = judged(small_run, "--last-beans", "9")
    assert moves[moves.left <= 9].known.all()
    assert not moves[moves.left > 9].known.any()
    assert moves[moves.left > 9][["value", "loss", "best"]].isna().all(axis=None)
    capsys.readouterr()
    assert main([str(small_run), "--last-beans", "9", "--json", "--workers", "0"]) == 0
    answer = json.loads(capsys.readouterr().out)
    kept = moves[~moves.opening & ~pd.read_parquet(small_run / "games.parquet").repeat[
        moves.game].to_numpy()]  # fmt: skip
    for agent in answer["agents"]:
        own = kept[kept.mover == agent["agent"]]
        decided = own[own.known]
        assert (agent["moves"], agent["judged"]) == (len(own), len(decided))
        assert agent["perfect"] == pytest.approx((decided.loss == 0).mean())
        assert agent["mean_loss"] == pytest.approx(decided.loss.mean())
        assert agent["thrown_away"] == (decided.result_loss > 0).sum()
        others = kept[(kept.mover != agent["agent"]) & kept.known]
        assert agent["rescued"] == (others.result_loss > 0).sum()
        worst = decided[decided.loss > 0].sort_values(["result_loss", "loss"], ascending=False)
        losses = [blunder["loss"] for blunder in agent["blunders"]]
        assert losses == worst.loss.head(5).tolist()
    assert any(agent["blunders"] for agent in answer["agents"])


def test_the_terminal_has_a_table_an_agent(small_run, capsys):
    assert main([str(small_run), "--last-beans", "9", "--workers", "0"]) == 0
    printed = capsys.readouterr().out
    assert "smart: " in printed
    assert "bad: " in printed
    assert "unknown" in printed
    assert 'pitflip game "kalah(4,3)" replay "' in printed


def bytes_of(run, *words) -> bytes:
    judged(run, *words)
    return (run / "moves.parquet").read_bytes()


@pytest.mark.slow
def test_the_table_is_the_same_for_any_number_of_workers(small_run, tmp_path):
    alone = bytes_of(shutil.copytree(small_run, tmp_path / "a"))
    three = ("--workers", "3")
    many = bytes_of(shutil.copytree(small_run, tmp_path / "b"), *three)
    assert alone == many


def test_a_judgement_that_was_stopped_goes_on_where_it_was(small_run, tmp_path):
    whole = bytes_of(shutil.copytree(small_run, tmp_path / "a"), "--last-beans", "12")
    directory = shutil.copytree(small_run, tmp_path / "b")
    run, settings = load_run_lines(directory), JudgeSettings(last=12)
    options = PlayOptions(0, Interrupts())

    def stop(now):
        if now.done:
            raise TimeLimitReached

    assert not judge_until(run, settings, options, stop).complete
    seen = []
    judge_run(run, settings, options, lambda now: seen.append(now.done))
    assert seen[0] > 0
    assert bytes_of(directory, "--last-beans", "12") == whole


def judge_until(run, settings, options, stop):
    return judge_run(run, settings, options, stop)


def test_with_seconds_it_goes_on_to_the_start(small_run, tmp_path):
    directory = shutil.copytree(small_run, tmp_path / "a")
    moves = judged(directory, "--seconds", "600")
    assert moves.known.all()
    assert (moves.drop(columns=["best"]) == judged(small_run, "--last-beans", "99").drop(
        columns=["best"])).all(axis=None)  # fmt: skip


def test_a_question_that_takes_too_many_positions_stays_open(small_run, tmp_path):
    run = load_run_lines(shutil.copytree(small_run, tmp_path / "a"))
    few = JudgeSettings(last=99, nodes=40, database_beans=2)
    judgement = judge_run(run, few, PlayOptions(0, Interrupts()))
    exact = judge_run(run, replace(few, nodes=None), PlayOptions(0, Interrupts()))
    assert sum(agent.total("judged") for agent in agent_losses(judgement)) < sum(
        agent.total("judged") for agent in agent_losses(exact)
    )
    for some, every in zip(judgement.plies, exact.plies, strict=True):
        tried = some["low"] > -1000
        assert (some["low"][tried] <= every["low"][tried]).all()
        assert (some["high"][tried] >= every["high"][tried]).all()


@pytest.mark.parametrize("last", [8, 14, 99])
def test_the_compiled_walk_finds_what_questions_find(small_run, last):
    run, of = load_run_lines(small_run), game("kalah(4,3)")
    fast, slow = (make(solver_of(of, SolverSettings(12, 6))) for make in (judge_of, GenericJudge))
    for line in run.lines[:10]:
        limits = JudgeLimits(last)
        assert (fast.judge_game(line, limits, None) == slow.judge_game(line, limits, None)).all()
        half = " ".join(line.split()[:9])  # a game that was not finished
        assert (fast.judge_game(half, limits, None) == slow.judge_game(half, limits, None)).all()


@pytest.mark.parametrize(
    "name", ["othello(4)", pytest.param("othello-adjacent(4)", marks=pytest.mark.slow)]
)
def test_othello_is_judged_too_and_passes_are_nobodys(tmp_path, name):
    run = stored(tmp_path, name, 10)
    moves = judged(run, "--last-squares", "12")
    assert moves.known.all()
    assert (moves.loss >= 0).all()
    assert (moves[moves.choices == 1].loss == 0).all()


def test_games_that_were_forfeited_are_judged_to_where_they_ended(tmp_path):
    path = experiment_file(tmp_path, small(4, plies=2), "raising")
    run_experiment_file(path, tmp_path / "results")
    run = only_run(tmp_path / "results")
    games = pd.read_parquet(run / "games.parquet")
    broken = games[games.termination == "raised"]
    assert len(broken)
    moves = judged(run, "--last-beans", "99")
    assert moves.known.all()
    of = game("kalah(4,3)")
    solver = solver_of(of)
    for number in broken.game:
        rows, line = moves[moves.game == number], games.moves[number]
        last = of.replay(line)[-1]
        left = solver.margin(last).low * (1 - 2 * last.mover)
        first = rows.mover.iloc[-1] == games["first"][number]
        assert rows.after.iloc[-1] == (left if first else -left)


def test_a_perfect_agent_loses_nothing(tmp_path):
    run = stored(tmp_path, "kalah(3,3)", 5, '[agents.perfect]\nkind = "perfect"\n')
    moves = judged(run, "--last-beans", "99")
    own = moves[(moves.mover == "perfect") & ~moves.opening]
    assert len(own) > 50
    assert (own.loss == 0).all()


CONNECT4 = "experiments/games/connect4.py"


@pytest.mark.slow
def test_a_users_game_is_judged_as_far_as_questions_reach(tmp_path, capsys):
    shutil.copy(CONNECT4, tmp_path / "connect4.py")
    path = tmp_path / "demo.toml"
    path.write_text(
        'game = "connect4.py:connect4(4,4)"\npairs = 3\nopenings = { random_plies = 6 }\n'
        '[agents.one]\nkind = "random"\n[agents.two]\nkind = "random"\n'
        '[[checks]]\nthat = "one"\nnever_throws_away = "win"\n'
    )
    run_experiment_file(path, tmp_path / "results")
    assert "moves judged)" in capsys.readouterr().out
    moves = judged(only_run(tmp_path / "results"))
    assert moves.known.any()
    of = game(f"{path.parent}/connect4.py:connect4(4,4)")
    solver = solver_of(of)
    for number, rows in moves[moves.known].groupby("game"):
        line = moves[moves.game == number].move.tolist()
        at = of.replay(" ".join(line[: rows.ply.iloc[0] - 1]))[-1]
        assert solver.margin(at).low == rows.value.iloc[0]


def test_what_cannot_be_judged_is_said(tmp_path, small_run, capsys):
    assert main([str(tmp_path)]) == 2
    assert "run.json" in capsys.readouterr().err
    copy = shutil.copytree(small_run, tmp_path / "a")
    frame = pd.read_parquet(copy / "games.parquet")
    frame.drop(columns=["moves"]).to_parquet(copy / "games.parquet")
    assert main([str(copy)]) == 2
    assert "keep_moves = true" in capsys.readouterr().err
    frame["moves"] = "9 9 9"
    frame.to_parquet(copy / "games.parquet")
    assert main([str(copy)]) == 2
    assert 'ply 1: "9" is unreadable' in capsys.readouterr().err
    assert main([str(small_run), "--last-beans", "x"]) == 2
    assert "must be a whole number from 0" in capsys.readouterr().err


@pytest.mark.slow
def test_on_a_cluster_the_same_is_found_out(tmp_path, small_run):
    here, there = (shutil.copytree(small_run, tmp_path / name) for name in ("here", "there"))
    expected = judged(here, "--last-beans", "12")
    assert judged(there, "--last-beans", "12", "--cluster", "local:2").equals(expected)


def test_a_majority_is_judged_by_result_where_margins_are_out_of_reach(monkeypatch):
    of, random = game("kalah-kgp(3,2)"), np.random.default_rng(3)
    solver = solver_of(of, SolverSettings(14))
    judge_both = GenericJudge(solver)
    differ = 0
    for _ in range(20):
        position, words = of.start(), []
        while not of.over(position):
            move = int(random.choice(of.legal(position)))
            words.append(of.move_text(position, move))
            position = of.play(position, move)
        line = " ".join(words)
        exact = judge_both.judge_game(line, JudgeLimits(), None)
        with monkeypatch.context() as patch:
            patch.setattr(move_losses, "MARGINS", 6)
            patch.setattr(move_losses, "WHOLE_STATES", 0)
            results = judge_both.judge_game(line, JudgeLimits(12), None)
        truth, found = losses_by_ply(exact), losses_by_ply(results)
        assert found.result_known.all()
        assert found.result.tolist() == truth.result.tolist()
        assert np.sign(results["low"]).tolist() == np.sign(exact["low"]).tolist()
        assert (results["low"] <= exact["low"]).all()
        assert (results["high"] >= exact["high"]).all()
        assert found.margin[found.known].tolist() == truth.margin[found.known].tolist()
        differ += int((~found.known).sum())
    assert differ > 20


def test_a_judge_who_could_not_finish_is_refused_at_once(tmp_path, capsys):
    directory = stored(tmp_path, "kalah(6,6)", pairs=1)
    assert main([str(directory), "--last-beans", "72"]) == 2
    said = capsys.readouterr().err
    assert "72 beans in play cannot be solved" in said
    assert "--seconds" in said


def test_a_judge_says_how_far_it_is(small_run, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(progress, "FIRST_SECONDS", 0.0)
    directory = shutil.copytree(small_run, tmp_path / "a")
    assert main([str(directory), "--last-beans", "10", "--workers", "1"]) == 0
    assert "games judged" in capsys.readouterr().err
