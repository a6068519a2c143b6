"""Search for inputs that break the law: python -m tools.fuzz --time 30m."""

import argparse
import sys
import time
from collections import Counter
from functools import partial

from arena.commands.options import duration
from tools.fuzz.law import broken
from tools.fuzz.processes import COMMANDS, broken_command, load_commands
from tools.fuzz.search import Found, found, keep
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
    parser.add_argument("--time", type=duration, default=DEFAULT_SECONDS, help="such as 30m (60s)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="the first seed (1)")
    parser.add_argument("--only", default="", metavar="WORD", help="targets with it in their name")
    return parser


def next_inputs(name: str, seed: int) -> Found:
    """Try the next inputs of a target."""
    if name in COMMANDS:
        command = COMMANDS[name]
        return found(command.inputs, partial(broken_command, command), seed, COMMANDS_PER_TURN)
    return found(TARGETS[name].inputs, partial(broken, TARGETS[name]), seed, INPUTS_PER_TURN)


def main(words: list[str] | None = None) -> int:
    """Take turns until the time is over; the status is 1 if an input broke the law."""
    chosen = arguments().parse_args(words)
    names = [name for name in (*TARGETS, *COMMANDS) if chosen.only in name]
    if not names:
        raise SystemExit(f"no target has {chosen.only!r} in its name")
    load_commands()
    end, seed = time.monotonic() + chosen.time, chosen.seed
    inputs, findings = Counter[str](), Counter[str]()
    while time.monotonic() < end:
        for name in names:
            tried = next_inputs(name, seed)
            inputs[name] += tried.inputs
            if tried.finding is not None:
                content, why = tried.finding
                findings[name] += 1
                print(f"{name}: {keep(name, content)}\n  {why}", flush=True)
            if time.monotonic() >= end:
                break
        seed += 1
    for name, number in inputs.items():
        print(f"{name:20} {number:10,} inputs {findings[name]:6,} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
