"""Runs on a cluster of real processes: the same bytes as here, whatever happens on the way."""

import contextlib
import json
import platform
import re
import signal
import socket
import sys
import threading
from pathlib import Path

import psutil
import pytest

from agents.sandbox.sandbox import Sandbox
from arena.playing.cluster import connection
from tests.arena.playing.cluster.machines import Room, patient, players
from tests.arena.running import (
    alive,
    begun,
    called,
    directory_of,
    experiment_file,
    small,
    tables,
)
from tests.arena.test_kill import LONG, kept
from tests.arena.tuning.test_study import SMALL, study, trials

PROGRAM = """\
import sys
for line in sys.stdin:
    print(line.split(";")[1].replace(",", " ").split()[-1], flush=True)
"""
SEARCHING = '\n[agents.searching]\nkind = "alphabeta"\ndepth = 4\n'
SPRT = "stop = { sprt = { elo0 = 0, elo1 = 30 } }"


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    """A scheduler and a worker with two slots: whose turn comes first is chance already."""
    with Room(tmp_path_factory.mktemp("room")) as machines:
        machines.begin_worker("--nthreads", "2")
        yield machines


@pytest.fixture(scope="module")
def two(room):
    """The same with another worker, for tests that are slow anyway."""
    room.begin_worker()
    return room


def same_here_and_there(room, path, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    first = called(path, "--results", here, "--workers", 1, "--quiet")
    other = called(path, "--results", there, "--cluster", room.address)
    assert (first.returncode, other.returncode) == (0, 0), other.stderr
    assert tables(there) == tables(here)
    return other


@pytest.mark.slow  # a stop rule looks at results in order; test_farm has the order without them
def test_a_stop_rule_stops_at_the_same_game(room, tmp_path):
    text = small(300, SPRT).replace('"random"', '"greedy"', 1)
    path = experiment_file(tmp_path, text.replace("[agents.random]", "[agents.greedy]") + SEARCHING)
    same_here_and_there(room, path, tmp_path)


def test_both_loops_and_users_files_give_the_same_bytes_and_forfeits_come_back(room, tmp_path):
    path = experiment_file(tmp_path, small(12) + SEARCHING, "good", "raising", "illegal")
    same_here_and_there(room, path, tmp_path)
    stored = json.loads((directory_of(tmp_path / "there") / "run.json").read_text())
    assert {each["worker"] for each in stored["cluster"]} == {"worker-1"}
    assert all(0 < each["speed"] <= 1 for each in stored["cluster"])
    with contextlib.closing(Sandbox()) as wall:  # of this machine, which is theirs
        assert {each["isolation"] for each in stored["cluster"]} == {wall.level.name}
    # What bots say of their faults names the files that lie here, not their copies there.
    here = json.loads((directory_of(tmp_path / "here") / "run.json").read_text())
    assert stored["forfeits"] == here["forfeits"] != []
    log = (directory_of(tmp_path / "there") / "run.log").read_text()
    assert all(f"worker {each['worker']} at " in log for each in stored["cluster"])


@pytest.mark.slow
def test_a_program_plays_behind_its_workers_wall_and_leaves_nothing(tmp_path):
    bot = tmp_path / "bots" / "last.py"
    bot.parent.mkdir()
    bot.write_text(PROGRAM)
    text = small(40) + '\n[agents.last]\nkind = "lines"\ncommand = ["python3", "bots/last.py"]\n'
    path = experiment_file(tmp_path, text)
    with Room(tmp_path) as own:
        worker = own.begin_worker()
        same_here_and_there(own, path, tmp_path)
        stored = json.loads((directory_of(tmp_path / "there") / "run.json").read_text())
        assert stored["forfeits"] == []
        theirs = psutil.Process(worker.pid).children(recursive=True)
        assert len(theirs) > 2
        worker.kill()
        worker.wait()
        patient(lambda: not any(alive(each.pid) for each in theirs))


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_nothing(two, tmp_path):
    path = experiment_file(tmp_path, small(4000, plies=9) + SEARCHING)
    mortal = two.begin_worker()
    assert called(path, "--results", tmp_path / "here").returncode == 0
    with begun(path, "--results", tmp_path / "there", "--cluster", two.address) as process:
        patient(lambda: kept(tmp_path / "there"))
        mortal.kill()
        _, told = process.communicate(timeout=90)
    assert process.returncode == 0, told
    assert tables(tmp_path / "there") == tables(tmp_path / "here")


@pytest.mark.slow  # processes that take seconds to begin; test_farm has the rules without them
@pytest.mark.slow
def test_without_its_scheduler_a_run_ends_in_one_line_and_goes_on(tmp_path):
    path = experiment_file(tmp_path, small(4000, plies=9) + SEARCHING)
    assert called(path, "--results", tmp_path / "here").returncode == 0
    there = tmp_path / "there"
    with Room(tmp_path) as own:
        worker = own.begin_worker()
        with begun(path, "--results", there, "--cluster", own.address) as process:
            before = patient(lambda: kept(there))
            own.scheduler.kill()
            _, told = process.communicate(timeout=90)
        assert process.returncode == 3, told
        assert "has lost its scheduler; what is finished is kept" in told
        assert "Traceback" not in told
        worker.send_signal(signal.SIGTERM)
        patient(lambda: worker.poll() is not None)
        patient(lambda: not players(tmp_path))
    again = called(path, "--results", there)
    assert before > 0
    assert "continuing: " in again.stderr
    assert tables(there) == tables(tmp_path / "here")


@pytest.mark.slow
def test_a_study_on_a_cluster_finds_what_it_finds_here(two, tmp_path):
    text = SMALL
    here = study(tmp_path / "here", text, "--workers", "2")
    there = study(tmp_path / "there", text, "--cluster", two.address)
    assert trials(there).equals(trials(here))
    for name in ("recommendation.json", "validation.parquet"):
        assert (there / name).read_bytes() == (here / name).read_bytes()


@pytest.mark.slow
def test_ctrl_c_ends_a_run_that_the_same_command_goes_on_with(two, tmp_path):
    path, there = experiment_file(tmp_path, LONG), tmp_path / "there"
    with begun(path, "--results", there, "--cluster", two.address) as process:
        patient(lambda: kept(there))
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=90)
    assert process.returncode == 3
    assert f"--cluster {two.address}" in told.splitlines()[-1]
    assert called(path, "--results", there, "--cluster", two.address).returncode == 0
    assert called(path, "--results", tmp_path / "here").returncode == 0
    assert tables(there) == tables(tmp_path / "here")


def never_sees_ctrl_c(pid):
    """Whether a process blocks or ignores SIGINT."""
    text = Path(f"/proc/{pid}/status").read_text()
    masks = re.findall(r"Sig(?:Blk|Ign):\s*(\w+)", text)
    return any(int(each, 16) >> (signal.SIGINT - 1) & 1 for each in masks)


@pytest.mark.slow
def test_a_cluster_of_this_machine_ends_with_the_command(tmp_path):
    path = experiment_file(tmp_path, LONG)
    with begun(path, "--results", tmp_path / "r", "--cluster", "local:2") as process:
        patient(lambda: kept(tmp_path / "r"))
        theirs = psutil.Process(process.pid).children(recursive=True)
        begun_by_us = [each for each in theirs if each.ppid() == process.pid]
        assert all(never_sees_ctrl_c(each.pid) for each in begun_by_us)
        process.kill()
        process.communicate()
    assert len(theirs) > 2
    patient(lambda: not any(alive(each.pid) for each in theirs))


# ------------------------------------------------------------------ who is not like us

WITHOUT_OURS = (
    "import importlib.metadata as m, sys; ask = m.version; "
    "m.version = lambda name: None if name == 'pitflip' else ask(name); "
    "sys.path = [each for each in sys.path if 'lib' in each]; "
    "from dask.__main__ import main; main()"
)
ANOTHER_PYTHON = (
    "import distributed.versions as v; ask = v.get_system_info; "
    "v.get_system_info = lambda: {**ask(), 'python': '3.10.1.final.0'}; "
    "from dask.__main__ import main; main()"
)


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        pytest.param(WITHOUT_OURS, "it has no pitflip, here it is ", marks=pytest.mark.slow),
        pytest.param(
            ANOTHER_PYTHON,
            f"it has python 3.10.1, here it is {platform.python_version()}",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_machine_that_is_not_like_us_is_left_out_in_one_line(tmp_path, program, reason):
    path = experiment_file(tmp_path, small(20) + SEARCHING)
    with Room(tmp_path) as own:
        own.begin_worker(program=[sys.executable, "-c", program])
        patient(lambda: b"Starting established connection" in own.log(1))
        ended = called(path, "--results", tmp_path / "there", "--cluster", own.address)
        assert ended.returncode == 2
        left_out, summary = ended.stderr.splitlines()
        assert left_out.startswith("tcp://127.0.0.1:")
        assert f" is left out: {reason}" in left_out
        assert summary.startswith(f"no worker at {own.address} can play: {reason}")
        own.begin_worker()
        patient(lambda: b"Starting established connection" in own.log(2))
        ended = called(path, "--results", tmp_path / "there", "--cluster", own.address)
        assert ended.returncode == 0, ended.stderr
        assert f"is left out: {reason}" in ended.stderr


@pytest.mark.slow
def test_a_scheduler_without_pitflip_is_refused_in_one_line(tmp_path):
    bare = Room(tmp_path)
    bare.begin_scheduler([sys.executable, "-c", WITHOUT_OURS])
    with bare as own:
        told = refusal(tmp_path, "--cluster", own.address)
    assert told.startswith(f"the scheduler at {own.address} cannot be used: it has no pitflip")
    assert told.count("\n") == 1


# ----------------------------------------------------------------- what is no cluster


@pytest.fixture
def impatient(monkeypatch):
    """Addresses are asked for a moment only."""
    monkeypatch.setattr(connection, "CONNECT_SECONDS", 0.3)
    monkeypatch.setattr(connection, "ASK_SECONDS", 1.0)


def refusal(tmp_path, *words):
    path = experiment_file(tmp_path, small(2, plies=3) + SEARCHING)
    ended = called(path, "--results", tmp_path / "results", *words)
    assert ended.returncode == 2
    return ended.stderr


@pytest.mark.parametrize("answers", [b"", b"HTTP/1.0 400 Bad Request\r\n\r\n" * 9])
def test_a_port_that_is_something_else_is_one_line(tmp_path, impatient, answers):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            with server.accept()[0] as there:
                there.sendall(answers)
                there.recv(1 << 16)
                if not answers:
                    there.recv(1 << 16)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        told = refusal(tmp_path, "--cluster", address)
    assert told.startswith(f'--cluster "{address}": ')
    assert "Dask scheduler" in told
    assert told.count("\n") == 1


def test_a_port_where_nobody_is_is_one_line(tmp_path, impatient):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        told = refusal(tmp_path, "--cluster", address)
    assert told.startswith(f'--cluster "{address}": nobody can be reached there')
    assert told.count("\n") == 1
