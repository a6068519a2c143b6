"""Commands as a shell has them: hostile arguments, files and input; exit status, output, limits.

Each command runs in a fork of a process that has loaded what commands load, from its argument
vector on: `runpy` begins the module as `python -m` does, its streams are files, its end is an exit
status. What a new Python costs, a third of a second, is left out; all the rest is as it is.
"""

import atexit
import contextlib
import gc
import json
import os
import resource
import runpy
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from hypothesis import strategies as st

from games.base.errors import DONE, FINDING
from tests.fuzz.file_targets import (
    CSV,
    EXPERIMENTS,
    FILES,
    GAME_NAMES,
    GGF,
    KINDS,
    LEARNED,
    LESSONS,
    MOVES,
    PGN,
    POSITIONS,
    STUDIES,
)  # fmt: skip
from tests.fuzz.grammars import ROOT, changed, damaged
from tests.fuzz.hostile_lines import streams
from tests.fuzz.law import MEBIBYTES, SECONDS, SLOWER, WATCH, unfit

PLAYING_SECONDS = 1  # of processor time, in which a run that is right has begun
MOST_SECONDS = 4
WAITING_SECONDS = 300.0  # on a busy machine
SMALL = [
    'game = "kalah(4,3)"\npairs = 2\nseed = 5\nopenings = { random_plies = 3 }\n'
    '[agents.a]\nkind = "random"\n[agents.b]\nkind = "greedy"\nrandom_ties = true\n'
    '[[checks]]\nthat = "b beats a"\nscore_at_least = 0.5\n',
    'game = "kalah(4,3)"\npairs = 2\nopenings = "enumerate"\nschedule = { gauntlet = "a" }\n'
    '[stop]\nsprt = { elo0 = 0, elo1 = 50 }\n\n[agents.a]\nkind = "first"\n'
    '[agents.b]\nkind = "last"\n',
]  # fmt: skip
GAME_FILE = (ROOT / "experiments" / "games" / "connect4.py").read_text()
HERE = ("--backend", "here", "--workers", "1", "--known", "off", "--no-page")
RATE = ("arena.rate", "--draws=0")
PERSON = ["3", "f5", "undo", "hint", "help", "restart", "level 3", "quit", "\x04", "9", "a 1"]


@dataclass(frozen=True)
class Command:
    """A command line in which the input stands, or reads it as `file` or from its input."""

    inputs: st.SearchStrategy[bytes]
    words: Callable[[str], Sequence[str]]  # of the input as an argument
    file: str = ""
    plays: bool = False  # whether what is right takes its time


def file_of(name: str, *words: str) -> Callable[[str], Sequence[str]]:
    """The words of a command about a file."""
    return lambda _: [*words[:1], name, *words[1:]]


def fixed(*words: str) -> Callable[[str], Sequence[str]]:
    """The same words whatever the input is."""
    return lambda _: words


SPOKEN = {
    "lines": ["S 4 4 4 4 4 4, N 4 4 4 4 4 4, pots 0-0, South to move;1 2;0.5;9;x", ";;;"],
    "gtp": ["genmove b", "play w d3", "showboard", "boardsize 8", "undo", "3 name", "quit"],
    "nboard": ["set depth 5", "move F5", "go", "ping 3", "hint 2", "learn"],
    "manchester": ["START;South", "START;North", "CHANGE;2;1,2;YOU", "END"],
}
COMMANDS = {
    "arena.run": Command(changed(SMALL), file_of("x.toml", "arena.run", *HERE), "x.toml", True),
    "arena.run shipped": Command(
        changed(EXPERIMENTS, KINDS), file_of("x.toml", "arena.run", *HERE), "x.toml", True
    ),
    "arena.plan": Command(
        changed(EXPERIMENTS, KINDS), file_of("x.toml", "arena.plan"), "x.toml", True
    ),
    "arena.run --set": Command(
        FILES["set"].inputs, lambda text: ["arena.plan", "small.toml", f"--set={text}"]
    ),
    "arena.tune": Command(changed(STUDIES), file_of("x.toml", "arena.tune", "--workers", "1"),
                          "x.toml", True),
    "arena.learn": Command(changed(LESSONS), file_of("x.toml", "arena.learn", "--workers", "1"),
                           "x.toml", True),
    "arena.rate csv": Command(changed(CSV), file_of("x.csv", *RATE), "x.csv"),
    "arena.rate pgn": Command(changed(PGN), file_of("x.pgn", *RATE), "x.pgn"),
    "arena.rate ggf": Command(changed(GGF), file_of("x.ggf", *RATE), "x.ggf"),
    "arena.weights": Command(
        damaged(LEARNED.read_bytes()), fixed("arena.weights", "show", "w.npz"), "w.npz"
    ),
    "arena.ladder": Command(
        FILES["ladder"].inputs, fixed("arena.ladder", "show", "--ladder", "."), "ladder.json"
    ),
    "arena.explain": Command(
        changed([*POSITIONS, *MOVES]),
        lambda text: ["arena.explain", "kalah(4,3)", "--agent=greedy", "--perfect=0", "--", text],
    ),
    "arena.play": Command(
        streams(PERSON, PERSON), fixed("arena.play", "kalah(4,3)", "--first", "human",
                                       "--second", "greedy", "--seed", "1"), "stdin", True
    ),
    "games.perft": Command(changed(GAME_NAMES), lambda text: ["games.perft", "--", text, "1"]),
    "games.perft file": Command(
        changed([GAME_FILE]), fixed("games.perft", "g.py:connect4", "1"), "g.py", True
    ),
    "games.replay": Command(
        changed(MOVES), lambda text: ["games.replay", "kalah(6,4)", "--", text]
    ),
    "games.replay --start": Command(
        changed(POSITIONS), lambda text: ["games.replay", "othello", f"--start={text}", ""]
    ),
    "games.solve": Command(
        changed(POSITIONS), lambda text: ["games.solve", "kalah(2,2)", "--", text], plays=True
    ),
    **{
        f"agents.serve {kind}": Command(
            streams(said, said), fixed("agents.serve", kind, "--agent", "first"), "stdin"
        )
        for kind, said in SPOKEN.items()
    },
    "any words": Command(
        changed(["arena.run x --workers 2 --on tcp://a:1 --budget 3h --seed 4 --pairs 5 --json"]),
        lambda text: ["arena.run", "small.toml", *HERE, *text.split()[:6]], plays=True,
    ),
}  # fmt: skip


def load_commands() -> None:
    """Load here what commands load, but no command itself: it begins in a fork."""
    for command in COMMANDS.values():
        __import__(command.words("x")[0])
    for command in COMMANDS.values():
        sys.modules.pop(command.words("x")[0], None)
    gc.collect()
    gc.freeze()


def broken_command(command: Command, content: bytes) -> str:
    """Which law a command breaks that is given this; nothing if it is answered as it should be."""
    why, seconds = _tried(command, content)
    if not why and seconds > SECONDS:
        why, seconds = _tried(command, content)
        if not why and seconds > SLOWER:
            return f"took {seconds:.1f} s"
    return why


def _tried(command: Command, content: bytes) -> tuple[str, float]:
    """The law that is broken, and the processor time; none where it plays."""
    directory = Path(tempfile.mkdtemp(prefix="pitflip-fuzz-"))  # a fork must not delete it
    try:
        return _judged(command, content, directory)
    finally:
        shutil.rmtree(directory)


def begun(directory: Path, seconds: int) -> bool:
    """Whether what was stopped had begun its work; nothing tells of some, but time."""
    return (directory / "results").exists() or seconds == MOST_SECONDS


def _judged(
    command: Command, content: bytes, directory: Path, seconds: int = PLAYING_SECONDS
) -> tuple[str, float]:
    words = command.words(content.decode(errors="replace").replace("\0", ""))
    (directory / "small.toml").write_text(SMALL[0])
    (directory / "small.csv").write_text(CSV[0])
    (directory / (command.file or "unused")).write_bytes(content)
    (directory / "out").touch()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    seconds = seconds if command.plays else MOST_SECONDS
    child = os.fork()
    if child == 0:
        begin(directory, words, command.file == "stdin", seconds)
    status, use = awaited(child)
    said = (directory / "out").read_bytes().decode(errors="replace")
    if "Traceback (most recent call last)" in said:
        return f"a traceback: {said[-1500:]}", 0.0
    if "wrote outside" in said:
        return said[-300:], 0.0
    if command.plays and status == -signal.SIGXCPU and not begun(directory, seconds):
        return _judged(command, content, directory, MOST_SECONDS)
    if command.plays and status in (DONE, FINDING, -signal.SIGXCPU):
        return "", 0.0  # it is right, and plays as long as that takes
    if (grown := use.ru_maxrss // 1024 - before) > MEBIBYTES:
        return f"took {grown} MiB", 0.0
    return unfit(said, status), use.ru_utime + use.ru_stime


def awaited(child: int) -> tuple[int, resource.struct_rusage]:
    """The exit status of a command, and what it took; one that hangs is ended."""
    until = time.monotonic() + WAITING_SECONDS
    while True:
        found, status, use = os.wait4(child, os.WNOHANG)
        if found:
            break
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.002)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what it has begun
    return os.waitstatus_to_exitcode(status), use


def begin(directory: Path, words: Sequence[str], reads: bool, seconds: int) -> NoReturn:
    """Be the command: in its directory, with its streams, from its argument vector on."""
    status = 99
    try:
        atexit._clear()  # what was to be done at our end is not the command's
        os.setpgid(0, 0)
        os.chdir(directory)
        opened = os.open("stdin" if reads else os.devnull, os.O_RDONLY)
        out = os.open("out", os.O_WRONLY | os.O_APPEND)
        for stream, place in ((opened, 0), (out, 1), (out, 2)):
            os.dup2(stream, place)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 2))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.modules.pop(words[0], None)  # it is begun anew
        sys.argv = list(words)
        sys.orig_argv = [sys.executable, "-m", *words]
        status = status_of_module(words[0], directory)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def status_of_module(module: str, directory: Path) -> int:
    """The exit status of a module that is run as `python -m` runs it, its end included."""
    status = 0
    try:
        with WATCH.only(directory) as written:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
        status = 1
    if written:
        print("wrote outside", json.dumps(written[:3]))
    threading._shutdown()  # type: ignore[attr-defined]  # as Python does before it ends
    atexit._run_exitfuncs()
    return status
