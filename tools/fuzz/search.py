"""A search for inputs that hurt: one target, some inputs, and the smallest that breaks the law."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

CASES = Path(__file__).parents[2] / "tests" / "fuzz" / "cases"
MOST_SHORTER = 200  # lines that are tried to be left out
Judge = Callable[[bytes], str]  # which law an input breaks


class Found(NamedTuple):
    """How much was tried, and an input that breaks the law, with why."""

    inputs: int
    lines: int
    finding: tuple[bytes, str] | None


def found(inputs: SearchStrategy[bytes], judge: Judge, number: int, examples: int) -> Found:
    """So many inputs, told apart from others by a number; the smallest of a kind that breaks."""
    tried, lines, last = 0, 0, list[tuple[bytes, str]]()

    @seed(number)
    @settings(
        max_examples=examples, derandomize=False, database=None, deadline=None,
        suppress_health_check=list(HealthCheck), phases=(Phase.generate, Phase.shrink),
    )  # fmt: skip
    @given(inputs)
    def one(content: bytes) -> None:
        nonlocal tried, lines
        tried += 1
        lines += content.count(b"\n") + 1
        if why := judge(content):
            last[:] = [(content, why)]
            raise AssertionError(why)

    try:
        one()
    except Exception:  # hypothesis has its own for what comes and goes
        if not last:
            raise
    return Found(tried, lines, shorter(*last[0], judge) if last else None)


def shorter(content: bytes, why: str, judge: Judge) -> tuple[bytes, str]:
    """The input without the lines that it does not need to break the law."""
    lines = content.split(b"\n")
    for place in reversed(range(min(len(lines), MOST_SHORTER))):
        rest = lines[:place] + lines[place + 1 :]
        if rest and (still := judge(b"\n".join(rest))):
            lines, why = rest, still
    return b"\n".join(lines), why


def keep(name: str, content: bytes, cases: Path = CASES) -> Path:
    """Make a finding a case of the suite."""
    place = cases / name.replace(" ", "_") / hashlib.blake2b(content, digest_size=5).hexdigest()
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    return place
