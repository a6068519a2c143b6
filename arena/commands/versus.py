"""Compare an agent with its earlier revisions."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from arena.config.command_line import add_play_options, open_run_options, run_resumable
from arena.playing.options import Interrupts
from games.base.errors import CHECK_FAILED, OK, UserError, print_safely, printable
from games.base.text import parse_whole_number

if TYPE_CHECKING:
    from arena.storage.git import Revision

if TYPE_CHECKING:  # they load numpy
    from arena.config.experiment import Experiment
    from arena.pipeline.versions import AgentVersions

PAIRS = range(10, 10_000_001)
EXAMPLE = """\
example:
  pitflip versus experiments/mine.toml --base HEAD~1
exit status: 0 it is stronger, 1 it is not shown to be, 2 nothing can be compared,
  3 not finished (what was played is kept; the same command continues)"""


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    what = "Plays an agent as it is now against itself at a revision of git, by SPRT."
    parser = add_play_options("pitflip versus", what, EXAMPLE)
    parser.add_argument(
        "--base", default="HEAD", metavar="REVISION", help="the other one (HEAD), or run:6917adfa1c"
    )
    parser.add_argument("--agent", metavar="NAME", help="whose files differ, if several do")
    parser.add_argument("--elo0", default="0", metavar="ELO", help="what is too little (0)")
    parser.add_argument("--elo1", default="10", metavar="ELO", help="what is enough (10)")
    parser.add_argument("--pairs", default="10000", metavar="N", help="at most (10000)")
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command; its exit status is the verdict."""
    return run_resumable("pitflip versus", words, arguments().parse_args(words), compared)


def compared(chosen: argparse.Namespace, interrupts: Interrupts) -> int:
    """Play both versions as the command line says, and answer in one line; the exit status."""
    # Only now, so that help and mistakes are answered before anything large is loaded.
    from arena.pipeline.versions import AgentVersions  # noqa: PLC0415

    pairs = parse_whole_number("pitflip versus", "--pairs", chosen.pairs, PAIRS)
    bounds = {name: elo(name, getattr(chosen, name)) for name in ("elo0", "elo1")}
    # What --pairs asks for stands in the experiment that is made, not in the file.
    changes = tuple(chosen.changes) + (() if chosen.seed is None else (f"seed={chosen.seed}",))
    versions = AgentVersions(chosen.experiment, changes)
    tree = versions.base(chosen.base, chosen.results)
    experiment = version_match(versions, chosen, tree, pairs, bounds)
    from arena.pipeline.run import run  # noqa: PLC0415

    with open_run_options(chosen, interrupts) as options:
        quiet = options.quiet or chosen.json
        run(experiment, replace(options, tables=options.json, quiet=quiet, page=True))
        return print_verdict(experiment, options.results, chosen.json)


def elo(name: str, text: str) -> float:
    """A bound of the test."""
    try:
        return float(text)
    except ValueError:
        raise UserError(f"--{name} must be a number, got {printable(text)}") from None


def version_match(
    versions: "AgentVersions",
    chosen: argparse.Namespace,
    tree: "Revision | Path",
    pairs: int,
    bounds: dict[str, float],
) -> "Experiment":
    """The match of an agent against itself at a revision, stopped by a test."""
    from arena.pipeline.versions import (  # noqa: PLC0415
        limit_to_openings,
        single_agent,
        version_label,
    )

    base = printable(chosen.base)
    if chosen.agent is None:
        changed = versions.changed(tree)
        name = single_agent(changed, f"no agent differs from {base}: nothing to compare", "differ")
    else:
        name = versions.checked(chosen.agent)
    before = versions.then(tree, name)
    if before is None:
        raise UserError(f"there is no agent {name} in {base}")
    if not versions.differ(versions.now[name], before):
        raise UserError(f"{name} does not differ from {base}: nothing to compare")
    agents = {name: versions.now[name], version_label(name, base): before}
    more = {"pairs": pairs, "stop": {"sprt": bounds}, "schedule": {"match": [*agents]}}
    counted = {**more, "pairs": 1}
    spec = versions.experiment(agents, "versus", counted)
    few = limit_to_openings(replace(spec, plan=replace(spec.plan, pairs=pairs)))
    return versions.experiment(agents, "versus", {**more, "pairs": few.plan.pairs})


def print_verdict(experiment: "Experiment", results: Path, json: bool) -> int:
    """Print the verdict in one line; the exit status."""
    from arena.analysis.summary_file import load_sprt_result  # noqa: PLC0415  # as above
    from arena.stats.sprt import Decision  # noqa: PLC0415
    from arena.storage.provenance import identify_run  # noqa: PLC0415

    digest = identify_run(experiment.name, experiment.plan).digest
    directory = results / experiment.name / digest
    stopped, (mine, base) = load_sprt_result(directory), experiment.plan.names
    better = stopped["decision"] == str(Decision.ELO1)
    words = {Decision.ELO1: "is stronger than", Decision.ELO0: "is not stronger than"}
    verb = words.get(Decision(stopped["decision"]), "is not shown to be stronger than")
    text = stopped["text"].partition(": ")[2]
    if not json:
        line = f"{printable(mine)} {verb} {printable(base)}: {printable(text)}"
        print_safely(lambda: print(line))
    return OK if better else CHECK_FAILED


if __name__ == "__main__":
    sys.exit(main())
