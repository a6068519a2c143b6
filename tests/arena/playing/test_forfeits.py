"""Disqualified bots forfeit unplayed: counted in schedule order, in batches of any size."""

import os
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from arena.config.experiment import load_experiment
from arena.planning.games import (
    LOSS,
    RESULT_COLUMNS,
    WIN,
    Batch,
    Games,
    Termination,
    decode_games,
    encode_games,
    pair_points,
)
from arena.planning.schedule import make_schedule
from arena.planning.tasks import Task
from arena.playing import forfeits
from arena.playing.forfeits import ForfeitRule, UselessBots
from arena.playing.referee_loop import EarlyFault, EarlyFaults, rules_violations
from arena.playing.worker import Worker
from tests.arena.running import experiment_file
from tests.commands import run as main

TEXT = """
game = "kalah(4,3)"
pairs = 20
openings = { random_plies = 3 }
move_seconds = 1
[agents.bot]
kind = "python"
file = "bot.py"
max_timeouts = 4
[agents.random]
kind = "random"
"""


@pytest.fixture
def schedule(tmp_path, monkeypatch):
    monkeypatch.setattr(forfeits, "MAX_RESTARTS", 3)
    (tmp_path / "bot.py").write_text("def choose(view, legal, rng):\n    return legal[0]\n")
    return make_schedule(load_experiment(experiment_file(tmp_path, TEXT)).plan)


def games_with(schedule, ends):
    """Games of which some are marked as ended by the bot's faults."""
    games = Worker(schedule).play(Task(0, len(ends) // 2, {}))
    for row, how in enumerate(ends):
        if how is not Termination.NORMAL:
            games.columns["termination"][row] = how
            games.columns["result"][row] = LOSS if row % 2 == 0 else WIN
            games.traces[row] = "words"
    return games


def apply_rule(schedule, games, size):
    """The games after the rule was applied to batches of `size` pairs."""
    rule, parts = ForfeitRule(schedule, {}), []
    total = len(games) // 2
    for at in range(0, total, size):
        end = min(at + size, total)
        part = slice_rows(games, 2 * at, 2 * end)
        batch = Batch(at, end, encode_games(part), pair_points(part), 0.0)
        parts.append(rule.apply(batch).blob)
    return decode_games(parts, schedule.pairs.columns(0, total))


def with_schedule(schedule, games):
    """The games with the columns of the schedule."""
    return decode_games([encode_games(games)], schedule.pairs.columns(0, len(games) // 2))


def slice_rows(games, start, stop):
    begin, end = int(games.plies[:start].sum()), int(games.plies[:stop].sum())
    columns = {name: games.columns[name][start:stop] for name in RESULT_COLUMNS}
    traces = {row - start: text for row, text in games.traces.items() if start <= row < stop}
    return Games(columns, games.moves[begin:end], traces)


N, C, T, I = (Termination.NORMAL, Termination.CRASHED, Termination.TIMEOUT, Termination.ILLEGAL)  # noqa: E741
CASES = {
    "three before the first finished one": ([C, C, C, N, N, N, N, N], 3, C),
    "six beside one that was finished": ([N, C, C, C, C, C, C, N], 7, C),
    "three in a row after a finished one": ([N, C, C, C, N, C, C, C], None, None),
    "not in a row": ([C, C, N, C, C, N, C, C], None, None),
    "what ends no process": ([N, I, I, I, I, I, I, I], None, None),
    "its first three": ([I, T, I, N, N, N, N, N], 3, I),
    "two, and one is finished": ([I, I, N, I, I, I, I, I], None, None),
    "four timeouts in all": ([T, N, T, N, T, N, T, N], 7, T),
}


@pytest.mark.parametrize("case", CASES)
def test_bot_with_too_many_faults_forfeits_the_rest_unplayed(schedule, case):
    ends, first, how = CASES[case]
    games = games_with(schedule, ends)
    whole = apply_rule(schedule, games, 4)
    for size in (1, 2, 3):
        other = apply_rule(schedule, games, size)
        for name in RESULT_COLUMNS:
            assert other.columns[name].tolist() == whole.columns[name].tolist()
        assert other.moves.tolist() == whole.moves.tolist()
        assert other.traces == whole.traces
    unplayed = np.flatnonzero(whole.plies == 0).tolist()
    assert unplayed == ([] if first is None else list(range(first, 8)))
    assert all(whole.termination[row] == how for row in unplayed)


def test_useless_bot_is_named_with_its_first_fault(schedule):
    stops = replace(
        schedule, plan=replace(schedule.plan, required_agents=frozenset(schedule.plan.names))
    )
    games = games_with(stops, [I, I, I, N])
    games.traces[0] = "answered 99 in 'S 1 1'"
    for size, over in ((4, False), (2, True)):
        rule = ForfeitRule(stops, {})
        rule.count_games(with_schedule(stops, slice_rows(games, 0, size)))
        if size == 2:
            rule.raise_if_useless()  # a third game may be finished
        with pytest.raises(UselessBots, match=r"bot .* game 0 it answered 99$"):
            rule.raise_if_useless(over)


def test_first_fault_of_each_bot_is_reported_once(schedule):
    messages = []
    rule = ForfeitRule(schedule, {}, messages.append)
    rule.count_games(with_schedule(schedule, games_with(schedule, [N, N])), 0)
    rule.count_games(with_schedule(schedule, games_with(schedule, [I, I])), 2)
    assert messages == ["bot: words (game 2)"]
    rule.show_first(EarlyFault(1, 9, "late"))
    assert messages[1:] == ["random: late (game 9)"]


def test_crashes_in_a_row_among_finished_games_do_not_disqualify(schedule):
    games = games_with(schedule, [N] * 10 + [C] * 10 + [N] * 10)
    whole = apply_rule(schedule, games, 4)
    assert not any("is not started again" in text for text in whole.traces.values())


def test_disqualification_is_reported_in_one_line(schedule):
    messages = []
    goes_on = replace(schedule, plan=replace(schedule.plan, required_agents=frozenset()))
    rule = ForfeitRule(goes_on, {}, messages.append)
    games = games_with(schedule, [C, C, C, N])
    batch = Batch(0, 2, encode_games(games), pair_points(games), 0.0)
    rule.apply(batch)
    first_fault, end = messages
    assert first_fault == "bot: words (game 0)"
    assert end.startswith("bot is excluded: it failed its first 3 games and finished none")


def test_rules_violations_are_found(schedule):
    games = Worker(schedule).play(Task(0, 4, {}))
    stored = [
        games.columns[name] for name in ("plies", "result", "margin", "termination", "game_id")
    ]
    plies, results, margins, ends, ids = (each.copy() for each in stored)

    def found(moves=games.moves):
        found = rules_violations(schedule.game, moves, plies, results, margins, ends, ids)
        return next(found, None)

    assert found() is None
    margins[3] += 2
    assert found()[0] == 3
    margins[3] -= 2
    results[2] = 2 - results[2] if results[2] != 1 else 0
    assert found()[0] == 2
    results[2] = stored[1][2]
    ends[5] = Termination.ILLEGAL
    assert found()[0] == 5
    ends[5] = Termination.NORMAL
    moves = games.moves.copy()
    moves[0] = 3 - moves[0] if np.any(moves[0] != 3 - moves[0]) else moves[0]
    assert found(moves)[0] == 0


CRASHES = """
import os
def choose(view, legal, rng):
    if rng.random() < 0.15:
        os._exit(0)
    return legal[0]
"""


def test_crashing_bots_have_the_same_games_for_any_workers(tmp_path):
    (tmp_path / "crashing.py").write_text(CRASHES)
    text = TEXT.replace("agents.bot", "agents.crashing").replace('"bot.py"', '"crashing.py"')
    text = text.replace("pairs = 20", "pairs = 40\nseed = 1")  # its first three games fail
    path = experiment_file(tmp_path, text + '[roster]\ndirectory = "."\n')
    tables = []
    for workers in (1, 2, 3):
        results = tmp_path / str(workers)
        main([str(path), "--results", str(results), "--quiet", "--workers", str(workers)])
        (table,) = results.rglob("games.parquet")
        tables.append(pq.read_table(table).to_pylist())
    assert tables[0] == tables[1] == tables[2]
    assert any(row["termination"] == "crashed" and row["plies"] == 0 for row in tables[0])


def test_first_fault_of_each_agent_arrives_from_a_fork():
    early = EarlyFaults()
    assert list(early.receive()) == []
    child = os.fork()
    if child == 0:
        early.send(EarlyFault(1, 4, "raised é" * 500))
        early.send(EarlyFault(1, 5, "again"))
        early.send(EarlyFault(0, 6, "x"))
        os._exit(0)
    os.waitpid(child, 0)
    first, second = early.receive()
    assert (first.place, first.game, second) == (1, 4, EarlyFault(0, 6, "x"))
    assert first.text.startswith("raised é")
    assert list(early.receive()) == []


def test_full_pipe_drops_reports():
    early = EarlyFaults()
    for place in range(10_000):
        early.send(EarlyFault(place, 0, "x" * 800))
    assert len(list(early.receive())) > 10
