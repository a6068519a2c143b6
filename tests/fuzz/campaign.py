"""A long search for inputs that hurt: python -m tests.fuzz.campaign --time 30m."""

import argparse
import hashlib
import sys
import time
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, given, seed, settings

from arena.tune import budget
from tests.fuzz.law import Target, broken
from tests.fuzz.targets import TARGETS

CASES = Path(__file__).parent / "cases"
AT_ONCE = 200  # inputs of one target, then it is the next one's turn


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz.campaign",
        description="Try inputs; what breaks the law is made small and kept as a case to test.",
    )
    parser.add_argument("--time", type=budget, default=60.0, metavar="TIME", help="such as 30m")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="where it begins (1)")
    parser.add_argument("--only", choices=TARGETS, metavar="NAME", help="one target")
    return parser


def found(target: Target, number: int, examples: int) -> tuple[int, tuple[bytes, str] | None]:
    """How many inputs were tried, and the smallest of a kind that breaks the law, with why."""
    tried, last = 0, list[tuple[bytes, str]]()

    @seed(number)
    @settings(
        max_examples=examples, derandomize=False, database=None, deadline=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(target.inputs)
    def one(content: bytes) -> None:
        nonlocal tried
        tried += 1
        if why := broken(target, content):
            last[:] = [(content, why)]
            raise AssertionError(why)

    try:
        one()
    except Exception:  # hypothesis has its own for what comes and goes
        if not last:
            raise
    return tried, last[0] if last else None


def keep(name: str, content: bytes) -> Path:
    """Make a finding a case of the suite."""
    place = CASES / name.replace(" ", "_") / hashlib.blake2b(content, digest_size=5).hexdigest()
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    return place


def main(words: list[str] | None = None) -> int:
    """Search until the time is over; 1 if something was found."""
    chosen = arguments().parse_args(words)
    names = [chosen.only] if chosen.only else list(TARGETS)
    until, number, counts, findings = time.monotonic() + chosen.time, chosen.seed, Counter[str](), 0
    while time.monotonic() < until:
        for name in names:
            tried, finding = found(TARGETS[name], number, AT_ONCE)
            counts[name] += tried
            if finding is not None:
                findings += 1
                print(f"{name}: {keep(name, finding[0])}\n  {finding[1]}", flush=True)
            if time.monotonic() > until:
                break
        number += 1
    for name in names:
        print(f"{name:<18}{counts[name]:>9,} inputs")
    print(f"{'all':<18}{counts.total():>9,} inputs, {findings} findings, seeds from {chosen.seed}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
