"""Tests side by side: none is lost, whatever happens to the process that runs it."""

import re
import signal
import subprocess
import time

import pytest

from tests.forked import in_fork
from tests.side_by_side import longest_first

SHARED = """
import os, pytest

def note(what):
    with open("noted", "a") as file:
        file.write(f"{what} {os.getpid()}\\n")

@pytest.fixture(scope="session", autouse=True)
def lent():
    note("begun")
    yield
    note("ended")
"""
GOOD = """
import pytest

@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return [tmp_path_factory.mktemp("made")]

@pytest.mark.parametrize("number", range(5))
def test_good(made, number):
    print("never shown")
    made.append(number)
    assert len(made) == number + 2
"""
BAD = """
import os, warnings

def test_before():
    pass

def test_wrong():
    print("shown")
    assert "this" == "that"

def test_deadly():
    os._exit(7)

def test_warned():
    warnings.warn("mind the step")

def test_after():
    pass
"""
WAITING = """
import time

def test_endless():
    open("waiting", "w").close()
    time.sleep(60)
"""


@pytest.fixture
def run(tmp_path):
    """pytest in a fork, on these files, by two processes."""

    def begun(*words, **files):
        (tmp_path / "pytest.ini").write_text("")
        for name, text in {"conftest": SHARED, **files}.items():
            (tmp_path / f"{name}.py").write_text(text)
        plain = "-p", "no:cacheprovider", "-W", "default", "--basetemp", f"{tmp_path}/temporary"
        side = "-p", "tests.side_by_side", "--processes", "2"

        def work():
            signal.signal(signal.SIGINT, signal.default_int_handler)
            return pytest.main([*plain, *side, *words])

        return subprocess.Popen(
            **in_fork(work, cwd=tmp_path),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    return begun


def noted(directory) -> list[str]:
    return sorted(line.split()[0] for line in (directory / "noted").read_text().splitlines())


def test_every_test_is_run_once_and_a_death_is_one_failure(run, tmp_path):
    process = run(test_good=GOOD, test_bad=BAD, test_other=GOOD)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 1, said
    assert "2 failed, 13 passed, 1 warning" in said
    assert "- shown" not in said and "\nshown\n" in said and "never shown" not in said
    assert "mind the step" in said
    assert "it ended without a word (status 7)" in said
    assert re.search(r"FAILED test_bad.py::test_wrong - .*this", said)
    # Three processes: two, and the one that did the rest of the one that died.
    assert noted(tmp_path) == ["begun"] * 3 + ["ended"] * 2


@pytest.mark.slow
def test_the_first_failure_may_be_the_last(run):
    process = run("-x", test_bad=BAD)
    said, _ = process.communicate(timeout=60)
    assert "1 failed, 1 passed" in said


def test_ctrl_c_ends_what_tests_began(run, tmp_path):
    process = run(test_endless=WAITING)
    while not (tmp_path / "waiting").exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, said
    assert noted(tmp_path) == ["begun", "ended"]


def test_files_that_took_longest_come_first(request):
    items = request.session.items
    files = longest_first(items, {"tests/test_side_by_side.py": 1e6})
    assert items[files[0][0]].nodeid.startswith("tests/test_side_by_side.py::")
    assert sorted(place for file in files for place in file) == list(range(len(items)))
