"""Search for inputs that break a law: python -m tools.fuzz --time 30m."""

import argparse
import sys
import time
from collections import Counter
from functools import partial

from arena.commands.options import duration
from tools.fuzz.law import violation
from tools.fuzz.processes import COMMANDS, command_violation, load_commands
from tools.fuzz.search import SearchResult, keep_case, search_inputs
from tools.fuzz.targets import TARGETS

INPUTS_PER_TURN = 20
COMMANDS_PER_TURN = 5
DEFAULT_SECONDS = 60.0


def arguments() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.fuzz",
        description="Try random inputs. A failing input is shortened and kept in tests/fuzz/cases.",
    )
    parser.add_argument(
        "--time", type=duration, default=DEFAULT_SECONDS, help="duration such as 30m (60s)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="first seed (1)")
    parser.add_argument(
        "--only", default="", metavar="WORD", help="only targets whose name contains WORD"
    )
    return parser


def next_inputs(name: str, seed: int) -> SearchResult:
    """Try the next inputs of a target."""
    if name in COMMANDS:
        command = COMMANDS[name]
        return search_inputs(
            command.inputs, partial(command_violation, command), seed, COMMANDS_PER_TURN
        )
    return search_inputs(
        TARGETS[name].inputs, partial(violation, TARGETS[name]), seed, INPUTS_PER_TURN
    )


def main(words: list[str] | None = None) -> int:
    """Try the targets in turn until the time is over; return 1 if an input broke a law."""
    chosen = arguments().parse_args(words)
    names = [name for name in (*TARGETS, *COMMANDS) if chosen.only in name]
    if not names:
        raise SystemExit(f"no target has {chosen.only!r} in its name")
    load_commands()
    end, seed = time.monotonic() + chosen.time, chosen.seed
    inputs, findings = Counter[str](), Counter[str]()
    while time.monotonic() < end:
        for name in names:
            result = next_inputs(name, seed)
            inputs[name] += result.inputs
            if result.finding is not None:
                content, why = result.finding
                findings[name] += 1
                print(f"{name}: {keep_case(name, content)}\n  {why}", flush=True)
            if time.monotonic() >= end:
                break
        seed += 1
    for name, number in inputs.items():
        print(f"{name:20} {number:10,} inputs {findings[name]:6,} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
