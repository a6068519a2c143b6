"""Simulate how far a cluster scales from measured costs: python -m benchmarks.cluster_scale."""

import argparse
import json
import os
import re
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from agents.core import AgentSpec
from arena.planning.plan import OpeningsSpec
from arena.planning.tasks import BATCH_SECONDS, MAX_PAIRS
from arena.playing.cluster.dask_executor import MAX_AHEAD, MAX_BYTES
from arena.playing.play import MAX_TASKS_PER_SECOND
from benchmarks.cluster_costs import (
    Costs,
    Match,
    measure_costs,
    measure_match,
    sleep_seconds,
    sleeping_cluster,
)
from benchmarks.cluster_machines import local_cluster
from benchmarks.cluster_picture import picture
from benchmarks.cluster_simulation import Flow, Work, flow
from benchmarks.run import processor
from benchmarks.sleepers import Nap

EVIDENCE = Path(__file__).parents[1] / "docs" / "evidence"
PAGE, PICTURE = EVIDENCE / "cluster.md", EVIDENCE / "cluster-scale.svg"
PLACE = re.compile(r"(?<=<!-- scale -->\n).*?(?=<!-- end of scale -->)", re.DOTALL)
SLOTS = tuple(1 << power for power in range(9))
LENGTHS = (0.05, 0.12, 0.25, 1.0)
# Scheduler, client and workers share two cores, which can handle only few tasks a second.
CHECKS = ((8, 0.25), (16, 0.5), (32, 1.0))
CHECK_BATCHES = 8  # for each slot
MIRROR = "alphabeta depth 6 mirror, moves not kept"
RANDOM = "random games, moves not kept"
NAP_BYTES = 5_000
COLUMNS = 115
READING = (
    f"The columns `{LENGTHS[0]:g} s` to `{LENGTHS[-1]:g} s` are the share of their time that "
    "workers spend playing the first kind of games, by the length of a task. `as sent` is the "
    f"length that Pitflip chooses: {BATCH_SECONDS:g} s, and longer for many workers, so that a "
    f"scheduler has {MAX_TASKS_PER_SECOND} tasks a second; the columns after it are for that "
    "length. `client` and "
    "`scheduler` are the shares of time that these two are busy; `waiting` is the most data that "
    "the client may hold back until an older result arrives. The last column shows the other "
    "extreme: games so short that the client, which stores them, is the bottleneck."
)


class Measurements(NamedTuple):
    """All inputs of the simulation."""

    costs: Costs
    matches: tuple[Match, ...]
    checks: tuple[tuple[int, float, float], ...]  # slots, length, batches a second
    machine: str


def measure() -> Measurements:
    """Measure on this machine; this takes about a minute."""
    openings = OpeningsSpec("random", {"random_plies": 6})
    mirror = measure_match(MIRROR, AgentSpec("alphabeta", depth=6), openings, 10, 100)
    start = OpeningsSpec("none", {}, repeat=True)
    random = measure_match(RANDOM, AgentSpec("random"), start, 1_000, 20_000)
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    machine = f"{processor()}, {os.cpu_count()} cores{load}"
    return Measurements(
        measure_costs(), (mirror, random), tuple(map(_real_batch_rate, CHECKS)), machine
    )


def _real_batch_rate(case: tuple[int, float]) -> tuple[int, float, float]:
    """Return the batches a second of a real cluster whose workers sleep."""
    slots, seconds = case
    with local_cluster(1, slots) as there, sleeping_cluster(there) as executor:
        count = CHECK_BATCHES * slots
        return slots, seconds, count / sleep_seconds(executor, Nap(seconds, NAP_BYTES), count)


def chosen_length(slots: int) -> float:
    """Return the length in seconds that Pitflip chooses for a task, given the slots."""
    return max(BATCH_SECONDS, slots / MAX_TASKS_PER_SECOND)


def work_of(match: Match, seconds: float) -> Work:
    """Return batches of a match that take `seconds`, limited to the largest batch size."""
    games = min(max(2.0, seconds / match.game_seconds), 2.0 * MAX_PAIRS)
    keep = match.keep_batch + games * match.keep_game
    return Work(games * match.game_seconds, games * match.game_bytes, keep)


def games_a_second(match: Match, work: Work, seen: Flow) -> float:
    """Convert a flow of batches to games a second."""
    return seen.batches * work.seconds / match.game_seconds


def table(of: Measurements) -> str:
    """Return the simulated figures as a Markdown table, one row per number of workers."""
    mirror, random = of.matches
    head = [
        "workers", *(f"{length:g} s" for length in LENGTHS), "as sent", "games/s", "MB/s",
        "client", "scheduler", "waiting, at most", "random games/s",
    ]  # fmt: skip
    rows = [head, ["--:"] * len(head)]
    for slots in SLOTS:
        shares = [flow(of.costs, work_of(mirror, each), slots) for each in LENGTHS]
        length = chosen_length(slots)
        work, quick = work_of(mirror, length), work_of(random, length)
        seen, fast = flow(of.costs, work, slots), flow(of.costs, quick, slots)
        games = games_a_second(mirror, work, seen)
        rows.append([
            str(slots),
            *(f"{100 * each.workers:.0f} %" for each in shares),
            f"{length:.2g} s",
            f"{games:,.0f}",
            f"{seen.batches * work.bytes / 1e6:,.2f}",
            f"{100 * seen.client:.0f} %",
            f"{100 * seen.scheduler:.0f} %",
            f"{min(MAX_AHEAD * slots * work.bytes, MAX_BYTES) / 1e6:,.1f} MB",
            f"{games_a_second(random, quick, fast) / 1e6:.2g} M",
        ])  # fmt: skip
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def lines(of: Measurements) -> dict[str, list[float]]:
    """Return the lines of the picture: the share of time that workers play, by task length."""
    mirror = of.matches[0]
    shares = {
        f"{length:g} s": [flow(of.costs, work_of(mirror, length), n).workers for n in SLOTS]
        for length in LENGTHS
    }
    chosen = [flow(of.costs, work_of(mirror, chosen_length(n)), n).workers for n in SLOTS]
    return {**shares, "as sent": chosen}


def section(of: Measurements) -> str:
    """Return the generated section of the page: paragraphs, table and picture."""
    alt = "The share of time that workers play, by their number and the length of a task"
    parts = [_costs_text(of), _check_text(of), table(of), READING, f"![{alt}]({PICTURE.name})"]
    wide = [part if part[0] in "|!" else textwrap.fill(part, COLUMNS) for part in parts]
    return "\n" + "\n\n".join(wide) + "\n"


def _costs_text(of: Measurements) -> str:
    each, (mirror, random) = of.costs, of.matches
    return (
        "**Simulated, not measured**: this machine cannot run 256 workers. Only processor times "
        "are measured, with a real scheduler and two real workers on this machine "
        f"({of.machine}). A task costs the client {1e3 * each.client_task:.2f} ms, the scheduler "
        f"{1e3 * each.scheduler_task:.2f} ms and its worker {1e3 * each.worker_task:.2f} ms; a "
        f"megabyte of results the client {1e9 * each.client_byte:.2f} ms and the scheduler "
        f"{1e9 * each.scheduler_byte:.2f} ms; a round trip takes "
        f"{1e3 * each.trip:.0f} ms. A game of `{mirror.name}` takes "
        f"{1e3 * mirror.game_seconds:.2f} ms and {mirror.game_bytes:.0f} bytes, one of "
        f"`{random.name}` {1e6 * random.game_seconds:.1f} µs, {random.game_bytes:.0f} bytes, and "
        f"{1e6 * random.keep_game:.2f} µs of the client to store."
    )


def _check_text(of: Measurements) -> str:
    checked = "; ".join(
        f"{slots} workers, tasks of {seconds:g} s: {rate:.1f} a second, simulated "
        f"{flow(of.costs, Work(seconds, NAP_BYTES), slots).batches:.1f}"
        for slots, seconds, rate in of.checks
    )
    return (
        "The table comes from a discrete-event simulation with these costs: client, scheduler and "
        "workers each do one thing at a time, and the network only adds latency. Real clusters on "
        f"this machine whose workers only sleep complete nearly as many tasks: {checked}."
    )


def main(words: Sequence[str] | None = None) -> int:
    """Print the table; with --write, put it and the picture into the docs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster_scale", description=__doc__)
    parser.add_argument(
        "--write", action="store_true", help="update docs/evidence/cluster.md and its picture"
    )
    chosen = parser.parse_args(words)
    of = measure()
    print(json.dumps(of.costs._asdict()), file=sys.stderr)
    print(section(of))
    if chosen.write:
        page = PAGE.read_text()
        PAGE.write_text(PLACE.sub(lambda _: section(of), page))
        PICTURE.write_text(picture(SLOTS, lines(of)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
