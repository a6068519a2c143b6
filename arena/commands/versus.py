"""The command `pitflip versus`."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arena.commands.options import (
    CHANGES,
    DRY_RUN,
    PLAY,
    WIDTH,
    number,
    overrides,
    pair_count,
    run_options,
    whole_number,
)
from arena.commands.run import play_or_forecast, print_end, print_places, print_run
from games.base.errors import CHECK_FAILED, OK, UserError, print_error, print_safely, printable
from games.base.files import write_text

if TYPE_CHECKING:
    from arena.config.experiment import Experiment
    from arena.pipeline.run import RunResult
    from arena.pipeline.versions import AgentVersions, Versions

PARENTS = (CHANGES, *PLAY, WIDTH, DRY_RUN)
EPILOG = """\
A sequential test decides whether an agent is stronger than at --base, or than
OTHER, which needs no git; --width measures its gain instead. FILE is an
experiment, a bot's file or its TOML.
exit status: 0 it is stronger (--revisions: played); 1 it is not shown to be
stronger; 2 there is nothing to compare; 3 not finished: the games are stored,
and the same command continues

examples:
  pitflip versus experiments/mine.toml --base HEAD~1
  pitflip versus bots/new.py bots/old.py --game othello
  pitflip versus experiments/mine.toml --revisions 8"""
FEWEST_PAIRS = 10
ELO = {"elo0": 0.0, "elo1": 10.0}
FIGURE, ELO_TABLE, WIN_RATES = "history.svg", "elo.parquet", "win_rates.parquet"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    parser.usage = "%(prog)s [options] FILE [OTHER]"
    parser.set_defaults(page=True)
    parser.add_argument("file", metavar="FILE", help="an experiment file, or the file of an agent")
    parser.add_argument(
        "other",
        metavar="OTHER",
        nargs="?",
        help="the agent to compare with, as in pitflip match (default: FILE at --base)",
    )
    parser.add_argument(
        "--game", help="the game, unless FILE is an experiment (default: kalah(6,4))"
    )
    parser.add_argument(
        "--base",
        metavar="REVISION",
        help="a revision of git, or a run as in run:6917adfa1c (default: HEAD)",
    )
    parser.add_argument(
        "--pairs",
        type=pair_count,
        metavar="N",
        help="most pairs of the test (default: 10,000); with --revisions, pairs per match",
    )
    parser.add_argument(
        "--agent", metavar="NAME", help="which agent to compare, if several have changed"
    )
    parser.add_argument(
        "--elo0",
        type=number,
        metavar="ELO",
        help="largest gain that counts as no progress (default: 0)",
    )
    parser.add_argument(
        "--elo1",
        type=number,
        metavar="ELO",
        help="smallest gain that counts as progress (default: 10)",
    )
    parser.add_argument(
        "--revisions",
        type=whole_number(1, 100),
        metavar="N",
        help="instead rate the newest N revisions that differ, by a tournament of all",
    )


def run(arguments: argparse.Namespace) -> int:
    """Compare two versions by a test, or rate several."""
    if arguments.other is not None:
        return play_files(arguments)
    if arguments.revisions is not None:
        for name in ("base", "width", *ELO):
            if getattr(arguments, name) is not None:
                raise UserError(f"--revisions plays several versions: leave out --{name}")
        return play_revisions(find_versions(arguments, overrides(arguments)), arguments)
    return play_against_base(find_versions(arguments, overrides_of_test(arguments)), arguments)


def find_versions(arguments: argparse.Namespace, changes: Sequence[str]) -> "AgentVersions":
    """Return the agents of FILE at any revision."""
    from arena.pipeline.versions import GAME, AgentVersions

    versions = AgentVersions(Path(arguments.file), changes, arguments.game or GAME)
    if versions.is_experiment and arguments.game is not None:
        raise UserError(
            f"{arguments.file} names its game: leave out --game, or write --set game=..."
        )
    return versions


def overrides_of_test(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Return the changes to the experiment; --pairs is the most that the test may play."""
    return overrides(argparse.Namespace(changes=arguments.changes, seed=arguments.seed))


def stop_of_test(arguments: argparse.Namespace) -> tuple[dict[str, object], int]:
    """Return the stop rule and the most pairs that it may play."""
    from arena.config.experiment import MAX_STOP_PAIRS, stop_table

    pairs = MAX_STOP_PAIRS if arguments.pairs is None else arguments.pairs
    if pairs < FEWEST_PAIRS:
        raise UserError(f"--pairs must be at least {FEWEST_PAIRS}, got {pairs}")
    given = {name: getattr(arguments, name) for name in ELO}
    bounds = ELO | {name: value for name, value in given.items() if value is not None}
    test = None if arguments.width is not None and bounds == ELO else tuple(bounds.values())
    return stop_table(arguments.width, test) or {}, pairs


def play_files(arguments: argparse.Namespace) -> int:
    """Test an agent against another one, without git."""
    from arena.pipeline.versions import GAME, agent_match

    for name in ("base", "agent", "revisions"):
        if getattr(arguments, name) is not None:
            raise UserError(f"two agents are compared as they are now: leave out --{name}")
    settings = {"stop": stop_of_test(arguments)[0], "pairs": arguments.pairs}
    changes, game = overrides_of_test(arguments), arguments.game or GAME
    match = agent_match(arguments.file, arguments.other, game, settings, changes)
    return play_test(match, arguments)


def play_against_base(versions: "AgentVersions", arguments: argparse.Namespace) -> int:
    """Play the agent against its base until the test decides, and print the verdict."""
    from arena.pipeline.versions import version_match

    stop, pairs = stop_of_test(arguments)
    base = arguments.base or "HEAD"
    experiment = version_match(versions, base, arguments.results, arguments.agent, stop, pairs)
    return play_test(experiment, arguments)


def play_test(experiment: "Experiment", arguments: argparse.Namespace) -> int:
    """Play until the stop rule decides, and print the verdict; or forecast the games."""
    from arena.pipeline.run import run_experiment

    if arguments.dry_run:
        return play_or_forecast(experiment, arguments)
    with run_options(arguments) as options:
        result = run_experiment(experiment, options)
        options.interrupts.finish()
        headline, is_stronger = verdict(result, experiment.plan.names)
        if options.json:
            print_run(result, options)
        else:
            print_end(result, options, headline)
    return OK if is_stronger else CHECK_FAILED


def play_revisions(versions: "AgentVersions", arguments: argparse.Namespace) -> int:
    """Play the newest versions against each other, print their ratings, draw their figure."""
    from arena.pipeline.versions import distinct_versions, single_agent, version_tournament

    own = versions.own()
    agents = (own, "have files") if own else ([*versions.tables], "are in the file")
    name = arguments.agent or single_agent(agents[0], "the file has no agent", agents[1])
    found = distinct_versions(versions, versions.require_agent(name), arguments.revisions)
    experiment = version_tournament(versions, found)
    if arguments.dry_run:
        return play_or_forecast(experiment, arguments)
    result = play_versions(experiment, arguments)
    if not arguments.json:
        title = f"{printable(experiment.name)} on {experiment.plan.game_name}"
        print_versions(result.directory, found, title)
    return OK


def play_versions(experiment: "Experiment", arguments: argparse.Namespace) -> "RunResult":
    """Play the experiment; print its results as JSON, else only the paths of its files."""
    from arena.pipeline.run import run_experiment

    with run_options(arguments) as options:
        result = run_experiment(experiment, options)
        options.interrupts.finish()
        if options.json:
            print_run(result, options)
        elif not options.quiet:
            print_places(result)
    return result


def verdict(result: "RunResult", names: Sequence[str]) -> tuple[str, bool]:
    """Return the verdict in one line, and whether the agent is stronger."""
    from arena.analysis.summary_file import load_stop_result
    from arena.report.answer import answer_line
    from arena.report.numbers import decisive_end, score_of
    from arena.stats.sprt import Decision

    stopped, (agent, base) = load_stop_result(result.directory), names
    decision = Decision(stopped["decision"])
    verbs = {Decision.ELO1: "is stronger than", Decision.ELO0: "is not stronger than"}
    line = f"{agent} {verbs.get(decision, 'against')} {base}: {stopped['text'].partition(': ')[2]}"
    is_stronger = decision is Decision.ELO1
    if result.report.sprt is None:
        line, row = answer_line(result.report), result.report.pairs[agent, base]
        is_stronger = (decisive_end(score_of(row)) or 0.0) > 0.5
    return line, is_stronger


def print_versions(directory: Path, found: "Versions", title: str) -> None:
    """Print the table of versions and write its figure."""
    import pandas as pd

    from arena.pipeline.versions import version_figure, version_lines, version_rows

    ratings, rates = (pd.read_parquet(directory / name) for name in (ELO_TABLE, WIN_RATES))
    rows = list(version_rows(ratings, rates, found))
    print_safely(lambda: print("\n".join(version_lines(rows))))
    write_text(directory / FIGURE, version_figure(rows, title))
    print_error(f"figure: {directory / FIGURE}")
