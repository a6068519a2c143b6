"""Disturb runs of every sort: python -m tools.torture --disturbances 1000 --seed 1 --state DIR.

Killed, it goes on where it was. The status is 1 if a law was broken: what broke it lies in
DIR/evidence.
"""

import os

# A process that forks has one thread, and what was played before is played again.
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "PITFLIP_CACHE": "off"}

import argparse
import signal
import sys
from pathlib import Path

from tools.torture.campaign import campaign, stored
from tools.torture.disks import own_mounts
from tools.torture.laws import BROKEN, Patience
from tools.torture.loaded import load_all
from tools.torture.printed import effective, into, printed


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.torture", description="Disturb runs, and see that nothing differs."
    )
    parser.add_argument("--disturbances", type=int, default=1000, metavar="N", help="(1000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="what is done when (1)")
    parser.add_argument(
        "--state", type=Path, default=Path("results/torture"), metavar="DIR",
        help="the journal of the campaign, and what is run (results/torture)",
    )  # fmt: skip
    parser.add_argument("--only", default="", metavar="NAME", help="one subject or disturbance")
    parser.add_argument("--into", type=Path, metavar="FILE", help="a page to put the tables into")
    return parser


def main(words: list[str] | None = None) -> int:
    """Go on until so many disturbances were not too late; 1 if a law was broken."""
    chosen = arguments().parse_args(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))  # what was begun is ended first
    state = chosen.state.resolve()
    state.mkdir(parents=True, exist_ok=True)
    if effective(stored(state)) < chosen.disturbances:
        load_all()
        own_mounts()
        for line in campaign(chosen.seed, state, chosen.only, Patience()):
            words_of_it = f": {line.words}" if line.words else ""
            print(f"{line.number:5}  {line.subject:14} {line.disturbance:26} {line.verdict}"
                  f"{words_of_it}", flush=True)  # fmt: skip
            if effective(stored(state)) >= chosen.disturbances:
                break
    lines = stored(state)
    text = printed(lines)
    print(f"\n{text}")
    if chosen.into:
        into(chosen.into, text)
    return int(any(line.verdict in BROKEN for line in lines))


if __name__ == "__main__":
    sys.exit(main())
