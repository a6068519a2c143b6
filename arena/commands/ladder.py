"""Place newcomers in a standing ladder."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from arena.config.command_line import add_workers, number_of, same_command, with_cluster
from arena.config.user_settings import is_address
from arena.playing.options import Interrupts
from games.base.cli import CommandParser, shell_command
from games.base.errors import OK, UserError, print_error, print_lines, printable, status_of

if TYPE_CHECKING:
    from agents.core import AgentSpec
    from arena.pipeline.ladder import Ladder, LadderRow
    from arena.planning.plan import Plan

EXAMPLE = """\
example:
  pitflip ladder new experiments/kalah_ladder.toml   its game and openings, its agents
  pitflip ladder add my_bot.toml                     [agents.NAME] tables, as in experiments
exit status: 0 done, 2 a mistake, 3 not finished: the same command continues"""
LADDER = Path("ladder")
PLAYING = ("new", "add")  # the commands that play


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandParser(
        prog=shell_command("pitflip ladder"),
        description="Keep a ladder: a newcomer plays only until its place is known.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    words = parser.add_subparsers(dest="word", metavar="COMMAND", required=True)
    for name, (help_, places) in SUBCOMMANDS.items():
        own = words.add_parser(name, help=help_, description=help_)
        for place, more in places.items():
            own.add_argument(place, **more)  # type: ignore[arg-type]  # the words of argparse
        own.add_argument("--ladder", type=Path, default=LADDER, metavar="DIR", help="not ladder/")
        add_workers(own)
        own.add_argument("--quiet", action="store_true", help="print nothing but the table")
        if name in PLAYING:
            own.add_argument(
                "--on", type=is_address, metavar="ADDRESS",
                help="play on a Dask cluster, as arena.run",
            )  # fmt: skip
    return parser


FILE = {"type": Path, "metavar": "FILE", "help": "a TOML file: docs/experiment-file.md"}
SUBCOMMANDS: Mapping[str, tuple[str, Mapping[str, Mapping[str, object]]]] = {
    "new": ("begin a ladder as an experiment plays, with its agents", {"experiment": FILE}),
    "add": ("place the agents of files", {"files": {**FILE, "nargs": "+"}}),
    "remove": ("take an agent out; its games stay known", {"name": {}}),
    "rename": ("give an agent another name", {"name": {}, "new_name": {}}),
    "anchor": ("hold an agent at a rating", {"name": {}, "elo": {"type": float}}),
    "show": ("print the table", {}),
}


def main(words: list[str] | None = None) -> int:
    """Run the command; 2 if it cannot be done."""
    chosen, interrupts = arguments().parse_args(words), Interrupts()
    again = same_command("pitflip ladder", words)
    with interrupts.installed():
        return status_of("pitflip ladder", lambda: done(chosen, interrupts), again)


def done(chosen: argparse.Namespace, interrupts: Interrupts) -> int:
    """Do what is asked, then print the table; the exit status."""
    # After --help, which needs none of it.
    from arena.pipeline.ladder import (  # noqa: PLC0415
        plan_for_ladder,
        read_ladder,
        read_ladder_agents,
    )
    from arena.storage.journal import lock_directory  # noqa: PLC0415

    if chosen.word == "new":  # mistakes come before a directory is made
        plan, values = plan_for_ladder(chosen.experiment)
        found = read_ladder_agents(chosen.experiment, plan)
    else:
        read_ladder(chosen.ladder)
    lock = lock_directory(chosen.ladder)
    try:
        if chosen.word == "new":
            _begin(plan, values, found, chosen, interrupts)
        elif chosen.word == "add":
            _add(chosen, interrupts)
        elif chosen.word != "show":
            CHANGES[chosen.word](read_ladder(chosen.ladder), chosen).save()
        lines = table_lines(read_ladder(chosen.ladder))
        interrupts.finish()
        print_lines(*lines)
    finally:
        os.close(lock)
    return OK


def rename_agent(ladder: "Ladder", chosen: argparse.Namespace) -> "Ladder":
    """Return the ladder with one agent called by another name."""
    from arena.config.agents import is_valid_agent_name  # noqa: PLC0415  # as above

    if not is_valid_agent_name(chosen.new_name):
        raise UserError(f"an agent cannot be called {printable(chosen.new_name)!r}")
    return ladder.renamed(chosen.name, chosen.new_name)


CHANGES: Mapping[str, "Callable[[Ladder, argparse.Namespace], Ladder]"] = {
    "remove": lambda ladder, chosen: ladder.without(chosen.name),
    "rename": rename_agent,
    "anchor": lambda ladder, chosen: ladder.anchored(chosen.name, chosen.elo),
}


def _add(chosen: argparse.Namespace, interrupts: Interrupts) -> None:
    """Place the agents of the files, one after the other."""
    from arena.pipeline.ladder import is_there, read_ladder, read_ladder_agents  # noqa: PLC0415

    ladder = read_ladder(chosen.ladder)
    found = [pair for path in chosen.files for pair in read_ladder_agents(path, ladder.plan)]
    _refuse_twins(found)
    changed = [pair for pair in found if not is_there(ladder, *pair)]
    if not changed:
        ladder.must_not_have(found[0][0])
    _place(ladder, changed, chosen, interrupts)


def _begin(
    plan: "Plan",
    values: Mapping[str, object],
    found: "list[tuple[str, AgentSpec]]",
    chosen: argparse.Namespace,
    interrupts: Interrupts,
) -> None:
    """Begin a ladder and place its agents, or continue; after a mistake nothing of it is left."""
    from arena.pipeline.ladder import (  # noqa: PLC0415  # as above
        LADDER,
        create_ladder,
        remove_ladder,
    )

    continued = (chosen.ladder / LADDER).exists()
    ladder = create_ladder(chosen.ladder, plan, values)
    try:
        missing = [(name, spec) for name, spec in found if name not in ladder.names]
        replace(_place(ladder, missing, chosen, interrupts), unfinished=False).save()
    except UserError:
        if not continued:
            remove_ladder(chosen.ladder)
        raise


def _refuse_twins(found: "list[tuple[str, AgentSpec]]") -> None:
    """Refuse two agents of one name."""
    names = [name for name, _ in found]
    if twins := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise UserError(f"two of the agents are called {printable(twins[0])!r}: rename one")


def _place(
    ladder: "Ladder",
    found: "list[tuple[str, AgentSpec]]",
    chosen: argparse.Namespace,
    interrupts: Interrupts,
) -> "Ladder":
    """The ladder with these agents, one after the other."""
    from agents.sandbox.sandbox import Sandbox  # noqa: PLC0415  # as above
    from arena.pipeline.ladder import placed  # noqa: PLC0415
    from arena.playing.options import PlayOptions  # noqa: PLC0415

    wall = Sandbox()
    try:
        here_alone = PlayOptions(number_of(chosen.workers), interrupts, wall=wall)
        with with_cluster(here_alone, chosen.on) as options:
            for name, spec in found:
                step = placed(ladder, name, spec, options, chosen.quiet)
                ladder = step.ladder
                if not chosen.quiet:
                    known = f", {step.known:,} of them known" if step.known else ""
                    print_error(f"{step.answer}: {step.games:,} games{known}")
    finally:
        wall.close()
    return ladder


def table_lines(ladder: "Ladder") -> list[str]:
    """The table of a ladder, which is written too."""
    from arena.analysis.repeatability import untested_line  # noqa: PLC0415  # as above
    from arena.pipeline.ladder import (  # noqa: PLC0415
        RATING_NOTE,
        ladder_rows,
        open_ladder_cache,
        write_ladder_table,
    )

    games = open_ladder_cache(ladder.directory)
    try:
        rows = ladder_rows(ladder, games)
    finally:
        games.close()
    write_ladder_table(ladder, rows)
    if not rows:
        return [f"{ladder.directory}: the ladder is empty"]
    return [*_lines(rows), RATING_NOTE, *filter(None, [untested_line(ladder.plan)])]


def _lines(rows: "list[LadderRow]") -> list[str]:
    width = max(len("agent"), *(len(row.agent) for row in rows))
    grouped = len({row.group for row in rows if row.games}) > 1
    lines = [f"{'place':>5}  {'agent':<{width}}  {'Elo':>6}  {'points':>13}  placed"]
    for row in rows:
        elo = "" if row.elo is None or not row.games else f"{row.elo:+.0f}"
        mark = f" (group {row.group})" if grouped else ""
        points = f"{row.points:g}/{row.games}"
        how = row.placed.partition(", after ")[0]
        lines.append(f"{row.place:>5}  {row.agent:<{width}}  {elo:>6}  {points:>13}  {how}{mark}")
    return lines


if __name__ == "__main__":
    sys.exit(main())
