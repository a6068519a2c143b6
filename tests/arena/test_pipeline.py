"""Whole runs: the same tables for any workers, interruptions and game loop; faults of bots."""

import json
import random
from contextlib import closing
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from agents.registry import kinds_for
from agents.sandbox.messages import BotLimits
from agents.sandbox.sandbox import Sandbox
from arena.config.experiment import load_experiment
from arena.planning import tasks
from arena.planning.games import RESULT_COLUMNS, TIMING_COLUMNS
from arena.planning.schedule import make_schedule
from arena.planning.tasks import Task
from arena.playing import worker
from arena.playing.options import Interrupts
from arena.playing.worker import Worker
from games import game
from games.base.errors import Unfinished, UserError
from tests.arena.running import (
    BOTS,
    RANDOM,
    experiment_file,
    only_run,
    run_experiment_file,
    run_in_process,
    small,
    tables,
)
from tests.games.table import one_of_each

NOISY = """
[agents.noisy]
kind = "alphabeta"
depth = 2
epsilon = 0.2
[agents.ties]
kind = "greedy"
random_ties = true
"""
SPRT = "stop = { sprt = { elo0 = 0, elo1 = 60 } }"
OWN = """
[agents.own]
kind = "alphabeta"
depth = 2
evaluate = "own.py"
"""
EXPERIMENTS = {
    "compiled": (small(40) + NOISY, ()),
    "without moves": (small(40, "keep_moves = false") + NOISY, ()),
    "one opening": (
        'game = "kalah(4,3)"\npairs = 40\n'
        f"openings = {{ random_plies = 0, repeat = true }}\n{RANDOM}" + NOISY,
        (),
    ),
    "repeats": (
        'game = "kalah(4,3)"\npairs = 16\nopenings = { enumerate = 1, repeat = true }\n'
        f'{RANDOM}[agents.greedy]\nkind = "greedy"\n',
        ("fixed", "good"),
    ),
    "python": (small(8), ("good", "raising", "illegal")),
    "own evaluation": (small(30) + OWN, ()),
    "sprt": (small(400, SPRT, plies=8) + '[agents.greedy]\nkind = "greedy"\n', ()),
}
EVALUATION = """
from games.sowing.features import mobility, pot
def evaluate(rules, position):
    return mobility(rules, position) // (pot(rules, position) - 9)
"""


def written(directory, name):
    text, bots = EXPERIMENTS[name]
    (directory / "own.py").write_text(EVALUATION)
    return experiment_file(directory, text, *bots)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """By its name, the tables of an experiment that was played here, in one go."""

    @cache
    def tables_of(name):
        directory = tmp_path_factory.mktemp("undisturbed")
        run_experiment_file(written(directory, name), directory / "results")
        return tables(directory / "results")

    return tables_of


# The others are played by the same two loops, in batches cut in the same way.
BY_DEFAULT = {"repeats", "python", "sprt"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in BY_DEFAULT else pytest.mark.slow)
        for name in EXPERIMENTS
    ],
)
def test_tables_are_the_same_for_any_number_of_workers(tmp_path, name, undisturbed, monkeypatch):
    expected = undisturbed(name)
    monkeypatch.setattr(tasks, "MAX_PAIRS", 7)  # so that small runs have many batches
    run_experiment_file(written(tmp_path, name), tmp_path / "played", 2)
    assert tables(tmp_path / "played") == expected


def test_tables_are_the_same_in_processes_of_their_own(tmp_path, undisturbed):
    path = written(tmp_path, "compiled")
    assert run_in_process(path, "--results", tmp_path, "--workers", "2").returncode == 0
    assert tables(tmp_path) == undisturbed("compiled")


class Impatient(Interrupts):
    """Asks to stop at some moment between batches."""

    def __init__(self, looks):
        super().__init__()
        self.looks = looks

    def check(self):
        self.looks -= 1
        if self.looks < 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize(
    "name",
    [
        "compiled",
        *(pytest.param(name, marks=pytest.mark.slow) for name in EXPERIMENTS if name != "compiled"),
    ],
)
def test_interrupted_run_ends_with_the_same_tables(tmp_path, name, undisturbed, monkeypatch):
    expected = undisturbed(name)
    monkeypatch.setattr(tasks, "MAX_PAIRS", 5)
    path, chance, interruptions = written(tmp_path, name), random.Random(name), 0
    while True:
        try:
            looks = chance.randint(4, 12) if interruptions else 2  # the shortest run looks thrice
            run_experiment_file(path, tmp_path / "parts", interrupts=Impatient(looks))
            break
        except KeyboardInterrupt:
            interruptions += 1
    assert interruptions >= 1
    assert tables(tmp_path / "parts") == expected


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_fast_loop_and_the_slow_one_give_the_same_records(tmp_path, name):
    ready = make_schedule(load_experiment(written(tmp_path, name)).plan)
    task = Task(0, min(ready.pairs.total, 24), {})
    with_moves = make_schedule(replace(ready.plan, keep_moves=True))
    with closing(Sandbox()) as sandbox:
        same_records(*(kind(with_moves, sandbox).play(task) for kind in (Worker, Refereed)))


class Refereed(Worker):
    """Plays everything move by move."""

    def kernel_agents(self, block):
        return None


def same_records(fast, slow):
    for column in RESULT_COLUMNS:
        if column not in TIMING_COLUMNS:
            assert np.array_equal(fast.columns[column], slow.columns[column]), column
    assert np.array_equal(fast.moves, slow.moves)
    assert fast.traces == slow.traces


KINDS = {
    "random": "",
    "first": "epsilon = 0.1",
    "greedy": "random_ties = true",
    "minimax": "depth = 2\nepsilon = 0.1",
    "alphabeta": "depth = 3\nrandom_ties = true",
    "smart": "nodes = 60",
}
GAMES = one_of_each("family_name", "(6)", "(9,2)", "(10)")


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=pytest.mark.slow) for each in GAMES[1:]] + GAMES[:1]
)
def test_both_loops_agree_on_every_game_and_kind(tmp_path, name):
    text = f'game = "{name}"\npairs = 3\nopenings = {{ random_plies = 4 }}\n'
    kinds = {kind: more for kind, more in KINDS.items() if kind in kinds_for(game(name))}
    text += "".join(f'[agents.{kind}]\nkind = "{kind}"\n{more}\n' for kind, more in kinds.items())
    ready = make_schedule(load_experiment(experiment_file(tmp_path, text)).plan)
    task = Task(0, ready.pairs.total, {})
    same_records(*(kind(ready).play(task) for kind in (Worker, Refereed)))


# ------------------------------------------------------------- bots and their faults


def test_a_bot_that_fails_forfeits_and_its_words_are_kept(tmp_path, capsys):
    path = experiment_file(tmp_path, small(20), "raising", "illegal")
    run_experiment_file(path, tmp_path / "results")
    directory = only_run(tmp_path / "results")
    games = pd.read_parquet(directory / "games.parquet")
    assert set(games.termination) == {"normal", "raised", "illegal"}
    lost = games[games.termination == "raised"]
    assert all((lost["first"] == "raising") == (lost.result == 0.0))
    said = json.loads((directory / "run.json").read_text())
    assert any("no idea" in trace for trace in said["forfeits"])
    assert "raising forfeits" in (directory / "run.log").read_text()


def test_bot_that_raises_keyboard_interrupt_forfeits(tmp_path):
    path = experiment_file(tmp_path, small(10), "interrupting")
    run_experiment_file(path, tmp_path / "results")
    directory = only_run(tmp_path / "results")
    games = pd.read_parquet(directory / "games.parquet")
    assert set(games.termination) == {"normal", "raised"}
    said = json.loads((directory / "run.json").read_text())
    assert all("KeyboardInterrupt" in trace for trace in said["forfeits"])


IN_ROSTER = 'roster = { directory = "." }'
# A roster takes a file without this function for a program.
CHOOSE = "def choose(view, legal, rng):\n    return legal[0]\n"
NEVER = "def choose(view, legal, rng):\n    x = 0\n    return 1 / x\n"


def roster_file(directory, head, **sources):
    """An experiment with a roster of these bots."""
    (directory / "bots").mkdir()
    for name, source in sources.items():
        (directory / "bots" / f"{name}.py").write_text(source)
    return experiment_file(directory, f'{head}[roster]\ndirectory = "bots"\n')


def test_a_bot_that_fails_every_game_stops_the_run_and_is_named_with_its_lines(tmp_path):
    path = experiment_file(tmp_path, small(10), "good")
    (tmp_path / "good.py").write_text(NEVER)
    for _ in range(2):  # and again from what is stored
        with pytest.raises(UserError, match=r"(?s)demo.toml:\d+: \[agents.good\].*by zero, line 3"):
            run_experiment_file(path, tmp_path / "results")


def test_forfeits_alone_give_no_elo(tmp_path):
    path = experiment_file(tmp_path, small(10, IN_ROSTER), "good")
    (tmp_path / "good.py").write_text(NEVER)
    run_experiment_file(path, tmp_path / "results")
    rates = pd.read_parquet(only_run(tmp_path / "results") / "win_rates.parquet")
    assert rates[["elo", "elo_low", "elo_high"]].isna().all(axis=None)
    assert set(rates.text) == {"only forfeits"}


def test_with_a_roster_a_failing_agent_outside_it_still_stops_the_run(tmp_path):
    path = roster_file(tmp_path, small(10), one=BOTS["fixed"], bad=NEVER)
    path.write_text(path.read_text() + '[agents.good]\nkind = "python"\nfile = "good.py"\n')
    (tmp_path / "good.py").write_text(NEVER)
    with pytest.raises(UserError, match=r"\[agents.good\]") as stopped:
        run_experiment_file(path, tmp_path / "results")
    assert "bad" not in str(stopped.value)
    (tmp_path / "good.py").write_text("import nothing_of_this_name\n")
    with pytest.raises(UserError, match=r"\[agents.good\] does not load"):
        run_experiment_file(path, tmp_path / "results")


def test_in_a_roster_it_is_excluded_alike_for_any_number_of_workers(tmp_path, capsys):
    path = roster_file(tmp_path, small(6), bad=NEVER, one=BOTS["fixed"], two=BOTS["good"])
    for cores in (None, 2):
        run_experiment_file(path, tmp_path / str(cores), cores, quiet=False)
        said = capsys.readouterr().err
        assert said.count("bad: raised ZeroDivisionError: division by zero, line 3 of bad.py") == 1
        assert said.count("bad is excluded") == 1
    assert tables(tmp_path / "None") == tables(tmp_path / "2")
    games = pd.read_parquet(only_run(tmp_path / "2") / "games.parquet")
    bad = games[(games["first"] == "bad") | (games["second"] == "bad")]
    assert (bad.plies > 0).sum() == 3


def test_a_hanging_bot_is_cut_off_alike_for_any_number_of_workers(tmp_path):
    head = small(4, "move_seconds = 0.2")
    path = experiment_file(tmp_path, head, "hanging", "hanging_at_start")
    path.write_text(path.read_text() + "start_seconds = 0.5\n")
    for cores in (None, 2):
        run_experiment_file(path, tmp_path / str(cores), cores)
    assert tables(tmp_path / "None") == tables(tmp_path / "2")
    games = pd.read_parquet(only_run(tmp_path / "2") / "games.parquet")
    cut_off = games[games.termination == "timeout"]
    losers = np.where(cut_off.result == 0.0, cut_off["first"], cut_off["second"])
    assert set(losers) == {"hanging", "hanging_at_start"}
    # Cut off before the opening was placed, or in the middle of the game.
    assert (cut_off[losers == "hanging_at_start"].plies == 0).all()
    assert (cut_off[losers == "hanging"].plies > 4).all()


THREADS = """
import threading, time
def choose(view, legal, rng):
    time.sleep(0.2)  # it is seen at rest, and then has too many threads
    threading.stack_size(1 << 16)
    for _ in range({many}):
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    time.sleep(1000)
"""


def test_a_bot_that_was_seen_at_rest_is_looked_at_again(tmp_path):
    path = experiment_file(tmp_path, small(1, f"move_seconds = 20\n{IN_ROSTER}"), "good")
    (tmp_path / "good.py").write_text(THREADS.format(many=BotLimits(1).processes + 2))
    run_experiment_file(path, tmp_path / "results")
    games = pd.read_parquet(only_run(tmp_path / "results") / "games.parquet")
    assert set(games.termination) == {"flooded"}


HANGING_EVALUATION = """
from games.sowing.features import pot
def evaluate(rules, position):
    found = pot(rules, position)
    while found > 3:
        found += 1
    return found
"""


def test_an_evaluation_that_hangs_in_compiled_code_is_cut_off(tmp_path):
    path = roster_file(tmp_path, small(1, "move_seconds = 0.3"), one=BOTS["fixed"])
    own = tmp_path / "bots" / "own"
    own.mkdir()
    (own / "own.py").write_text(HANGING_EVALUATION)
    (own / "bot.toml").write_text('kind = "alphabeta"\ndepth = 2\nevaluate = "own.py"\n')
    run_experiment_file(path, tmp_path / "results")
    games = pd.read_parquet(only_run(tmp_path / "results") / "games.parquet")
    assert (games.termination == "timeout").any()
    lost = games[games.termination == "timeout"]
    assert all((lost["first"] == "own") == (lost.result == 0.0))


def test_bot_that_hangs_on_import_stops_the_run(tmp_path):
    path = experiment_file(tmp_path, small(3), "hanging_import")
    path.write_text(path.read_text() + "start_seconds = 0.3\n")
    with pytest.raises(UserError, match=r"hanging_import.py.* was not ready within 0.3 s"):
        run_experiment_file(path, tmp_path / "results")


def test_unloadable_bots_are_named_before_the_note_on_a_new_run(tmp_path, capsys):
    path = experiment_file(tmp_path, small(3), "good", "raising")
    for name in ("good", "raising"):
        (tmp_path / f"{name}.py").write_text("import nothing_of_the_kind\n")
    earlier = tmp_path / "results" / path.stem / "before"
    earlier.mkdir(parents=True)
    (earlier / "run.json").write_text('{"plan": {"pairs": 2}}')
    with pytest.raises(UserError, match=r"(?s)good.py.*raising.py") as refused:
        run_experiment_file(path, tmp_path / "results", quiet=False)
    assert len(str(refused.value).splitlines()) >= 2
    assert "a new run" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (f"import os\nos._exit(7)\n{CHOOSE}", "ended with exit status 7"),
        pytest.param(
            f"import nothing_of_the_kind\n{CHOOSE}", "No module named", marks=pytest.mark.slow
        ),
    ],
)
def test_a_bot_that_does_not_load_forfeits_unplayed_and_the_others_play(tmp_path, source, told):
    path = roster_file(tmp_path, small(3), one=BOTS["fixed"], good=source)
    run_experiment_file(path, tmp_path / "results")
    directory = only_run(tmp_path / "results")
    games = pd.read_parquet(directory / "games.parquet")
    own = games[(games["first"] == "good") | (games["second"] == "good")]
    assert set(own.termination) == {"unloadable"}
    assert (own.plies == 0).all()
    assert set(games.drop(own.index).termination) == {"normal"}
    assert told in json.loads((directory / "run.json").read_text())["unloadable"]["good"]
    assert told in (directory / "bots" / "1-good.log").read_text()


def test_repeated_internal_fault_stops_the_run(tmp_path, monkeypatch):
    def broken(self, block, verdicts):
        raise RuntimeError("our bug")

    path = experiment_file(tmp_path, small(4), "good")
    monkeypatch.setattr("arena.playing.referee_loop.RefereeLoop.play", broken)
    with pytest.raises(Unfinished, match=r"pair 0 \(random against good\): .*our bug") as told:
        run_experiment_file(path, tmp_path / "results")
    assert "--pair 0" in str(told.value)
    log = (only_run(tmp_path / "results") / "run.log").read_text()
    assert "Traceback" in log


def test_single_internal_fault_changes_no_table(tmp_path, monkeypatch):
    plain, flag = worker.Worker.play, tmp_path / "failed"

    def once(self, task):
        # Not by where it begins: how many pairings a task has depends on the machine.
        if task.stop > 3 and not flag.exists():
            flag.touch()
            raise RuntimeError("our bug")
        return plain(self, task)

    path = experiment_file(tmp_path, small(5), "good")
    run_experiment_file(path, tmp_path / "undisturbed")
    monkeypatch.setattr(worker.Worker, "play", once)
    run_experiment_file(path, tmp_path / "disturbed")
    assert flag.exists()
    assert tables(tmp_path / "disturbed") == tables(tmp_path / "undisturbed")
