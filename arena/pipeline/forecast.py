"""Cost and precision of a run before it is played."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from agents.registry import varies
from arena.analysis.checks.registry import doubtful_checks, impossible_checks
from arena.config.command_line import RunOptions
from arena.config.experiment import Experiment
from arena.config.sweep import SweepPlan
from arena.pipeline.run import directory_of_run
from arena.planning.schedule import DrawnPlan, make_schedule
from arena.playing.bots import BotProbe, probe_bots
from arena.playing.cached_pairs import CachedPairs
from arena.playing.fault_counts import FIRST_GAMES
from arena.playing.pilot import PilotResult, run_pilot
from arena.storage.journal import JOURNAL
from arena.storage.provenance import read_run
from arena.terminal import plan as lines
from arena.tuning.budget import budget_to_play, games_of, openings_note
from arena.tuning.study_config import TYPICAL_VARIANCE, StudyConfig
from arena.tuning.validation import SEED, TUNED
from games.base.errors import printable
from games.base.progress import ProgressLine

MAX_PAIRS_LOOKED_UP = 200_000  # in the game cache
MAX_CELLS = 4  # of a sweep
Show = Callable[[str], None]  # gets each line as soon as it is known


def forecast(experiment: Experiment | SweepPlan, options: RunOptions, show: Show) -> bool:
    """Show what a run or a sweep will cost; return whether it can work."""
    if isinstance(experiment, SweepPlan):
        return forecast_sweep(experiment, options, show)
    return forecast_experiment(experiment, options, show)


def forecast_experiment(experiment: Experiment, options: RunOptions, show: Show) -> bool:
    """Show size, earlier run, checks, bots and time; return whether the run can work."""
    show(lines.size_line(printable(experiment.name), experiment.plan))
    specs = list(experiment.plan.agents.values())
    steady = frozenset(
        (a, b) for a, b in experiment.plan.matches if not (varies(specs[a]) or varies(specs[b]))
    )
    drawn = make_schedule(experiment.plan, fixed=steady)
    show(lines.openings_line(drawn))
    impossible = list(impossible_checks(experiment.checks, drawn))
    doubtful = doubtful_checks(experiment.checks, experiment.plan)
    for line in (*earlier_run_lines(experiment, options), *impossible, *doubtful):
        show(line)
    probes = probe(drawn, options, show)
    plays = show_time(drawn, options, probes, show)
    return plays and not impossible and not any(each.fault for each in probes)


def forecast_sweep(sweep: SweepPlan, options: RunOptions, show: Show) -> bool:
    """Show the forecasts of the first cells of a sweep; return whether all of them can work."""
    cells = sweep.cells
    plans = [cell.experiment.plan for cell in cells]
    games = sum(2 * plan.pairs * len(plan.matches) for plan in plans)
    show(f"{printable(sweep.name)}: a sweep of {len(cells):,} cells, {games:,} games in all")
    works = True
    for cell in cells[:MAX_CELLS]:
        show(f"\ncell {cell.number}: {printable(cell.words(sweep.axes))}")
        works &= forecast_experiment(cell.experiment, options, show)
    if len(cells) > MAX_CELLS:
        show(f"\n... and {len(cells) - MAX_CELLS:,} more cells")
    return works


def forecast_study(study: StudyConfig, options: RunOptions, show: Show) -> bool:
    """Show the size of a study and its time; return whether its agents work.

    The trial games are those of the agent with its weights in the file against itself.
    """
    for line in study_size_lines(study):
        show(line)
    size = budget_to_play(study)
    drawn = make_schedule(validation_experiment(study, size.validation_pairs).plan)
    probes = probe(drawn, options, show)
    pilot = play_pilot(drawn, options, probes, show)
    test, (match,) = study.validation.plan(), drawn.pairings.matches
    if pilot.pairings:
        games = games_of(study, size)
        others = " and equal time" if games.equal_terms else ""
        for name, more in (("shortest", games.least), ("longest", games.most)):
            pairs = (games.search + more + games.equal_terms) // 2
            parts = f", search{others} and the {name} claim and validation together"
            show(lines.time_line(pilot, {match: pairs}, options.at_once) + parts)
    if line := lines.start_line(probes):
        show(line)
    show(lines.test_line(test, TYPICAL_VARIANCE, size.validation_pairs))
    return not any(each.fault for each in probes)


def earlier_run_lines(experiment: Experiment, options: RunOptions) -> Iterator[str]:
    """Yield a line if this run has been played or started before."""
    directory = directory_of_run(experiment, options.results)
    stored = read_run(directory)
    if stored.get("finished"):
        yield f"this run is finished: {printable(str(directory))}"
    elif reason := stored.get("failed"):
        yield f"this run failed: {printable(str(reason).splitlines()[0])}"
    elif (directory / JOURNAL).exists():
        yield f"this run has started and continues where it stopped: {printable(str(directory))}"


def probe(drawn: DrawnPlan, options: RunOptions, show: Show) -> list[BotProbe]:
    """Ask every bot for one move and show the answers."""
    options.wall.required |= drawn.plan.walls_required
    probes = []
    with ProgressLine() as line:
        for each in probe_bots(drawn.plan, options.wall, line.show):
            line.clear()
            show(lines.answer_line(each))
            probes.append(each)
    return probes


def play_pilot(
    drawn: DrawnPlan, options: RunOptions, probes: Sequence[BotProbe], show: Show
) -> PilotResult:
    """Play trial games without the bots that failed, and show how many."""
    place = drawn.plan.names.index
    faulty = {place(each.name): exclusion_seconds(each) for each in probes if each.fault}
    seconds = {place(each.name): each.move_seconds for each in probes if not each.fault}
    with ProgressLine() as line:
        pilot = run_pilot(drawn, options.playing, faulty, seconds, line.show)
    show(lines.pilot_line(pilot, options.at_once))
    return pilot


def exclusion_seconds(probe: BotProbe) -> float:
    """Return how long a bot that fails takes until it is excluded."""
    return (FIRST_GAMES if probe.loads else 1) * (probe.start_seconds + probe.seconds)


def show_time(
    drawn: DrawnPlan, options: RunOptions, probes: Sequence[BotProbe], show: Show
) -> bool:
    """Play trial games, show time and precision; return whether no bot fails its first games."""
    plan, pilot = drawn.plan, play_pilot(drawn, options, probes, show)
    for line in (*lines.failed_lines(plan, pilot), lines.failing_line(plan, pilot)):
        if line:
            show(line)
    if (pilot.failing and plan.unloadable_stops) or not (pilot.pairings or pilot.answers):
        return not pilot.failing
    left = uncached_pairs(drawn, options)
    known = plan.pairs * len(plan.matches) - round(sum(left.values()))
    if known and plan.rounds is None:
        show(f"in the game cache: {2 * known:,} games, which are not played")
    show(lines.time_line(pilot, left, options.at_once))
    if line := lines.start_line(probes):
        show(line)
    for line in lines.match_lines(drawn, pilot):
        show(line)
    if plan.stop is not None:
        show(lines.sprt_line(plan.stop, pilot, plan.pairs))
    return not pilot.failing


def uncached_pairs(drawn: DrawnPlan, options: RunOptions) -> dict[tuple[int, int], float]:
    """Return how many pairs of each match are not in the game cache."""
    pairings, at = drawn.pairings, 0
    if (fixed := lines.pairs_by_rounds(drawn.plan)) is not None:  # the matches are not known yet
        return dict.fromkeys(pairings.matches, fixed / len(pairings.matches))
    if options.known is None or pairings.laid is not None or pairings.total > MAX_PAIRS_LOOKED_UP:
        return dict.fromkeys(pairings.matches, float(pairings.pairs))
    left, known = dict.fromkeys(pairings.matches, 0.0), CachedPairs(drawn, options.known)
    while at < pairings.total:
        first, at = known.unknown(pairings, at)
        for block in pairings.blocks(first, at):
            left[block.a, block.b] += block.size
    return left


def study_size_lines(study: StudyConfig) -> Iterator[str]:
    """Yield how many games a study plays."""
    budget, name = budget_to_play(study), printable(study.experiment.name)
    games, (trials, each) = games_of(study, budget), budget.shown_trials
    count = len(study.space.axes)
    weights = "1 weight" if count == 1 else f"{count} weights"
    yield (
        f"{name} on {study.plan.game}: a study of {weights} of "
        f"{printable(study.agent)} by {study.method}"
    )
    yield f"search: {trials:,} trials of {each:,} games, {games.search:,} games"
    yield (
        f"claim and validation: from {games.least:,} to {games.most:,} games more, "
        "until the test is sure"
    )
    if note := openings_note(study.validation.pairs, budget.validation_pairs):
        yield note
    if games.equal_terms:
        yield f"gain at equal time or at equal nodes: {games.equal_terms:,} games more"


def validation_experiment(study: StudyConfig, pairs: int) -> Experiment:
    """Return the validation of a study as an experiment of the agent against itself."""
    validation = study.validation
    plan = replace(
        study.plan,
        agents={TUNED: study.spec, SEED: study.spec},
        matches=((0, 1),),
        pairs=pairs,
        stop=validation.plan(),
    )
    return replace(study.experiment, plan=plan)
