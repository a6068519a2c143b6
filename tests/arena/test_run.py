"""The command `pitflip run`: arguments, exit status, signals and failures."""

import contextlib
import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as Xml

import pandas as pd
import psutil
import pytest

from arena.commands.registry import run_verb
from arena.pipeline import run as run_module
from arena.storage import journal as locked_directory
from tests.arena.running import (
    ROOT,
    children_of,
    database,
    experiment_file,
    is_alive,
    kill_group,
    only_run,
    run_experiment_file,
    run_in_fork,
    run_in_process,
    small,
    tables,
)
from tests.arena.test_kill import HELD, LONG, PATIENCE_SECONDS, stored_batches, wait_until
from tests.commands import run as main

GREEDY = '[agents.greedy]\nkind = "greedy"\n'
CHECK = '[[checks]]\nthat = "greedy beats random"\nalways = true\n'
QUICK = small(20) + GREEDY


@pytest.fixture
def quick(tmp_path):
    """A small experiment."""
    return experiment_file(tmp_path, QUICK)


@pytest.fixture
def results(tmp_path):
    """Where results go."""
    return tmp_path / "results"


@pytest.fixture(scope="module")
def first_run(tmp_path_factory):
    """What the small experiment answered when it was run, and its results: to be looked at."""
    directory = tmp_path_factory.mktemp("first")
    results = directory / "results"
    return run_in_process(experiment_file(directory, QUICK), "--results", results), results


@pytest.fixture
def finished(first_run, results):
    """The same, the results in a copy: to be changed."""
    answer, of_first = first_run
    shutil.copytree(of_first, results)
    return answer


def told(process):
    """Standard error of a command that ends without a traceback."""
    assert "Traceback" not in process.stderr
    assert "Exception" not in process.stderr
    return process.stderr


# ------------------------------------------------------------------------- words


LOADED = """
import sys
from tests.commands import play, run
large = {"numba", "pandas", "pyarrow", "optuna", "rich"}
for main, word in (
    (run, "--help"), (run, "missing.toml"), (run, "broken.toml"),
    (play, "--help"),
):
    status = main([word])
    print("loaded:", word, status, large & {*sys.modules}, file=sys.stderr)
"""


def test_help_and_mistakes_load_nothing_large(tmp_path):
    (tmp_path / "broken.toml").write_text('gmae = "kalah"\n')
    ended = subprocess.run(
        [sys.executable, "-c", LOADED],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    said = [line for line in ended.stderr.splitlines() if line.startswith("loaded: ")]
    assert said == [
        f"loaded: {word} set()"
        for word in ("--help 0", "missing.toml 2", "broken.toml 2", "--help 0")
    ]


def test_a_mistake_in_the_file_is_told_with_its_place(tmp_path):
    path = experiment_file(tmp_path, QUICK.replace("pairs", "paris"))
    ended = run_in_process(path)
    assert ended.returncode == 2
    assert told(ended).startswith(f"{path}:2: ")
    assert 'did you mean "pairs"' in ended.stderr


def test_overrides_and_short_options_change_the_experiment(quick, results):
    words = ("--set", "agents.greedy.random_ties=true", "--seed", 7, "--pairs", 10)
    assert run_in_process(quick, "--results", results, *words).returncode == 0
    said = json.loads((only_run(results) / "run.json").read_text())
    assert said["plan"]["seed"] == 7
    assert said["plan"]["pairs"] == 10
    assert said["plan"]["agents"]["greedy"]["random_ties"] is True


@pytest.mark.parametrize("number", ["x", "257", "-1", "²"])
def test_workers_are_a_number(quick, number):
    ended = run_in_process(quick, f"--workers={number}")
    assert ended.returncode == 2
    assert "from 0 to 256" in told(ended)


# ------------------------------------------------------------------ what it prints


def test_quiet_prints_the_tables_only(quick, results):
    ended = run_in_process(quick, "--results", results, "--quiet")
    assert ended.returncode == 0
    assert ended.stderr == ""
    assert "greedy against random" in ended.stdout


def test_json_is_one_object_even_beside_a_talking_bot(tmp_path, results):
    path = experiment_file(tmp_path, small(5), "talking")
    ended = run_in_process(path, "--results", results, "--json")
    assert json.loads(ended.stdout)["games"] == 10


def test_checks_decide_the_status_and_go_to_junit(tmp_path, results):
    path, report = experiment_file(tmp_path, QUICK + CHECK), tmp_path / "checks.xml"
    ended = run_in_process(path, "--results", results, "--junit", report)
    assert ended.returncode == 1
    assert 'pitflip game "kalah(4,3)" replay' in ended.stdout
    suite = Xml.parse(report).getroot()[0]
    assert suite.attrib["failures"] == "1"


def test_a_finished_run_prints_its_tables_again_and_changes_nothing(quick, results, finished):
    before, said = tables(results), (only_run(results) / "run.json").read_text()
    again = run_in_process(quick, "--results", results)
    assert again.stdout == finished.stdout
    assert "40 of 40 games were played before" in again.stderr
    assert tables(results) == before
    assert (only_run(results) / "run.json").read_text() == said


def test_fresh_sets_the_old_run_aside(quick, results, finished):
    before = tables(results)
    directory = only_run(results)
    assert run_in_process(quick, "--results", results, "--fresh").returncode == 0
    aside = directory.with_name(directory.name + ".old-1")
    assert {name: (aside / name).read_bytes() for name in before} == before
    assert {name: (directory / name).read_bytes() for name in before} == before


def test_a_changed_experiment_is_a_new_run_and_told_why(quick, results, finished):
    ended = run_in_process(
        quick, "--results", results, "--seed", 6, "--set", "agents.greedy.epsilon=0.5"
    )
    assert (
        "is kept: agents.greedy.epsilon was the default, is 0.5; seed was 5, is 6" in ended.stderr
    )
    assert len(list(results.glob("demo/*"))) == 2


def test_run_json_tells_what_the_run_rests_on(first_run):
    _, results = first_run
    said = json.loads((only_run(results) / "run.json").read_text())
    assert said["digest"] == only_run(results).name
    assert said["plan"]["seed"] == 5
    assert said["games"] == 40
    assert said["can_be_repeated"]["answer"] == "yes"
    assert said["begun"] <= said["finished"]
    assert set(said["versions"]) >= {"python", "numpy", "numba", "pandas", "pyarrow"}
    assert said["machine"]["cores"] >= 1


def test_a_run_by_the_clock_says_so(tmp_path, results):
    text = small(3) + '[agents.quick]\nkind = "alphabeta"\nseconds = 0.001\n'
    assert run_in_process(experiment_file(tmp_path, text), "--results", results).returncode == 0
    said = json.loads((only_run(results) / "run.json").read_text())
    assert said["can_be_repeated"]["answer"] == "no"


def test_plain_lines_tell_of_progress_where_there_is_no_terminal(first_run):
    answer, results = first_run
    lines = answer.stderr.splitlines()
    assert lines[-4].startswith("40 of 40 games, ")
    assert "greedy against random: " in lines[-4]  # the leader first, as in the result
    assert lines[-3] == f"tables: {only_run(results)}"
    assert lines[-2] == f"page: {only_run(results) / 'report.html'}"
    assert lines[-1].startswith("next, a bot of your own: ")


def test_printed_next_command_works(tmp_path, results, capsys):
    text = small(4) + '[agents.greedy]\nkind = "greedy"\n'  # who play the first games
    file = experiment_file(tmp_path, text, "fixed")
    answer = run_in_process(file, "--results", results)
    command = answer.stderr.splitlines()[-1].partition("a move: ")[2]
    words = shlex.split(command)
    place = words[words.index("game") + 1]
    assert run_verb("game", [place, "explain"]) == 0
    assert words[-1] == "explain"
    shown = capsys.readouterr().out
    assert "to move: fixed plays " in shown
    row, ply = map(int, place.rpartition("#")[2].split("@"))
    played = pd.read_parquet(only_run(results) / "games.parquet").iloc[row]
    assert "fixed" in (played["first"], played["second"])
    assert played["termination"] == "normal"
    assert ply == len(played["opening_moves"].split())


def test_a_terminal_shows_a_live_line(tmp_path, results):
    path = experiment_file(tmp_path, QUICK)
    ours, theirs = pty.openpty()
    shown = b""
    with (
        run_in_fork(
            path, "--results", results, stdout=theirs, stderr=theirs, stdin=theirs
        ) as process,
        os.fdopen(ours, "rb", buffering=0) as terminal,
    ):
        os.close(theirs)
        with contextlib.suppress(OSError):  # how a terminal says that nobody is there any more
            while part := terminal.read(4096):
                shown += part
        assert process.wait() == 0
    assert b" of 40 games, " in shown
    assert b"games/s" in shown
    assert b"\x1b[" in shown  # the line is written over


# ----------------------------------------------------------------------- signals


@pytest.mark.parametrize(
    "how", [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGTERM]
)
def test_a_signal_stops_the_run_in_the_middle_and_it_goes_on(tmp_path, results, how):
    path = experiment_file(tmp_path, HELD)
    words = ("--results", results, "--workers", 2, "--fresh")
    with run_in_fork(path, *words, gate=tmp_path / "go") as process:
        wait_until(lambda: stored_batches(results))
        workers = children_of(process.pid)
        for _ in range(2):  # a second one does no harm
            with contextlib.suppress(ProcessLookupError):
                kill_group(process, how)
        _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 3
    assert "Traceback" not in errors
    last = errors.splitlines()[-1]
    assert last.startswith("stopped; finished work is kept. To continue: python -m arena.run ")
    assert not any(is_alive(worker) for worker in workers)
    words = last.partition("arena.run ")[2].split()
    assert "--fresh" not in words
    if how == signal.SIGINT:
        ended = run_in_process(*words)
        assert ended.returncode == 0
        assert "continuing: " in ended.stderr


ASKS_THEN_THINKS = """
import time
try:
    input()
except EOFError:
    pass
else:
    raise AssertionError("the terminal answers")
def choose(view, legal, rng):
    while True: time.sleep(1)
"""


def test_a_bot_has_no_terminal_and_ctrl_c_stops_it_though_it_thinks_for_ever(tmp_path, results):
    path = experiment_file(tmp_path, small(5), "hanging")
    (tmp_path / "hanging.py").write_text(ASKS_THEN_THINKS)
    words = ("--results", results, "--workers", 2, "--set", "move_seconds=1000")
    with run_in_fork(path, *words, bots=True, stdin=subprocess.PIPE) as process:
        process.stdin.write("1\n" * 1000)
        process.stdin.flush()
        below = psutil.Process(process.pid)
        # The spawner, two workers, and a bot: it hangs at its first question.
        wait_until(lambda: process.poll() is not None or len(below.children(recursive=True)) > 3)
        kill_group(process, signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 3, errors
    assert "Traceback" not in errors


def test_closed_stdout_is_no_fault(quick, results):
    with run_in_fork(quick, "--results", results) as process:
        assert process.stdout.readline()
        process.stdout.close()
        heard = process.stderr.read()
        assert process.wait(PATIENCE_SECONDS) == 0
    assert "Traceback" not in heard
    assert "Broken pipe" not in heard
    assert tables(results)


# ------------------------------------------------------------------ disks and files


def test_another_run_in_the_same_directory_is_refused(tmp_path, results, monkeypatch):
    monkeypatch.setattr(locked_directory, "LOCK_SECONDS", 0.1)  # this one goes on
    path, words = experiment_file(tmp_path, HELD), ("--results", results)
    with run_in_fork(path, *words, gate=tmp_path / "go"):
        wait_until(lambda: stored_batches(results))
        for more in ((), ("--fresh",)):
            other = run_in_process(path, *words, *more)
            assert other.returncode == 3
            (line,) = told(other).splitlines()
            assert "another run is writing here" in line


def below_a_file(tmp_path):
    (tmp_path / "plain").write_text("")
    return tmp_path / "plain" / "results"


def a_file(tmp_path):
    (tmp_path / "plain").write_text("")
    return tmp_path / "plain"


@pytest.mark.parametrize("place", [below_a_file, a_file, lambda _: "/proc/pitflip"])
def test_results_that_cannot_be_written_are_one_line(quick, tmp_path, place):
    ended = run_in_process(quick, "--results", place(tmp_path))
    assert ended.returncode == 3
    (line,) = told(ended).splitlines()
    assert line.startswith("pitflip run: ")
    assert "--results DIR" in line


@pytest.mark.parametrize("damage", ["header", "blob", "empty page"])
def test_damaged_journal_gives_one_line_with_a_fix(quick, results, finished, damage):
    journal = only_run(results) / "journal.sqlite"
    if damage == "blob":
        with database(journal) as base:
            base.execute(
                "update section_batches set content = zeroblob(length(content)) where start = 1"
            )
    else:
        content = bytearray(journal.read_bytes())
        start = 0 if damage == "header" else 4096
        content[start : start + 4096] = b"x" * 4096
        journal.write_bytes(content)
    ended = run_in_process(quick, "--results", results)
    assert ended.returncode == 3
    (line,) = [line for line in told(ended).splitlines() if not line.startswith("continuing")]
    assert "is damaged" in line
    assert "--fresh" in line
    assert run_in_process(quick, "--results", results, "--fresh").returncode == 0


@pytest.fixture
def small_disk(tmp_path):
    """A disk of its own that soon is full; a file that takes a place on it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk],
        capture_output=True,
        text=True,
        check=False,
    )
    assert mounted.returncode == 0, f"a small disk needs root: {mounted.stderr}"
    yield disk
    subprocess.run(["umount", disk], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("free", [0, 8_192, 60_000, 120_000, 400_000])
def test_a_full_disk_is_one_line_and_nothing_is_lost(tmp_path, small_disk, free):
    path = experiment_file(tmp_path, LONG)
    filler = small_disk / "filler"
    filler.write_bytes(bytes(shutil.disk_usage(small_disk).free - free))
    ended = run_in_process(path, "--results", small_disk / "results")
    assert ended.returncode == 3
    errors = [each for each in told(ended).splitlines() if each.startswith("pitflip run: ")]
    assert len(errors) == 1
    filler.unlink()
    assert run_in_process(path, "--results", small_disk / "results").returncode == 0
    assert run_in_process(path, "--results", tmp_path / "whole").returncode == 0
    assert tables(small_disk / "results") == tables(tmp_path / "whole")


# ------------------------------------------------------------------------ memory

MEASURED = """
import resource, sys
from arena.run import main
main(sys.argv[1:])
for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
    print(resource.getrusage(who).ru_maxrss // 1024)
"""
MILLION = """
game = "kalah(6,4)"
pairs = 500000
openings = { random_plies = 0, repeat = true }
agents.one = { kind = "random" }
agents.two = { kind = "random" }
"""


@pytest.mark.slow
def test_a_million_games_need_little_memory_and_disk(tmp_path, results):
    path = experiment_file(tmp_path, MILLION)
    # By way of a shell: a process that we fork ourselves begins with the peak of ours.
    ended = subprocess.run(
        ["sh", "-c", '"$0" "$@"; exit $?', sys.executable, "-c", MEASURED,
         path, "--results", results, "--quiet"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    parent, worker = map(int, ended.stdout.splitlines()[-2:])
    assert parent < 500
    assert worker < 300
    assert (only_run(results) / "games.parquet").stat().st_size < 40 * 1_000_000
    # Most of a journal is the hashes of games.
    assert (only_run(results) / "journal.sqlite").stat().st_size < 16 * 1_000_000


def test_the_last_line_is_the_headline_of_the_page(tmp_path, capsys):
    text = f'{small(100)}[agents.greedy]\nkind = "greedy"\n'
    path, results = experiment_file(tmp_path, text), tmp_path / "results"
    for words in ([], ["--no-page", "--fresh"]):
        assert main([str(path), "--results", str(results), "--workers", "0", *words]) == 0
        said = capsys.readouterr().out.splitlines()
        page = results / "demo"
        if not words:
            (page,) = results.glob("demo/*/report.html")
            (headline,) = re.findall(r'class="answer">(.*?)</p>', page.read_text())
        assert said[-1] == headline
    (pair,) = (line for line in said if line.startswith("greedy against random: "))
    assert re.findall(r"[+-]?\d[\d.]*", headline) == re.findall(r"[+-]?\d[\d.]*", pair)


def test_the_time_of_play_is_that_of_all_sessions_without_the_pause(tmp_path, monkeypatch):
    path = experiment_file(tmp_path, small(4), "fixed")
    play = run_module.play_schedule

    def interrupted(*_words, **_options):
        time.sleep(0.2)
        raise KeyboardInterrupt

    monkeypatch.setattr(run_module, "play_schedule", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_experiment_file(path, tmp_path / "results")
    monkeypatch.setattr(run_module, "play_schedule", play)
    stored = tmp_path.glob("results/*/*/run.json")
    (told,) = stored
    before = json.loads(told.read_text())["seconds"]
    assert before >= 0.2
    time.sleep(1.0)
    begun = time.monotonic()
    run_experiment_file(path, tmp_path / "results")
    assert before < json.loads(told.read_text())["seconds"] < before + time.monotonic() - begun
