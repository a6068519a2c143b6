"""Levels of isolation on machines that refuse parts of them."""

import csv
import errno
import re
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from agents.sandbox import isolation, restrictions, syscalls
from agents.sandbox.fork_server import ForkServer
from agents.sandbox.isolation import find_level

ROOT = Path(__file__).parents[3]
# What Docker's default profile answers: EPERM to namespaces, ENOSYS to clone3.
REFUSING = """
import errno, sys
from agents.sandbox import restrictions as r
from agents.sandbox.syscalls import call_number
r.install_filter([
    (r.LOAD, 0, 0, r.NUMBER),
    *r._answer(call_number("clone3"), r.REFUSE | errno.ENOSYS),
    *r._answer(call_number("{more}"), r.REFUSE | errno.EPERM),
    *r._allow_if(call_number("clone"), 0, [(r.ANY_BIT, 1, 0, r.ALL_NAMESPACES)]),
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


@pytest.mark.skipif(not syscalls.is_known_machine(), reason="needs seccomp")
@pytest.mark.parametrize(
    ("more", "level"), [("clone3", "landlock"), ("landlock_create_ruleset", "limits")]
)
def test_a_kernel_that_refuses_namespaces_leaves_the_next_level(more, level):
    said = run_python(REFUSING.format(more=more))
    assert said.split()[0] == level
    assert "namespaces" in said


def test_a_measure_whose_trial_never_ends_does_not_work(tmp_path, monkeypatch):
    monkeypatch.setattr(isolation, "TRIAL_SECONDS", 0.1)
    monkeypatch.setattr(isolation, "try_to_escape", wait_forever)
    with closing(ForkServer()) as server:
        level = find_level(tmp_path, server.start)
    assert level.name == "none"
    late = [problem for problem in level.problems.values() if "did not end within 0.1 s" in problem]
    assert len(late) >= 3  # not the control group, which may not be looked for


def wait_forever(*_):
    threading.Event().wait()


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOMEM, errno.EAGAIN])
def test_a_machine_that_lacks_something_says_nothing_about_its_levels(tmp_path, number):
    def start_child(*_):
        raise OSError(number, "lacks")

    with pytest.raises(OSError, match="lacks"):
        find_level(tmp_path, start_child)


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
    assert words in level.description
    assert open_things not in level.description
    assert ("Landlock" in level.measure_names) == ("landlock" in measures)
    assert (f"Landlock {version}" in level.measure_names) == ("landlock" in measures)


HEADERS = {  # of the kernel, where they are installed
    "x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
    "aarch64": "/usr/include/asm-generic/unistd.h",
}


@pytest.mark.parametrize("machine", HEADERS)
def test_the_numbers_of_system_calls_are_those_of_the_kernel(machine):
    header = Path(HEADERS[machine])
    if not header.exists():
        pytest.skip(f"there is no {header}")
    lines = re.findall(r"#define __NR(?:3264)?_(\w+)\s+([0-9]+)", header.read_text())
    numbers = {name: int(number) for name, number in lines}
    if machine == "aarch64":
        numbers["newfstatat"] = numbers["fstatat"]
    newest = max(numbers.values())
    known = {name: number for name, (number, _) in syscalls.call_table(machine).items()}
    with Path(syscalls.__file__).with_name("system_calls.csv").open() as lines:
        names = [row["name"] for row in csv.DictReader(lines)]
    assert len(names) == len({*names})
    for name in names:
        if known.get(name, 0) <= newest:
            assert known.get(name) == numbers.get(name), name


def verdict(program: list, number: int, arguments: tuple[int, ...] = (), machine: int = 0) -> int:
    """What a filter answers, by a naive interpreter of its instructions."""
    data = {0: number, 4: machine} | {16 + 8 * at: each for at, each in enumerate(arguments)}
    at = value = 0
    while True:
        code, true, false, operand = program[at]
        at += 1
        if code == restrictions.RETURN:
            return operand
        if code == restrictions.LOAD:
            value = data.get(operand, 0)
        elif code == restrictions.AND:
            value &= operand
        else:
            holds = {restrictions.EQUAL: value == operand, restrictions.AT_LEAST: value >= operand,
                     restrictions.ANY_BIT: bool(value & operand)}[code]  # fmt: skip
            at += true if holds else false


ALWAYS = {("read", ()): True, ("clone", (17,)): True, ("clone", (0x1000_0000,)): False,
          ("clone", (0x8011,)): False, ("ptrace", ()): False, ("mount", ()): False,
          ("fcntl", (3, 1)): True, ("fcntl", (3, 1024)): False, ("ioctl", (0, 0x5412)): False,
          ("ioctl", (0, 0x5401)): True, ("prctl", (4, 0)): False, ("prctl", (15,)): True,
          ("prlimit64", (0,)): True, ("prlimit64", (1,)): False,
          ("setpriority", (0, 0)): True, ("setpriority", (0, 5)): False,
          ("setpriority", (2, 0)): False, ("clone3", ()): False, ("io_uring_setup", ()): False,
          ("setsockopt", (0, 1, 7)): False, ("setsockopt", (0, 1, 2)): True}  # fmt: skip
OF_A_ROOT = {("socket", (1,)): True, ("socket", (2,)): False, ("chmod", ()): True,
             ("socketpair", (1, 2)): True, ("kill", (1,)): True, ("setsid", ()): True}  # fmt: skip
OF_LANDLOCK = {("socket", (1,)): False, ("fchmod", ()): False, ("socketpair", (1, 2)): False,
               ("setsid", ()): False,
               ("socketpair", (1, 1 | 0o2000000)): True}  # fmt: skip
OF_OLD_LANDLOCK = {("kill", (1,)): False, ("tkill", ()): False, ("fcntl", (3, 8)): False,
                   ("truncate", ()): False, ("openat", (0, 0, 0o1000)): False,
                   ("openat", (0, 0, 0o1001)): True}  # fmt: skip
OTHER_NUMBERS = {"ptrace": (101, 117), "mount": (165, 40), "io_uring_setup": (425, 425)}


@pytest.mark.parametrize("machine", syscalls.MACHINES)
@pytest.mark.parametrize(("own_root", "landlock"), [(True, 0), (False, 1), (False, 6)])
def test_a_filter_allows_usual_calls_and_no_others(machine, own_root, landlock, monkeypatch):
    monkeypatch.setattr(syscalls.platform, "machine", lambda: machine)
    program = restrictions.filter_program(own_root, False, landlock)
    place, code = syscalls.MACHINES.index(machine), restrictions.ARCHITECTURES[machine]
    expected = ALWAYS | (OF_A_ROOT if own_root else OF_LANDLOCK)
    expected |= OF_OLD_LANDLOCK if landlock == 1 else {}
    for (name, arguments), allowed in expected.items():
        number = OTHER_NUMBERS[name][place] if name in OTHER_NUMBERS else syscalls.call_number(name)
        if number is not None:  # aarch64 has no chmod
            answer = verdict(program, number, arguments, code)
            assert (answer == restrictions.ALLOW) == allowed, (name, arguments)
    assert verdict(program, 5000, (), code) == restrictions.REFUSE | errno.ENOSYS
    assert verdict(program, syscalls.call_number("read"), (), code + 1) == restrictions.KILL


def test_an_unknown_machine_has_neither_namespaces_nor_landlock(tmp_path, monkeypatch):
    monkeypatch.setattr(syscalls.platform, "machine", lambda: "riscv64")
    with closing(ForkServer()) as server:
        level = find_level(tmp_path, server.start)
    assert level.name == "limits"
    assert "riscv64" in level.problems["landlock"]
    assert not level.is_sufficient
