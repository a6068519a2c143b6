"""Who plays like whom: equal moves on the same positions: pitflip agreement RUN."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from games.base.cli import CommandParser, here
from games.base.errors import DONE, Mistake, printable, run, status_of
from games.base.progress_line import ProgressLine
from games.base.text import listed, whole

if TYPE_CHECKING:  # they load tables and the compiler
    from arena.analysis.move_losses.run_lines import JudgedRun
    from arena.concluding.agreement_rows import AgreementRow
    from arena.playing.asked_agents import Way
    from arena.stats.same_moves import Agreement

POSITIONS, SEEDS = range(50, 1_000_001), range(1 << 32)
SHOWN = 8
# Players of ours that are only there to be compared with, so that two agents have others too.
FIELD: tuple[tuple[str, dict[str, object]], ...] = (
    ("alphabeta", {"depth": 2}),
    ("alphabeta", {"depth": 5}),
    ("greedy", {}),
)
EXAMPLE = """\
example:
  pitflip agreement results/kalah_ladder/2f3de8a327 --positions 1000"""


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandParser(
        prog=here("pitflip agreement"),
        description="Asks all agents of a run for a move in the same positions of its games, and "
        "counts for every pair how often they choose the same one, beside what is expected of "
        "players who choose by themselves as well as these two do.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="a run's directory")
    parser.add_argument("--positions", default="1000", metavar="N", help="how many (1000)")
    parser.add_argument("--seed", default="1", metavar="N", help="which ones (1)")
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command; 2 if the run has no positions or too few agents answer."""
    chosen = arguments().parse_args(words)
    return status_of("pitflip agreement", lambda: agreed(chosen))


def agreed(chosen: argparse.Namespace) -> int:
    """Ask, count, keep and print; the exit status."""
    number = whole("pitflip agreement", "--positions", chosen.positions, POSITIONS)
    seed = whole("pitflip agreement", "--seed", chosen.seed, SEEDS)
    from arena.analysis.move_losses.run_lines import judged_run  # noqa: PLC0415
    from arena.concluding.agreement_rows import TABLE, agreement_rows  # noqa: PLC0415
    from arena.stats.same_moves import groups  # noqa: PLC0415
    from arena.storage.parquet import write_rows  # noqa: PLC0415

    from_run = judged_run(chosen.run)
    words = f"asking {len(from_run.plan.names)} agents for their moves"
    with ProgressLine() as line, line.watch(lambda seconds: [f"{words}, {seconds:.0f} s"]):
        positions = sampled(from_run, number, seed)
        names, found = counted(from_run, positions, seed)
    rows = agreement_rows(found, names)
    write_rows(chosen.run / TABLE, type(rows[0]), rows, from_run.source)
    tell(f"{len(names)} agents on {len(positions):,} positions of {from_run.of.name}")
    show(rows)
    for group in groups(found):
        tell(f"{listed(names[each] for each in group)} play identically ({basis(found, group)})")
    tell(f"table: {chosen.run / TABLE}")
    return DONE


def basis(found: "Sequence[Agreement]", group: "tuple[int, ...]") -> str:
    """What it rests on that agents play identically."""
    fewest = min((each for each in found if {each.a, each.b} <= {*group}), key=lambda e: e.equal)
    return f"the same move in {fewest.equal:,} of {fewest.positions:,} positions"


def tell(line: str) -> None:
    """Print a line with names from outside in it."""
    print(printable(line), flush=True)


def sampled(of_run: "JudgedRun", number: int, seed: int) -> "list[Way]":
    """Different positions of the run's games that have a choice, each with the way to it."""
    import numpy as np  # noqa: PLC0415

    of, lines = of_run.of, of_run.words
    plies = np.array([len(line) for line in lines])
    ends = np.cumsum(plies)
    total = int(ends[-1]) if len(ends) else 0
    order = np.random.default_rng(seed).permutation(total)[: 4 * number]
    wanted: dict[int, list[int]] = {}
    for place in order.tolist():
        line = int(np.searchsorted(ends, place, side="right"))
        wanted.setdefault(line, []).append(place - int(ends[line] - plies[line]))
    found: dict[str, Way] = {}
    for line, at in wanted.items():
        passed = of.replay(" ".join(lines[line][: max(at)]))
        for ply in at:
            if len(of.legal(passed[ply])) > 1 and len(found) < number:
                found.setdefault(of.text(passed[ply]), passed[: ply + 1])
    if not found:
        raise Mistake(f"{of_run.directory}: its games have no position with a choice")
    return list(found.values())


def counted(
    of_run: "JudgedRun", ways: "list[Way]", seed: int
) -> "tuple[tuple[str, ...], list[Agreement]]":
    """The agents that answered, and all their pairs."""
    import numpy as np  # noqa: PLC0415

    from agents.core import AgentSpec  # noqa: PLC0415
    from arena.playing.asked_agents import asked  # noqa: PLC0415
    from arena.playing.clock import time_control  # noqa: PLC0415
    from arena.stats.same_moves import agreements  # noqa: PLC0415

    of, plan = of_run.of, of_run.plan
    field = {f"\0{place}": AgentSpec(kind, options) for place, (kind, options) in enumerate(FIELD)}
    positions = [way[-1] for way in ways]
    seconds = max(time_control(plan, spec).move for spec in plan.agents.values())
    answers = asked(of, {**plan.agents, **field}, positions, seed, seconds, ways)
    moves = {name: each for name, each in answers.items() if not isinstance(each, str)}
    for name in plan.names:
        if isinstance(why := answers[name], str):
            tell(f"{name} is left out: {why}")
    names = tuple(name for name in plan.names if name in moves)
    if len(names) < 2:
        raise Mistake("fewer than two agents answered: there is nobody to compare")
    kept = [*names, *(name for name in field if name in moves)]
    return names, agreements(np.array([moves[name] for name in kept]), len(names))


def show(rows: "list[AgreementRow]") -> None:
    """The pairs that agree most beyond what is expected."""
    width = max(len(row.agent) + len(row.other) for row in rows[:SHOWN]) + 5
    tell(f"{'agents':<{width}}  equal moves  expected")
    for row in rows[:SHOWN]:
        pair = f"{row.agent} and {row.other}"
        tell(f"{pair:<{width}}  {100 * row.share:9.1f} %  {100 * row.expected:6.1f} %")
    if len(rows) > SHOWN:
        tell(f"... and {len(rows) - SHOWN:,} pairs that agree less, beside what is expected")


if __name__ == "__main__":
    run(main)
