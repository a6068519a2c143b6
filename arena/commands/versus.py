"""The command `pitflip versus`."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from arena.commands.options import (
    CHANGES,
    DRY_RUN,
    EXPERIMENT,
    PAIRS,
    PLAY,
    number,
    overrides,
    run_options,
    whole_number,
)
from arena.commands.run import run_or_forecast
from games.base.errors import CHECK_FAILED, OK, UserError, print_error, print_safely, printable
from games.base.files import write_text

if TYPE_CHECKING:
    from arena.config.experiment import Experiment
    from arena.pipeline.versions import AgentVersions, Versions

PARENTS = (EXPERIMENT, CHANGES, *PLAY, PAIRS, DRY_RUN)
EPILOG = """\
examples:
  pitflip versus experiments/mine.toml --base HEAD~1
  pitflip versus experiments/mine.toml --revisions 8
Without --revisions, a sequential test decides whether the agent is stronger
than at --base.
exit status: 0 it is stronger (--revisions: played); 1 it is not shown to be; 2
there is nothing to compare; 3 not finished: the games are stored, and the same
command continues"""
MAX_PAIRS, FEWEST_PAIRS = 10_000, 10
ELO = {"elo0": 0.0, "elo1": 10.0}
FIGURE, ELO_TABLE, WIN_RATES = "history.svg", "elo.parquet", "win_rates.parquet"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command alone."""
    parser.usage = "%(prog)s [options] FILE"
    parser.add_argument(
        "--base",
        metavar="REVISION",
        help="a revision of git, or a run as in run:6917adfa1c (default: HEAD)",
    )
    parser.add_argument("--agent", metavar="NAME", help="the agent, if several have changed")
    parser.add_argument(
        "--elo0", type=number, metavar="ELO", help="a gain that is too small (default: 0)"
    )
    parser.add_argument(
        "--elo1", type=number, metavar="ELO", help="a gain that is large enough (default: 10)"
    )
    parser.add_argument(
        "--revisions",
        type=whole_number(1, 100),
        metavar="N",
        help="instead play the newest N revisions that differ against each other and rate them",
    )


def run(arguments: argparse.Namespace) -> int:
    """Compare two versions by a test, or rate several."""
    from arena.pipeline.versions import AgentVersions  # noqa: PLC0415  # not needed for --help

    if arguments.revisions is not None:
        for name in ("base", *ELO):
            if getattr(arguments, name) is not None:
                raise UserError(f"--revisions plays several versions: leave out --{name}")
        return rate_versions(AgentVersions(arguments.experiment, overrides(arguments)), arguments)
    # --pairs is the most that the test may play, not the pairs of the file.
    own = argparse.Namespace(changes=arguments.changes, seed=arguments.seed)
    return test_versions(AgentVersions(arguments.experiment, overrides(own)), arguments)


def test_versions(versions: "AgentVersions", arguments: argparse.Namespace) -> int:
    """Play the agent against its base until the test decides, and print the verdict."""
    from arena.pipeline.versions import version_match  # noqa: PLC0415  # not needed for --help

    pairs = MAX_PAIRS if arguments.pairs is None else arguments.pairs
    if pairs < FEWEST_PAIRS:
        raise UserError(f"--pairs must be at least {FEWEST_PAIRS}, got {pairs}")
    given = {name: getattr(arguments, name) for name in ELO}
    stop = ELO | {name: value for name, value in given.items() if value is not None}
    experiment = version_match(
        versions,
        arguments.base or "HEAD",
        arguments.results,
        arguments.agent,
        {**stop, "pairs": pairs},
    )
    if arguments.dry_run:
        return run_or_forecast(experiment, arguments)
    from arena.pipeline.run import run as run_experiment  # noqa: PLC0415

    with run_options(arguments) as options:
        run_experiment(experiment, replace(options, tables=options.json, page=True))
        return print_verdict(experiment, options.results, json=arguments.json)


def print_verdict(experiment: "Experiment", results: Path, *, json: bool) -> int:
    """Print the verdict in one line; the status says whether the agent is stronger."""
    from arena.analysis.summary_file import load_sprt_result  # noqa: PLC0415
    from arena.pipeline.run import directory_of_run  # noqa: PLC0415
    from arena.stats.sprt import Decision  # noqa: PLC0415

    stopped = load_sprt_result(directory_of_run(experiment, results))
    decision, (agent, base) = Decision(stopped["decision"]), map(printable, experiment.plan.names)
    verbs = {Decision.ELO1: "is stronger than", Decision.ELO0: "is not stronger than"}
    verb = verbs.get(decision, "against")
    text = printable(stopped["text"].partition(": ")[2])
    if not json:
        print_safely(lambda: print(f"{agent} {verb} {base}: {text}"))
    return OK if decision is Decision.ELO1 else CHECK_FAILED


def rate_versions(versions: "AgentVersions", arguments: argparse.Namespace) -> int:
    """Play the newest versions against each other, print their ratings, draw their figure."""
    from arena.pipeline.versions import (  # noqa: PLC0415  # not needed for --help
        distinct_versions,
        single_agent,
        version_tournament,
    )

    none = "no agent is made of files: name one with --agent NAME"
    name = arguments.agent or single_agent(versions.own(), none, "have files")
    found = distinct_versions(versions, versions.checked(name), arguments.revisions)
    experiment = version_tournament(versions, found)
    if arguments.dry_run:
        return run_or_forecast(experiment, arguments)
    from arena.pipeline.run import run as run_experiment  # noqa: PLC0415

    with run_options(arguments) as options:
        run_experiment(experiment, replace(options, tables=options.json, page=True))
        if not options.json:
            print_history(experiment, found, options.results)
    return OK


def print_history(experiment: "Experiment", found: "Versions", results: Path) -> None:
    """Print the table of versions and write their figure."""
    import pandas as pd  # noqa: PLC0415

    from arena.pipeline.run import directory_of_run  # noqa: PLC0415
    from arena.pipeline.versions import (  # noqa: PLC0415
        version_figure,
        version_lines,
        version_rows,
    )

    directory = directory_of_run(experiment, results)
    ratings, rates = (pd.read_parquet(directory / name) for name in (ELO_TABLE, WIN_RATES))
    rows = list(version_rows(ratings, rates, found))
    print_safely(lambda: print("\n".join(version_lines(rows))))
    title = f"{printable(experiment.name)} on {experiment.plan.game}"
    write_text(directory / FIGURE, version_figure(rows, title))
    print_error(f"figure: {directory / FIGURE}")
