"""Commands with hostile arguments, files and input: exit status, output, limits.

Each command runs in a fork of a process that has already loaded what commands load, so that a
command does not spend a second on starting Python.
"""

import contextlib
import gc
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hypothesis import strategies as st

from arena.commands.registry import load_command
from games.base.errors import CHECK_FAILED, OK
from pitflip.__main__ import main
from tests.forked import in_fork
from tools.fuzz.file_targets import (
    CSV,
    EXPERIMENTS,
    FILES,
    GAME_NAMES,
    KINDS,
    LESSONS,
    MOVES,
    POSITIONS,
    STUDIES,
)  # fmt: skip
from tools.fuzz.grammars import text_mutations
from tools.fuzz.hostile_lines import line_streams
from tools.fuzz.law import MEBIBYTES, WATCH, output_violation, violation_of

PLAYING_SECONDS = 1  # of CPU time, after which a valid run is stopped
MOST_SECONDS = 4
WAITING_SECONDS = 300.0  # on a busy machine
SMALL = (
    'game = "kalah(4,3)"\npairs = 2\nseed = 5\nopenings = { random_plies = 3 }\n'
    '[agents.a]\nkind = "random"\n[agents.b]\nkind = "greedy"\nrandom_ties = true\n'
    '[[checks]]\nthat = "b beats a"\nscore_at_least = 0.5\n'
)
HERE = ("--workers", "0", "--cache", "off", "--no-page")
PERSON = ["3", "f5", "undo", "hint", "help", "restart", "level 3", "quit", "\x04", "9", "a 1"]
GTP = ["genmove b", "play w d3", "showboard", "boardsize 8", "undo", "3 name", "quit"]
AGENTS_THAT_PLAY = ("--first", "human", "--second", "greedy", "--seed", "1")


@dataclass(frozen=True)
class Command:
    """A command and its arguments. The input is an argument, or a file, or the standard input."""

    inputs: st.SearchStrategy[bytes]
    verb: str
    words: Callable[[str], Sequence[str]]  # the arguments, made from the input
    file: str = ""
    plays: bool = False  # a valid input takes long


def same_words(*words: str) -> Callable[[str], Sequence[str]]:
    """Return the same arguments for every input."""
    return lambda _: words


COMMANDS = {
    "pitflip run": Command(
        text_mutations([SMALL, *EXPERIMENTS], KINDS), "run", same_words("x.toml", *HERE), "x.toml",
        True,
    ),
    "pitflip run --set": Command(
        FILES["set"].inputs, "run", lambda text: ["small.toml", *HERE, f"--set={text}"], plays=True
    ),
    "any words": Command(
        text_mutations(
            ["run x --workers 2 --cluster tcp://a:1 --budget 3h --seed 4 --pairs 5 --json"]
        ),
        "run", lambda text: ["small.toml", *HERE, *text.split()[:6]], plays=True,
    ),
    "pitflip tune": Command(
        text_mutations(STUDIES), "tune", same_words("x.toml", "--workers", "1"), "x.toml", True
    ),
    "pitflip learn": Command(
        text_mutations(LESSONS), "learn", same_words("x.toml", "--workers", "1"), "x.toml", True
    ),
    "pitflip rate": Command(
        text_mutations(CSV), "rate", same_words("x.csv", "--bootstrap=0"), "x.csv"
    ),
    "pitflip game explain": Command(
        text_mutations([*POSITIONS, *MOVES]), "game",
        lambda text: ["kalah(4,3)", "explain", "--agent=greedy", "--solve-seconds=0", "--", text],
    ),
    "pitflip game perft": Command(
        text_mutations(GAME_NAMES), "game", lambda text: ["--", text, "perft", "1"]
    ),
    "pitflip play": Command(
        line_streams(PERSON, PERSON), "play", same_words("kalah(4,3)", *AGENTS_THAT_PLAY), "stdin",
        True,
    ),
    "pitflip serve": Command(
        line_streams(GTP, GTP), "serve", same_words("gtp", "--agent", "first"), "stdin"
    ),
}  # fmt: skip


def load_commands() -> None:
    """Load the commands once, before they are forked."""
    for command in COMMANDS.values():
        load_command(command.verb)
    gc.collect()
    gc.freeze()


def command_violation(command: Command, content: bytes) -> str:
    """Return which law the command breaks with this input; empty if none."""
    return violation_of(lambda: _try_command(command, content))


def _try_command(command: Command, content: bytes) -> tuple[str, float]:
    """Return the broken law and the CPU time, which is 0 for a command that plays."""
    directory = Path(tempfile.mkdtemp(prefix="pitflip-fuzz-"))  # forks must not delete it
    try:
        return _run_and_judge(command, content, directory)
    finally:
        shutil.rmtree(directory)


def has_started(directory: Path, seconds: int) -> bool:
    """Return whether a stopped run had started to play."""
    return (directory / "results").exists() or seconds == MOST_SECONDS


def _run_and_judge(
    command: Command, content: bytes, directory: Path, seconds: int = PLAYING_SECONDS
) -> tuple[str, float]:
    words = command.words(content.decode(errors="replace").replace("\0", ""))
    (directory / "small.toml").write_text(SMALL)
    (directory / (command.file or "unused")).write_bytes(content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    seconds = seconds if command.plays else MOST_SECONDS
    work = partial(run_command, command.verb, words, directory, seconds)
    typed = directory / "stdin" if command.file == "stdin" else Path(os.devnull)
    with typed.open("rb") as stdin, (directory / "out").open("wb") as out:
        process = subprocess.Popen(
            **in_fork(work, cwd=directory, stdin=stdin, stdout=out, stderr=subprocess.STDOUT),
            process_group=0,
        )
    status, use = wait_for(process)
    output = (directory / "out").read_bytes().decode(errors="replace")
    if "Traceback (most recent call last)" in output:
        return f"a traceback: {output[-1500:]}", 0.0
    if "wrote outside" in output:
        return output[-300:], 0.0
    if command.plays and status == -signal.SIGXCPU and not has_started(directory, seconds):
        return _run_and_judge(command, content, directory, MOST_SECONDS)
    if command.plays and status in (OK, CHECK_FAILED, -signal.SIGXCPU):
        return "", 0.0
    if (grown := use.ru_maxrss // 1024 - before) > MEBIBYTES:
        return f"took {grown} MiB", 0.0
    return output_violation(output, status), use.ru_utime + use.ru_stime


def wait_for(process: subprocess.Popen) -> tuple[int, resource.struct_rusage]:
    """Return the exit status and the resources of a command; kill one that hangs."""
    until = time.monotonic() + WAITING_SECONDS
    while True:
        pid, status, use = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > until:
            process.kill()
        time.sleep(0.002)
    process.returncode = os.waitstatus_to_exitcode(status)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # its child processes
    return process.returncode, use


def run_command(verb: str, words: Sequence[str], directory: Path, seconds: int) -> int:
    """Run the command in this fork, and report files that it opens elsewhere."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 2))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["pitflip", verb, *words]
    with WATCH.only(directory) as written:
        try:
            return int(main([verb, *words]))
        finally:
            if written:
                print("wrote outside", json.dumps(written[:3]))
