"""Levels of isolation on machines that refuse parts of them."""

import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from agents.sandbox import isolation, restrictions, syscalls
from agents.sandbox.isolation import find_level

ROOT = Path(__file__).parents[3]
# What Docker's default profile answers: EPERM to namespaces, ENOSYS to clone3.
REFUSING = """
import errno, sys
from agents.sandbox import restrictions as r
r.install_filter([
    (r.LOAD, 0, 0, r.NUMBER),
    *r._refuse("clone3", errno.ENOSYS), *r._refuse("unshare", errno.EPERM),
    *r._refuse("{more}", errno.EPERM),
    *r._unless("clone", 0, [(r.ANY_BIT, 1, 0, r.ANY_NAMESPACE)]),
    (r.RETURN, 0, 0, r.ALLOW),
])
from agents.sandbox.sandbox import Sandbox
sandbox = Sandbox()
print(sandbox.level.name, sorted(sandbox.level.problems))
sandbox.close()
"""


def run_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not syscalls.is_supported(), reason="needs seccomp")
@pytest.mark.parametrize(
    ("more", "level"), [("mount", "landlock"), ("landlock_create_ruleset", "limits")]
)
def test_a_kernel_that_refuses_namespaces_leaves_the_next_level(more, level):
    said = run_python(REFUSING.format(more=more))
    assert said.split()[0] == level
    assert "namespaces" in said


def test_a_measure_whose_trial_never_ends_does_not_work(tmp_path, monkeypatch):
    monkeypatch.setattr(isolation, "TRIAL_SECONDS", 0.1)
    monkeypatch.setattr(isolation, "_attempt", lambda *_: threading.Event().wait() or 1)
    level = find_level(tmp_path)
    assert level.name == "none"
    late = [problem for problem in level.problems.values() if "did not end within 0.1 s" in problem]
    assert len(late) >= 3  # a test process with threads is not cloned


def test_a_process_with_threads_is_not_cloned(tmp_path):
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    try:
        with pytest.raises(OSError, match="threads"):
            syscalls.fork(1)
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize(
    ("measures", "version", "words", "open_things"),
    [
        ({"namespaces", "landlock", "seccomp", "limits"}, 6, "no network", "run only code"),
        ({"landlock", "seccomp", "limits"}, 1, "no signals to others", "but the network"),
        ({"landlock", "limits"}, 4, "but the network", "no signals"),
        ({"limits"}, 0, "open to them", "no files"),
        (set(), 0, "run only code that you trust", "are limited"),
    ],
)
def test_the_words_of_a_level_follow_from_what_was_found(measures, version, words, open_things):
    level = isolation.IsolationLevel("any", frozenset(measures), {}, version)
    assert words in level.words
    assert open_things not in level.words
    assert ("Landlock" in level.found) == ("landlock" in measures)
    assert (f"Landlock {version}" in level.found) == ("landlock" in measures)


HEADERS = {  # of the kernel, where they are installed
    "x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
    "aarch64": "/usr/include/asm-generic/unistd.h",
}


@pytest.mark.parametrize("machine", HEADERS)
def test_the_numbers_of_system_calls_are_those_of_the_kernel(machine, monkeypatch):
    header = Path(HEADERS[machine])
    if not header.exists():
        pytest.skip(f"there is no {header}")
    lines = re.findall(r"#define __NR(?:3264)?_(\w+)\s+([0-9]+)", header.read_text())
    numbers = {name: int(number) for name, number in lines}
    monkeypatch.setattr(syscalls.platform, "machine", lambda: machine)
    known = {name: syscalls.call_number(name) for name in syscalls.CALLS}
    newest = max(numbers.values())
    expected = {n: numbers.get(n) for n, k in known.items() if k is None or k <= newest}
    assert {name: known[name] for name in expected} == expected


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_a_filter_of_each_machine_refuses_calls_by_its_own_numbers(machine, monkeypatch):
    monkeypatch.setattr(syscalls.platform, "machine", lambda: machine)
    for landlock in (0, 2, 5, 6):
        program = restrictions.filter_program(False, False, landlock)
        assert program[1] == (restrictions.EQUAL, 1, 0, restrictions.ARCHITECTURES[machine])
        compared = {operand for code, _, _, operand in program if code == restrictions.EQUAL}
        assert syscalls.call_number("ptrace") in compared
        for at, (code, true, false, _) in enumerate(program):
            if code in (restrictions.EQUAL, restrictions.ANY_BIT, restrictions.AT_LEAST):
                assert at + 1 + max(true, false) < len(program)


def test_an_unknown_machine_has_neither_namespaces_nor_landlock(tmp_path, monkeypatch):
    monkeypatch.setattr(syscalls.platform, "machine", lambda: "riscv64")
    level = find_level(tmp_path)
    assert level.name == "limits"
    assert "riscv64" in level.problems["landlock"]
    assert not level.is_sufficient
