"""What a run will cost and show, before a game counts: pitflip plan FILE."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from arena.config.command_line import add_play_options, open_run_options, overrides
from arena.playing.options import Interrupts
from games.base.errors import CHECK_FAILED, OK, printable, status_of

if TYPE_CHECKING:  # they load the kernels
    from arena.config.command_line import RunOptions
    from arena.config.experiment import Experiment
    from arena.config.sweep import SweepPlan
    from arena.planning.schedule import DrawnPlan
    from arena.playing.bots import BotProbe
    from arena.playing.pilot import PilotResult
    from arena.tuning.study_config import StudyConfig

MOST_ASKED = 200_000  # pairings of which it is asked whether they are known
MOST_CELLS = 4  # of a sweep that are tried
EXAMPLE = """\
example:
  pitflip plan experiments/classroom_othello.toml --pairs 10
exit status: 0 it can be run, 1 a check that no result could satisfy, or a bot that
does not load or fails at once, 2 the file is wrong"""


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    what = "What a run will cost and show: games, time, intervals to come, bots, checks."
    parser = add_play_options("pitflip plan", what, EXAMPLE, keeps_games=False)
    parser.add_argument("--pairs", metavar="N", help="the same as --set pairs=N")
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command; 1 if something cannot come out well."""
    chosen, interrupts = arguments().parse_args(words), Interrupts()
    with interrupts.installed():
        work = planned
        return status_of(
            "pitflip plan", lambda: work(chosen, interrupts), place=str(chosen.experiment)
        )


def planned(chosen: argparse.Namespace, interrupts: Interrupts) -> int:
    """Look at the file, ask its bots, play the pilot and print; the exit status."""
    # Only now, so that help and mistakes are answered before anything large is loaded.
    from arena.config.toml_file import read  # noqa: PLC0415

    changes = overrides(chosen)
    source, problems = read(chosen.experiment, changes)
    if "tune" in source.tables:
        import arena.tuning  # noqa: F401, PLC0415  # before numpy: it keeps numpy to one thread
        from arena.tuning.study_config import parse_study  # noqa: PLC0415

        tuning = parse_study(source, problems)
        for line in study_size_lines(tuning):
            out(line)
        with open_run_options(chosen, interrupts) as options:
            return forecast_study(tuning, options)
    from arena.config.sweep import SweepPlan, build_experiment_or_sweep  # noqa: PLC0415

    asked = build_experiment_or_sweep(source, problems, changes)
    with open_run_options(chosen, interrupts) as options:
        if isinstance(asked, SweepPlan):
            return forecast_sweep(asked, options)
        return forecast_experiment(asked, options)


def out(line: str) -> None:
    """Print a line at once: what follows may take seconds."""
    print(line, flush=True)


def forecast_experiment(experiment: "Experiment", options: "RunOptions") -> int:
    """Say of an experiment all that can be said before it is played; the exit status."""
    from arena.terminal.plan import openings_line, size_line  # noqa: PLC0415

    out(size_line(printable(experiment.name), experiment.plan))
    from agents.registry import varies  # noqa: PLC0415
    from arena.analysis.checks.registry import impossible_checks  # noqa: PLC0415
    from arena.planning.schedule import make_schedule  # noqa: PLC0415

    specs = list(experiment.plan.agents.values())
    steady = frozenset(
        (a, b) for a, b in experiment.plan.matches if not (varies(specs[a]) or varies(specs[b]))
    )
    drawn = make_schedule(experiment.plan, fixed=steady)
    out(openings_line(drawn))
    hopeless = list(impossible_checks(experiment.checks, drawn))
    for line in (*earlier_run_lines(experiment, options), *hopeless):
        out(line)
    answers = list(probe_lines(drawn, options))
    pilot_lines(drawn, options, answers)
    return CHECK_FAILED if hopeless or any(answer.fault for answer in answers) else OK


def forecast_sweep(swept: "SweepPlan", options: "RunOptions") -> int:
    """Say of the first cells of a sweep what can be said; the worst exit status."""
    cells = swept.cells
    games = sum(2 * each.experiment.plan.pairs * len(each.experiment.plan.matches)
                for each in cells)  # fmt: skip
    out(f"{printable(swept.name)}: a sweep of {len(cells):,} cells, {games:,} games in all")
    worst = OK
    for cell in cells[:MOST_CELLS]:
        out(f"\ncell {cell.number}: {printable(cell.words(swept.axes))}")
        worst = max(worst, forecast_experiment(cell.experiment, options))
    if len(cells) > MOST_CELLS:
        out(f"\n... and {len(cells) - MOST_CELLS:,} more cells")
    return worst


def earlier_run_lines(experiment: "Experiment", options: "RunOptions") -> Iterator[str]:
    """Whether this run was played already, or begun."""
    from arena.storage.journal import JOURNAL  # noqa: PLC0415  # as above
    from arena.storage.provenance import identify_run, read_run  # noqa: PLC0415

    digest = identify_run(experiment.name, experiment.plan).digest
    directory = options.results / experiment.name / digest
    stored = read_run(directory)
    if stored.get("finished"):
        yield f"this run is finished: {printable(str(directory))}"
    elif reason := stored.get("failed"):
        yield f"this run failed: {printable(str(reason).splitlines()[0])}"
    elif (directory / JOURNAL).exists():
        yield f"this run was begun, and goes on where it stopped: {printable(str(directory))}"


def probe_lines(drawn: "DrawnPlan", options: "RunOptions") -> "Iterator[BotProbe]":
    """Ask every bot once, and say what it answers."""
    from arena.playing.bots import probe_bots  # noqa: PLC0415  # as above
    from arena.terminal.plan import answer_line  # noqa: PLC0415

    options.wall.required |= drawn.plan.walls_required
    for answer in probe_bots(drawn.plan, options.wall):
        out(answer_line(answer))
        yield answer


def pilot_with(
    drawn: "DrawnPlan", options: "RunOptions", answers: "Sequence[BotProbe]"
) -> "PilotResult":
    """Play the pilot without the bots that fail; say what was played."""
    from arena.playing.pilot import run_pilot  # noqa: PLC0415  # as above
    from arena.terminal import plan as plan_lines  # noqa: PLC0415

    place = drawn.plan.names.index
    faulty = {place(answer.name): exclusion_seconds(answer) for answer in answers if answer.fault}
    seconds = {place(each.name): each.move_seconds for each in answers if not each.fault}
    pilot = run_pilot(drawn, options.playing, faulty, seconds)
    out(plan_lines.pilot_line(pilot, options.at_once))
    return pilot


def exclusion_seconds(answer: "BotProbe") -> float:
    """Return how long a bot that fails takes until it is excluded."""
    from arena.playing.fault_counts import FIRST_GAMES  # noqa: PLC0415  # as above

    return (FIRST_GAMES if answer.loads else 1) * (answer.start_seconds + answer.seconds)


def pilot_lines(drawn: "DrawnPlan", options: "RunOptions", answers: "Sequence[BotProbe]") -> None:
    """Play the pilot, and say what follows from it."""
    from arena.terminal import plan as plan_lines  # noqa: PLC0415  # as above

    plan, pilot = drawn.plan, pilot_with(drawn, options, answers)
    if not pilot.pairings and not pilot.answers:
        return
    left = uncached_pairs(drawn, options)
    known = plan.pairs * len(plan.matches) - sum(left.values())
    if known:
        out(f"known from earlier runs: {2 * known:,} games, which are not played")
    out(plan_lines.time_line(pilot, left, options.at_once))
    for line in (plan_lines.failing_line(plan, pilot), plan_lines.start_line(answers)):
        if line:
            out(line)
    for line in plan_lines.match_lines(drawn, pilot):
        out(line)
    if plan.stop is not None:
        out(plan_lines.sprt_line(plan.stop, pilot, plan.pairs))


def uncached_pairs(drawn: "DrawnPlan", options: "RunOptions") -> dict[tuple[int, int], int]:
    """How many pairings of each match are not known from earlier runs."""
    from arena.playing.cached_pairs import CachedPairs  # noqa: PLC0415  # as above

    pairings, at = drawn.pairings, 0
    if options.known is None or pairings.laid is not None or pairings.total > MOST_ASKED:
        return dict.fromkeys(pairings.matches, pairings.pairs)
    left, known = dict.fromkeys(pairings.matches, 0), CachedPairs(drawn, options.known)
    while at < pairings.total:
        first, at = known.unknown(pairings, at)
        for block in pairings.blocks(first, at):
            left[block.a, block.b] += block.size
    return left


def forecast_study(tuning: "StudyConfig", options: "RunOptions") -> int:
    """Say how long a study takes, by games of the seed weights against one another."""
    from arena.planning.schedule import make_schedule  # noqa: PLC0415  # as above
    from arena.terminal import plan as plan_lines  # noqa: PLC0415
    from arena.tuning.budget import budget_from_file, games_of  # noqa: PLC0415
    from arena.tuning.study_config import TYPICAL_VARIANCE  # noqa: PLC0415

    drawn, size = make_schedule(validation_experiment(tuning).plan), budget_from_file(tuning)
    answers = list(probe_lines(drawn, options))
    pilot = pilot_with(drawn, options, answers)
    test, (match,) = tuning.validation.plan(), drawn.pairings.matches
    if pilot.pairings:
        games = games_of(tuning, size)
        others = " and equal time" if games.equal_terms else ""
        for words, more in (("shortest", games.least), ("longest", games.most)):
            pairs = (games.search + more + games.equal_terms) // 2
            what = f", search{others} and the {words} claim and validation together"
            out(plan_lines.time_line(pilot, {match: pairs}, options.at_once) + what)
    if line := plan_lines.start_line(answers):
        out(line)
    out(plan_lines.test_line(test, TYPICAL_VARIANCE, size.validation_pairs))
    return CHECK_FAILED if any(answer.fault for answer in answers) else OK


def study_size_lines(tuning: "StudyConfig") -> Iterator[str]:
    """How much a study plays."""
    from arena.tuning.budget import budget_from_file, games_of  # noqa: PLC0415  # as above

    plan, name = budget_from_file(tuning), printable(tuning.experiment.name)
    games, (trials, each) = games_of(tuning, plan), plan.shown_trials
    yield (
        f"{name} on {tuning.plan.game}: a study of {len(tuning.space.axes)} weights of "
        f"{printable(tuning.agent)} by {tuning.method}"
    )
    yield f"search: {trials:,} trials of {each:,} games, {games.search:,} games"
    yield (
        f"claim and validation: from {games.least:,} to {games.most:,} games more, "
        "until the test is sure"
    )
    if games.equal_terms:
        yield f"gain at equal time or at equal nodes: {games.equal_terms:,} games more"


def validation_experiment(tuning: "StudyConfig") -> "Experiment":
    """The validation of a study as an experiment, before there are other weights."""
    from dataclasses import replace  # noqa: PLC0415  # as above

    from arena.tuning.validation import SEED, TUNED  # noqa: PLC0415

    validation = tuning.validation
    plan = replace(
        tuning.plan,
        agents={TUNED: tuning.spec, SEED: tuning.spec},
        matches=((0, 1),),
        pairs=validation.pairs,
        stop=validation.plan(),
    )
    return replace(tuning.experiment, plan=plan)


if __name__ == "__main__":
    sys.exit(main())
