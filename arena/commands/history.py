"""How strong an agent was at its last revisions: pitflip history FILE [--revisions N]."""

import argparse
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from arena.config.command_line import add_play_options, open_run_options, overrides, run_resumable
from arena.playing.options import Interrupts
from games.base.errors import OK, UserError, print_error, print_safely, printable
from games.base.text import parse_whole_number

if TYPE_CHECKING:  # they load numpy
    import pandas as pd

    from arena.config.experiment import Experiment
    from arena.pipeline.loaded_run import LoadedRun
    from arena.pipeline.versions import AgentVersions, VersionRow
    from arena.storage.git import Commit

REVISIONS = range(1, 101)
FIGURE = "history.svg"
NOW = "now"
EXAMPLE = """\
example:
  pitflip history experiments/mine.toml --revisions 8
exit status: 0 played, 2 there is nothing to compare, 3 not finished (what was
  played is kept; the same command continues)"""
Versions = dict[str, tuple["Commit | None", Mapping[str, object]]]


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    what = "Plays the versions of an agent that git has against one another, and rates them."
    parser = add_play_options("pitflip history", what, EXAMPLE)
    parser.add_argument("--revisions", default="5", metavar="N", help="the newest that differ (5)")
    parser.add_argument("--agent", metavar="NAME", help="whose history, if several have files")
    parser.add_argument("--pairs", metavar="N", help="the same as --set pairs=N")
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command."""
    return run_resumable("pitflip history", words, arguments().parse_args(words), run_history)


def run_history(chosen: argparse.Namespace, interrupts: Interrupts) -> int:
    """Play all versions, print their table, draw their figure; the exit status."""
    # Only now, so that help and mistakes are answered before anything large is loaded.
    from arena.pipeline.versions import AgentVersions, single_agent  # noqa: PLC0415

    most = parse_whole_number("pitflip history", "--revisions", chosen.revisions, REVISIONS)
    versions = AgentVersions(chosen.experiment, overrides(chosen))
    none = "no agent has files of its own: --agent NAME says whose history"
    name = chosen.agent or single_agent(versions.own(), none, "have files")
    found = distinct_versions(versions, versions.checked(name), most)
    if len(found) < 2:
        raise UserError(f"git has no other version of {name}: there is nothing to compare")
    more = {"anchor": f"{next(iter(found))}=0"}
    experiment = versions.experiment({n: t for n, (_, t) in found.items()}, "history", more)
    from arena.pipeline.run import run  # noqa: PLC0415

    with open_run_options(chosen, interrupts) as options:
        run(experiment, replace(options, tables=options.json, page=True))
        if not options.json:
            print_history(experiment, found, options.results)
    return OK


def distinct_versions(versions: "AgentVersions", name: str, most: int) -> Versions:
    """The versions of an agent that differ from the one before, the oldest first, by names."""
    from arena.pipeline.versions import version_label  # noqa: PLC0415
    from arena.storage.git import VersionError, list_commits  # noqa: PLC0415  # as above

    paths = [versions.path.absolute().parent.resolve() / versions.path.name]
    paths += versions.files(name)
    try:
        commits = list_commits(paths, 4 * most)
    except VersionError as error:
        raise UserError(str(error)) from None
    found: Versions = {version_label(name, NOW): (None, versions.now[name])}
    for commit in commits:
        table = versions.then(versions.base(commit.name, Path()), name)
        if table is None:
            break  # the agent was not there yet
        newest = list(found)[-1]
        if not versions.differ(found[newest][1], table):
            del found[newest]  # the commit made it
        elif len(found) > most:
            break
        found[version_label(name, commit.short)] = commit, table
    return dict(reversed(list(found.items())[: most + 1]))


def print_history(experiment: "Experiment", found: Versions, results: Path) -> None:
    """Print the table and write the figure."""
    from arena.pipeline.loaded_run import load_run  # noqa: PLC0415
    from arena.pipeline.versions import version_figure, version_lines  # noqa: PLC0415
    from arena.storage.provenance import identify_run  # noqa: PLC0415  # as above
    from games.base.files import write_text  # noqa: PLC0415

    digest = identify_run(experiment.name, experiment.plan).digest
    directory = results / experiment.name / digest
    rows = list(history_rows(load_run(directory), found))
    print_safely(lambda: print("\n".join(version_lines(rows))))
    title = f"{printable(experiment.name)} on {experiment.plan.game}"
    write_text(directory / FIGURE, version_figure(rows, title))
    print_error(f"figure: {directory / FIGURE}")


def history_rows(run: "LoadedRun", found: Versions) -> "Iterator[VersionRow]":
    """A row for each version, from the tables of their run."""
    from arena.pipeline.versions import EloInterval, VersionRow  # noqa: PLC0415  # as above

    def seen(rows: "pd.DataFrame") -> EloInterval:
        cells = rows[["elo", "elo_low", "elo_high"]].iloc[0]
        return EloInterval(*(None if math.isnan(cell) else float(cell) for cell in cells))

    ratings, rates, before = run.ratings, run.win_rates, None
    for name, (commit, _) in found.items():
        met = rates[(rates.agent == name) & (rates.opponent == before)]
        yield VersionRow(
            name,
            "" if commit is None else commit.day,
            "the working copy" if commit is None else commit.subject,
            seen(ratings[ratings.agent == name]),
            None if met.empty else seen(met),
        )
        before = name


if __name__ == "__main__":
    sys.exit(main())
