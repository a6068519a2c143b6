"""Runs on a cluster of real processes: the same bytes as on this machine, after any failure."""

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
    experiment_file,
    is_alive,
    only_run,
    run_in_process,
    small,
    start_process,
    tables,
)
from tests.arena.test_kill import LONG, stored_batches
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
    """A scheduler and a worker with two slots."""
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
    first = run_in_process(path, "--results", here, "--workers", 1, "--quiet")
    other = run_in_process(path, "--results", there, "--cluster", room.address)
    assert (first.returncode, other.returncode) == (0, 0), other.stderr
    assert tables(there) == tables(here)
    return other


@pytest.mark.slow  # a stop rule looks at results in order; test_farm has the order without them
def test_stop_rule_stops_at_the_same_game(room, tmp_path):
    text = small(300, SPRT).replace('"random"', '"greedy"', 1)
    path = experiment_file(tmp_path, text.replace("[agents.random]", "[agents.greedy]") + SEARCHING)
    same_here_and_there(room, path, tmp_path)


def test_both_loops_and_users_files_give_the_same_bytes_and_forfeits(room, tmp_path):
    path = experiment_file(tmp_path, small(12) + SEARCHING, "good", "raising", "illegal")
    same_here_and_there(room, path, tmp_path)
    stored = json.loads((only_run(tmp_path / "there") / "run.json").read_text())
    assert {each["worker"] for each in stored["cluster"]} == {"worker-1"}
    assert all(0 < each["speed"] <= 1 for each in stored["cluster"])
    with contextlib.closing(Sandbox()) as sandbox:  # of this machine, which is theirs
        assert {each["isolation"] for each in stored["cluster"]} == {sandbox.level.name}
    # What bots say of their faults names the files that lie here, not their copies there.
    here = json.loads((only_run(tmp_path / "here") / "run.json").read_text())
    assert stored["forfeits"] == here["forfeits"] != []
    log = (only_run(tmp_path / "there") / "run.log").read_text()
    assert all(f"worker {each['worker']} at " in log for each in stored["cluster"])


@pytest.mark.slow
def test_program_plays_in_the_sandbox_of_its_worker_and_leaves_no_process(tmp_path):
    bot = tmp_path / "bots" / "last.py"
    bot.parent.mkdir()
    bot.write_text(PROGRAM)
    text = small(40) + '\n[agents.last]\nkind = "lines"\ncommand = ["python3", "bots/last.py"]\n'
    path = experiment_file(tmp_path, text)
    with Room(tmp_path) as own:
        worker = own.begin_worker()
        same_here_and_there(own, path, tmp_path)
        stored = json.loads((only_run(tmp_path / "there") / "run.json").read_text())
        assert stored["forfeits"] == []
        theirs = psutil.Process(worker.pid).children(recursive=True)
        assert len(theirs) > 2
        worker.kill()
        worker.wait()
        patient(lambda: not any(is_alive(each.pid) for each in theirs))


@pytest.mark.slow
def test_killed_worker_loses_no_game(two, tmp_path):
    path = experiment_file(tmp_path, small(4000, plies=9) + SEARCHING)
    mortal = two.begin_worker()
    assert run_in_process(path, "--results", tmp_path / "here").returncode == 0
    with start_process(path, "--results", tmp_path / "there", "--cluster", two.address) as process:
        patient(lambda: stored_batches(tmp_path / "there"))
        mortal.kill()
        _, told = process.communicate(timeout=90)
    assert process.returncode == 0, told
    assert tables(tmp_path / "there") == tables(tmp_path / "here")


@pytest.mark.slow  # processes that take seconds to begin; test_farm has the rules without them
@pytest.mark.slow
def test_run_without_its_scheduler_ends_in_one_line_and_can_continue(tmp_path):
    path = experiment_file(tmp_path, small(4000, plies=9) + SEARCHING)
    assert run_in_process(path, "--results", tmp_path / "here").returncode == 0
    there = tmp_path / "there"
    with Room(tmp_path) as own:
        worker = own.begin_worker()
        with start_process(path, "--results", there, "--cluster", own.address) as process:
            before = patient(lambda: stored_batches(there))
            own.scheduler.kill()
            _, told = process.communicate(timeout=90)
        assert process.returncode == 3, told
        assert "has lost its scheduler; finished games are kept" in told
        assert "Traceback" not in told
        worker.send_signal(signal.SIGTERM)
        patient(lambda: worker.poll() is not None)
        patient(lambda: not players(tmp_path))
    again = run_in_process(path, "--results", there)
    assert before > 0
    assert "continuing: " in again.stderr
    assert tables(there) == tables(tmp_path / "here")


@pytest.mark.slow
def test_study_on_a_cluster_has_the_same_result(two, tmp_path):
    text = SMALL
    here = study(tmp_path / "here", text, "--workers", "2")
    there = study(tmp_path / "there", text, "--cluster", two.address)
    assert trials(there).equals(trials(here))
    for name in ("recommendation.json", "validation.parquet"):
        assert (there / name).read_bytes() == (here / name).read_bytes()


@pytest.mark.slow
def test_run_continues_after_ctrl_c(two, tmp_path):
    path, there = experiment_file(tmp_path, LONG), tmp_path / "there"
    with start_process(path, "--results", there, "--cluster", two.address) as process:
        patient(lambda: stored_batches(there))
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=90)
    assert process.returncode == 3
    assert f"--cluster {two.address}" in told.splitlines()[-1]
    assert run_in_process(path, "--results", there, "--cluster", two.address).returncode == 0
    assert run_in_process(path, "--results", tmp_path / "here").returncode == 0
    assert tables(there) == tables(tmp_path / "here")


def ignores_ctrl_c(pid):
    """Whether a process blocks or ignores SIGINT."""
    text = Path(f"/proc/{pid}/status").read_text()
    masks = re.findall(r"Sig(?:Blk|Ign):\s*(\w+)", text)
    return any(int(each, 16) >> (signal.SIGINT - 1) & 1 for each in masks)


@pytest.mark.slow
def test_local_cluster_ends_with_the_command(tmp_path):
    path = experiment_file(tmp_path, LONG)
    with start_process(path, "--results", tmp_path / "r", "--cluster", "local:2") as process:
        patient(lambda: stored_batches(tmp_path / "r"))
        theirs = psutil.Process(process.pid).children(recursive=True)
        begun_by_us = [each for each in theirs if each.ppid() == process.pid]
        assert all(ignores_ctrl_c(each.pid) for each in begun_by_us)
        process.kill()
        process.communicate()
    assert len(theirs) > 2
    patient(lambda: not any(is_alive(each.pid) for each in theirs))


# Machines that differ.

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
def test_machine_with_other_versions_is_excluded_in_one_line(tmp_path, program, reason):
    path = experiment_file(tmp_path, small(20) + SEARCHING)
    with Room(tmp_path) as own:
        own.begin_worker(program=[sys.executable, "-c", program])
        patient(lambda: b"Starting established connection" in own.log(1))
        ended = run_in_process(path, "--results", tmp_path / "there", "--cluster", own.address)
        assert ended.returncode == 2
        left_out, summary = ended.stderr.splitlines()
        assert left_out.startswith("tcp://127.0.0.1:")
        assert f" is left out: {reason}" in left_out
        assert summary.startswith(f"no worker at {own.address} can play: {reason}")
        own.begin_worker()
        patient(lambda: b"Starting established connection" in own.log(2))
        ended = run_in_process(path, "--results", tmp_path / "there", "--cluster", own.address)
        assert ended.returncode == 0, ended.stderr
        assert f"is left out: {reason}" in ended.stderr


@pytest.mark.slow
def test_scheduler_without_pitflip_is_refused_in_one_line(tmp_path):
    bare = Room(tmp_path)
    bare.begin_scheduler([sys.executable, "-c", WITHOUT_OURS])
    with bare as own:
        told = refusal(tmp_path, "--cluster", own.address)
    assert told.startswith(f"the scheduler at {own.address} cannot be used: it has no pitflip")
    assert told.count("\n") == 1


# Addresses without a cluster.


@pytest.fixture
def impatient(monkeypatch):
    """Short timeouts for addresses."""
    monkeypatch.setattr(connection, "CONNECT_SECONDS", 0.3)
    monkeypatch.setattr(connection, "ASK_SECONDS", 1.0)


def refusal(tmp_path, *words):
    path = experiment_file(tmp_path, small(2, plies=3) + SEARCHING)
    ended = run_in_process(path, "--results", tmp_path / "results", *words)
    assert ended.returncode == 2
    return ended.stderr


@pytest.mark.parametrize("answers", [b"", b"HTTP/1.0 400 Bad Request\r\n\r\n" * 9])
def test_port_of_another_service_is_refused_in_one_line(tmp_path, impatient, answers):
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


def test_unused_port_is_refused_in_one_line(tmp_path, impatient):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        told = refusal(tmp_path, "--cluster", address)
    assert told.startswith(f'--cluster "{address}": cannot be reached')
    assert told.count("\n") == 1
