"""A long search for inputs that hurt: python -m tests.fuzz.campaign --time 30m."""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from arena.commands.tune import budget
from arena.storage.provenance import code_digest
from tests.fuzz.law import broken
from tests.fuzz.printed import into, printed
from tests.fuzz.processes import COMMANDS, broken_command, load_commands
from tests.fuzz.search import Found, found, keep
from tests.fuzz.targets import BOTS, PAGES, TARGETS

AT_ONCE = 200  # inputs of one target, then it is the next one's turn
COMMANDS_AT_ONCE = 20
USUAL_SECONDS = 60.0


class Counted(NamedTuple):
    """What was tried of one target with one seed: a line of the journal."""

    sort: str  # file, bot or command
    name: str
    seed: int
    inputs: int
    lines: int
    finding: str  # why the law was broken; empty if it was not
    code: str


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz.campaign",
        description="Try inputs; what breaks the law is made small and kept as a case to test.",
    )
    parser.add_argument("--time", type=budget, metavar="TIME", help="such as 30m")
    parser.add_argument("--files", type=int, default=0, metavar="N", help="so many in all")
    parser.add_argument("--lines", type=int, default=0, metavar="N", help="of every protocol")
    parser.add_argument("--commands", type=int, default=0, metavar="N", help="so many in all")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="where it begins (1)")
    parser.add_argument("--only", metavar="WORD", help="targets with this word in their name")
    parser.add_argument("--journal", type=Path, metavar="FILE", help="keep counts there, and go on")
    parser.add_argument("--into", type=Path, metavar="PAGE", help="put the journal's table there")
    return parser


def sort_of(name: str) -> str:
    """What a target reads."""
    return "bot" if name in BOTS or name in PAGES else "command" if name in COMMANDS else "file"


def stored(journal: Path | None) -> list[Counted]:
    """What earlier searches have counted."""
    if journal is None or not journal.exists():
        return []
    return [Counted(*json.loads(line)) for line in journal.read_text().splitlines()]


def batch(name: str, number: int) -> Found:
    """The next inputs of a target."""
    if name in COMMANDS:
        command = COMMANDS[name]
        return found(command.inputs, partial(broken_command, command), number, COMMANDS_AT_ONCE)
    return found(TARGETS[name].inputs, partial(broken, TARGETS[name]), number, AT_ONCE)


def wanted(chosen: argparse.Namespace, names: list[str]) -> Mapping[str, int]:
    """How many inputs, or lines of bots, each target is to have; none: as the time allows."""
    sums = {"file": chosen.files, "command": chosen.commands}
    weights = Counter[str]()
    for name in names:
        weights[sort_of(name)] += weight(name)
    return {
        name: chosen.lines if sort == "bot" else -(-sums[sort] * weight(name) // weights[sort])
        for name in names
        if (sort := sort_of(name))
    }


def weight(name: str) -> int:
    """How many inputs a target gets beside the others; few if what is right takes its time."""
    return 1 if name in COMMANDS and COMMANDS[name].plays else 5


def searched(chosen: argparse.Namespace, names: list[str]) -> Iterator[Counted]:
    """One batch after another, until all goals are reached or the time is over."""
    code, begun = code_digest(), time.monotonic()
    past, goals = stored(chosen.journal), wanted(chosen, names)
    seeds = Counter(line.name for line in past)
    reached = Counter[str]()
    for line in past:
        reached[line.name] += line.lines if line.sort == "bot" else line.inputs
    while left := [name for name in names if chosen.time or reached[name] < goals[name]]:
        for name in left:
            number = chosen.seed + seeds[name]
            tried = batch(name, number)
            seeds[name] += 1
            reached[name] += tried.lines if sort_of(name) == "bot" else tried.inputs
            why = ""
            if tried.finding is not None:
                content, why = tried.finding
                print(f"{name}: {keep(name, content)}\n  {why}", flush=True)
            yield Counted(sort_of(name), name, number, tried.inputs, tried.lines, why, code)
            if chosen.time and time.monotonic() - begun > chosen.time:
                return


def main(words: list[str] | None = None) -> int:
    """Search until the time is over, or all is tried; 1 if something was found."""
    chosen = arguments().parse_args(words)
    if not (chosen.files or chosen.lines or chosen.commands or chosen.time):
        chosen.time = USUAL_SECONDS
    names = [*TARGETS, *(COMMANDS if chosen.commands else ())]
    if chosen.only:
        names = [name for name in names if chosen.only in name]
    if chosen.commands:
        load_commands()
    lines, new = stored(chosen.journal), list[Counted]()
    for line in searched(chosen, names):
        new.append(line)
        if chosen.journal is not None:
            with chosen.journal.open("a") as file:
                file.write(json.dumps(line) + "\n")
    text = printed([*lines, *new])
    if chosen.into is not None:
        into(chosen.into, text)
    print(text)
    return 1 if any(line.finding for line in new) else 0


if __name__ == "__main__":
    sys.exit(main())
