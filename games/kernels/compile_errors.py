"""Numba's errors about a user's function, cut to one screen: the line, the reason, advice."""

import re
from collections.abc import Iterator
from pathlib import Path

MOST_LINES = 4
ADVICE = (
    "What compiles: numbers, tuples (as constants, not lists), arithmetic, if, for, while, math,\n"
    "functions of the same file, and the features and rules imported from agents and games."
)
NOISE = re.compile(
    r"Failed in|During:|There are \d|- |Overload|Operator|With argument|No match|Rejected|"
    r"Typing|Enable|raised from|The above|\* |Unknown location"
)
QUOTED = re.compile(r'\s*File "[^"]+", line \d+:')  # before lines of the source


def compile_error(error: Exception, path: Path) -> str:
    """The place in the user's file, the line there, the reason, what compiles instead."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    told = [line for line in without_source(text) if not NOISE.match(line)]
    number = line_of(text, path)
    place = [f"line {number}: {source_line(path, number)}"] if number else []
    return "\n".join([*place, *told[:MOST_LINES], ADVICE])


def without_source(text: str) -> Iterator[str]:
    """The lines of an error without those that repeat a source; nothing is indented."""
    repeats = False
    for line in text.splitlines():
        if QUOTED.match(line):
            repeats = True
        elif repeats:
            repeats = line.strip(" ~^") != ""
        elif line.strip():
            yield line.strip().removesuffix(". Raised from None")


def line_of(text: str, path: Path) -> int | None:
    """The first line of the user's file that Numba names: the innermost, where it gave up."""
    found = re.search(rf'{re.escape(path.name)}"?(?:, line |\s*\(|:)(\d+)', text)
    return int(found[1]) if found else None


def source_line(path: Path, number: int) -> str:
    """The line of the file, without its indentation."""
    lines = path.read_text().splitlines()
    return lines[number - 1].strip() if number <= len(lines) else ""
