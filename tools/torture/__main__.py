"""Disturb runs of all kinds: python -m tools.torture --disturbances 1000 --seed 1 --state DIR.

A campaign that was killed continues when it is started again. The exit status is 1 if a law was
broken; the files of the broken trial are in DIR/evidence.
"""

import os

# Forking is safe with one thread only. Cached games would not be played, so nothing could fail.
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "PITFLIP_CACHE": "off"}

import argparse
import signal
import sys
from pathlib import Path

from tools.torture.campaign import read_journal, run_campaign
from tools.torture.disks import unshare_mounts
from tools.torture.laws import BROKEN, Timeouts
from tools.torture.preload import load_all
from tools.torture.report import count_effective, insert_tables, report_text


def arguments() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.torture",
        description="Disturb runs and check that their results do not change.",
    )
    parser.add_argument(
        "--disturbances",
        type=int,
        default=1000,
        metavar="N",
        help="number of disturbances that reach a running command (1000)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=1,
        metavar="N",
        help="seed of all random choices (1)",
    )
    parser.add_argument(
        "--state", type=Path, default=Path("results/torture"), metavar="DIR",
        help="directory of the journal and of the runs (results/torture)",
    )  # fmt: skip
    parser.add_argument("--only", default="", metavar="NAME", help="one subject or disturbance")
    parser.add_argument("--into", type=Path, metavar="FILE", help="insert the tables into a page")
    return parser


def main(words: list[str] | None = None) -> int:
    """Run trials until enough of them count; return 1 if a law was broken."""
    chosen = arguments().parse_args(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))  # after clean-up
    state = chosen.state.resolve()
    state.mkdir(parents=True, exist_ok=True)
    if count_effective(read_journal(state)) < chosen.disturbances:
        load_all()
        unshare_mounts()
        for line in run_campaign(chosen.seed, state, chosen.only, Timeouts()):
            words_of_it = f": {line.words}" if line.words else ""
            print(f"{line.number:5}  {line.subject:14} {line.disturbance:32} {line.verdict}"
                  f"{words_of_it}", flush=True)  # fmt: skip
            if count_effective(read_journal(state)) >= chosen.disturbances:
                break
    lines = read_journal(state)
    text = report_text(lines)
    print(f"\n{text}")
    if chosen.into:
        insert_tables(chosen.into, text)
    return int(any(line.verdict in BROKEN for line in lines))


if __name__ == "__main__":
    sys.exit(main())
