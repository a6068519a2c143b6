"""The command `pitflip ladder`."""

import argparse
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from arena.commands.options import CLUSTER, QUIET, WORKERS, group, option
from arena.config.run_options import number_of_workers, with_cluster
from arena.playing.options import Interrupts
from games.base.cli import CommandParser
from games.base.errors import OK, UserError, print_error, print_lines, printable

if TYPE_CHECKING:
    from agents.core import AgentSpec
    from arena.pipeline.ladder import Ladder, LadderRow
    from arena.planning.plan import Plan

EPILOG = """\
A ladder plays the game and the openings of an experiment. A new agent plays as
many games as its place needs.
exit status: 0 done; 2 wrong names or files; 3 not finished: the same command
continues

examples:
  pitflip ladder new experiments/kalah_ladder.toml
  pitflip ladder add my_bot.toml"""
DIRECTORY = group(
    option(
        "--dir", type=Path, default=Path("ladder"), help="directory of the ladder (default: ladder)"
    )
)
PLAYING = ("new", "add")  # the subcommands that play
EXPERIMENT_FILE = {"type": Path, "metavar": "FILE", "help": "an experiment file (TOML)"}
AGENT_FILES = {
    "type": Path,
    "metavar": "FILE",
    "nargs": "+",
    "help": "a TOML file with [agents.NAME] tables, a roster, or the options of one agent",
}
NAME = {"metavar": "NAME", "help": "the name of the agent"}
SUBCOMMANDS: Mapping[str, tuple[str, Mapping[str, Mapping[str, object]]]] = {
    "new": (
        "begin a ladder with the game, openings and agents of an experiment",
        {"experiment": EXPERIMENT_FILE},
    ),
    "add": ("place the agents of these files in the ranking", {"files": AGENT_FILES}),
    "remove": ("take an agent out; its games are kept", {"name": NAME}),
    "rename": (
        "give an agent another name",
        {"name": NAME, "new_name": {"metavar": "NEW_NAME", "help": "its new name"}},
    ),
    "anchor": (
        "fix the rating of an agent",
        {"name": NAME, "elo": {"type": float, "metavar": "ELO", "help": "its rating"}},
    ),
    "show": ("print the ranking", {}),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    subcommands = parser.add_subparsers(
        dest="word", metavar="COMMAND", required=True, parser_class=CommandParser
    )
    for name, (summary, positionals) in SUBCOMMANDS.items():
        parents = [DIRECTORY, QUIET, *((WORKERS, CLUSTER) if name in PLAYING else ())]
        description = f"{summary[0].upper()}{summary[1:]}."
        own = subcommands.add_parser(name, help=summary, description=description, parents=parents)
        for positional, settings in positionals.items():
            own.add_argument(positional, **settings)  # type: ignore[arg-type]


def run(arguments: argparse.Namespace) -> int:
    """Change the ladder, then print its table."""
    interrupts = arguments.interrupts
    # Imported here because --help does not need them.
    from arena.pipeline.ladder import plan_for_ladder, read_ladder, read_ladder_agents
    from arena.storage.journal import lock_directory

    if arguments.word == "new":  # report problems before making a directory
        plan, values = plan_for_ladder(arguments.experiment)
        agents = read_ladder_agents(arguments.experiment, plan)
    else:
        read_ladder(arguments.dir)
    lock = lock_directory(arguments.dir)
    try:
        if arguments.word == "new":
            _begin(plan, values, agents, arguments, interrupts)
        elif arguments.word == "add":
            _add(arguments, interrupts)
        elif arguments.word != "show":
            CHANGES[arguments.word](read_ladder(arguments.dir), arguments).save()
        lines = table_lines(read_ladder(arguments.dir))
        interrupts.finish()
        print_lines(*lines)
    finally:
        os.close(lock)
    return OK


def rename_agent(ladder: "Ladder", arguments: argparse.Namespace) -> "Ladder":
    """Return the ladder with another name for one agent."""
    from arena.config.agents import is_valid_agent_name

    if not is_valid_agent_name(arguments.new_name):
        raise UserError(f"an agent cannot be called {printable(arguments.new_name)!r}")
    return ladder.with_new_name(arguments.name, arguments.new_name)


CHANGES: Mapping[str, "Callable[[Ladder, argparse.Namespace], Ladder]"] = {
    "remove": lambda ladder, arguments: ladder.without(arguments.name),
    "rename": rename_agent,
    "anchor": lambda ladder, arguments: ladder.with_anchor(arguments.name, arguments.elo),
}


def _add(arguments: argparse.Namespace, interrupts: Interrupts) -> None:
    """Place the agents of the files, one after the other."""
    from arena.pipeline.ladder import has_agent, read_ladder, read_ladder_agents

    ladder = read_ladder(arguments.dir)
    agents = [pair for path in arguments.files for pair in read_ladder_agents(path, ladder.plan)]
    _refuse_duplicate_names(agents)
    changed = [pair for pair in agents if not has_agent(ladder, *pair)]
    if not changed:
        ladder.require_no_agent(agents[0][0])
    _place(ladder, changed, arguments, interrupts)


def _begin(
    plan: "Plan",
    values: Mapping[str, object],
    agents: "list[tuple[str, AgentSpec]]",
    arguments: argparse.Namespace,
    interrupts: Interrupts,
) -> None:
    """Begin a ladder and place its agents, or continue; remove a new ladder after an error."""
    from arena.pipeline.ladder import LADDER, create_ladder, remove_ladder

    continued = (arguments.dir / LADDER).exists()
    ladder = create_ladder(arguments.dir, plan, values)
    try:
        missing = [(name, spec) for name, spec in agents if name not in ladder.names]
        replace(_place(ladder, missing, arguments, interrupts), unfinished=False).save()
    except UserError:
        if not continued:
            remove_ladder(arguments.dir)
        raise


def _refuse_duplicate_names(agents: "list[tuple[str, AgentSpec]]") -> None:
    """Raise a UserError if two agents have the same name."""
    names = [name for name, _ in agents]
    if twins := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise UserError(f"two of the agents are called {printable(twins[0])!r}: rename one")


def _place(
    ladder: "Ladder",
    agents: "list[tuple[str, AgentSpec]]",
    arguments: argparse.Namespace,
    interrupts: Interrupts,
) -> "Ladder":
    """Place these agents one after the other and return the ladder."""
    from agents.sandbox.sandbox import Sandbox
    from arena.pipeline.ladder import place_agent
    from arena.playing.options import PlayOptions

    sandbox = Sandbox()
    try:
        local = PlayOptions(number_of_workers(arguments.workers), interrupts, sandbox=sandbox)
        with with_cluster(local, arguments.cluster) as options:
            for name, spec in agents:
                step = place_agent(ladder, name, spec, options, arguments.quiet)
                ladder = step.ladder
                if not arguments.quiet:
                    cached = f", {step.known:,} of them played before" if step.known else ""
                    print_error(f"{step.answer}: {step.games:,} games{cached}")
    finally:
        sandbox.close()
    return ladder


def table_lines(ladder: "Ladder") -> list[str]:
    """Write the table of a ladder and return its lines."""
    from arena.analysis.repeatability import repeatability_line
    from arena.pipeline.ladder import (
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
    return [*_lines(rows), RATING_NOTE, *filter(None, [repeatability_line(ladder.plan)])]


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
