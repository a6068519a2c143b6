"""Search the inputs of a target for the smallest one that breaks a law."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

CASES = Path(__file__).parents[2] / "tests" / "fuzz" / "cases"
MOST_SHORTER = 200  # lines that `shorten` tries to delete
Judge = Callable[[bytes], str]  # returns which law an input breaks


class SearchResult(NamedTuple):
    """The number of inputs and lines, and an input that breaks a law, with the reason."""

    inputs: int
    lines: int
    finding: tuple[bytes, str] | None


def search_inputs(
    inputs: SearchStrategy[bytes], judge: Judge, number: int, examples: int
) -> SearchResult:
    """Try `examples` inputs of the seed `number`; return the smallest that breaks a law."""
    count, lines, last = 0, 0, list[tuple[bytes, str]]()

    @seed(number)
    @settings(
        max_examples=examples, derandomize=False, database=None, deadline=None,
        suppress_health_check=list(HealthCheck), phases=(Phase.generate, Phase.shrink),
    )  # fmt: skip
    @given(inputs)
    def one(content: bytes) -> None:
        nonlocal count, lines
        count += 1
        lines += content.count(b"\n") + 1
        if why := judge(content):
            last[:] = [(content, why)]
            raise AssertionError(why)

    try:
        one()
    except Exception:  # Hypothesis raises its own for flaky failures
        if not last:
            raise
    return SearchResult(count, lines, shorten(*last[0], judge) if last else None)


def shorten(content: bytes, why: str, judge: Judge) -> tuple[bytes, str]:
    """Return the input without the lines that are not needed to break a law."""
    lines = content.split(b"\n")
    for place in reversed(range(min(len(lines), MOST_SHORTER))):
        rest = lines[:place] + lines[place + 1 :]
        if rest and (still := judge(b"\n".join(rest))):
            lines, why = rest, still
    return b"\n".join(lines), why


def keep_case(name: str, content: bytes, cases: Path = CASES) -> Path:
    """Store a finding as a case of the test suite."""
    place = cases / name.replace(" ", "_") / hashlib.blake2b(content, digest_size=5).hexdigest()
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    return place
