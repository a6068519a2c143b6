"""Forecast the cost and the precision of a run before it is played."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace

import numpy as np

from agents.registry import randomness_reason
from agents.sandbox.sandbox import Sandbox
from arena.analysis.checks.registry import doubtful_checks, impossible_checks
from arena.config.experiment import Experiment
from arena.config.run_options import RunOptions
from arena.config.sweep import SweepPlan
from arena.pipeline.run import run_directory
from arena.planning.plan import Plan
from arena.planning.schedule import RoundTracker, Schedule, make_schedule
from arena.playing.bots import BotProbe, probe_bots
from arena.playing.cached_pairs import CachedPairs
from arena.playing.determinism import SHARE
from arena.playing.forfeits import FIRST_GAMES
from arena.playing.pilot import PilotResult, TimeRange, run_pilot
from arena.storage.journal import JOURNAL
from arena.storage.provenance import load_run_file
from arena.terminal import plan as lines
from arena.tuning.budget import budget_to_play, openings_note, study_games
from arena.tuning.study_config import TYPICAL_VARIANCE, StudyConfig
from arena.tuning.validation import SEED, TUNED
from games.base.errors import printable
from games.base.progress import ProgressLine

MAX_PAIRS_LOOKED_UP = 200_000  # in the game cache
MAX_CELLS = 4  # of a sweep
CLASS_SECONDS = 10.0  # of the pilot of a class, whose games are few for each bot
CLASS_SPREAD = 300.0  # Elo: standard deviation of the strengths in a class
Show = Callable[[str], None]  # receives each line of the forecast


def forecast(experiment: Experiment | SweepPlan, options: RunOptions, show: Show) -> bool:
    """Show the cost of a run or a sweep; return whether it can be played."""
    if isinstance(experiment, SweepPlan):
        return forecast_sweep(experiment, options, show)
    return forecast_experiment(experiment, options, show)


def forecast_experiment(experiment: Experiment, options: RunOptions, show: Show) -> bool:
    """Show size, earlier run, checks, bots and time; return whether it can be played."""
    show(lines.size_line(printable(experiment.name), experiment.plan))
    specs = list(experiment.plan.agents.values())
    deterministic = frozenset(
        (a, b)
        for a, b in experiment.plan.matches
        if not (randomness_reason(specs[a]) or randomness_reason(specs[b]))
    )
    schedule = make_schedule(experiment.plan, deterministic=deterministic)
    show(lines.openings_line(schedule))
    impossible = list(impossible_checks(experiment.checks, schedule))
    doubtful = doubtful_checks(experiment.checks, experiment.plan)
    for line in (*earlier_run_lines(experiment, options), *impossible, *doubtful):
        show(line)
    probes = show_probes(schedule, options, show)
    plays = show_time(schedule, options, probes, show)
    return plays and not impossible and not any(each.fault for each in probes)


def forecast_sweep(sweep: SweepPlan, options: RunOptions, show: Show) -> bool:
    """Show the forecasts of the first cells of a sweep; return whether all can be played."""
    cells = sweep.cells
    plans = [cell.experiment.plan for cell in cells]
    games = sum(2 * plan.pairs * len(plan.matches) for plan in plans)
    show(f"{printable(sweep.name)}: a sweep of {len(cells):,} cells, {games:,} games in all")
    works = True
    for cell in cells[:MAX_CELLS]:
        show("")
        show(f"cell {cell.number}: {printable(cell.words(sweep.axes))}")
        works &= forecast_experiment(cell.experiment, options, show)
    if len(cells) > MAX_CELLS:
        show("")
        show(f"... and {len(cells) - MAX_CELLS:,} more cells")
    return works


def forecast_study(study: StudyConfig, options: RunOptions, show: Show) -> bool:
    """Show the size of a study and its time; return whether its agents work.

    In the trial games, the agent with the weights of the file plays against itself.
    """
    for line in study_size_lines(study):
        show(line)
    size = budget_to_play(study)
    schedule = make_schedule(validation_experiment(study, size.validation_pairs).plan)
    probes = show_probes(schedule, options, show)
    pilot = play_pilot(schedule, options, probes, show)
    test, (match,) = study.validation.plan(), schedule.pairs.matches
    if pilot.pairs:
        games = study_games(study, size)
        others = " and equal time" if games.other_cost else ""
        for name, more in (("shortest", games.fewest_decision), ("longest", games.most_decision)):
            pairs = (games.search + more + games.other_cost) // 2
            parts = f", search{others} and the {name} claim and validation together"
            show(lines.time_line(pilot, {match: pairs}, options.parallel_games) + parts)
    if line := lines.start_time_line(probes):
        show(line)
    show(lines.sprt_length_line(test, TYPICAL_VARIANCE, size.validation_pairs))
    return not any(each.fault for each in probes)


def earlier_run_lines(experiment: Experiment, options: RunOptions) -> Iterator[str]:
    """Yield a line if this run has been played or started before."""
    directory = run_directory(experiment, options.results)
    stored = load_run_file(directory)
    if stored.get("finished"):
        yield f"this run is finished: {printable(str(directory))}"
    elif reason := stored.get("failed"):
        yield f"this run failed: {printable(str(reason).splitlines()[0])}"
    elif (directory / JOURNAL).exists():
        yield f"this run has started and continues where it stopped: {printable(str(directory))}"


def show_probes(schedule: Schedule, options: RunOptions, show: Show) -> list[BotProbe]:
    """Ask every bot for one move and show the answers."""
    options.sandbox.required |= schedule.plan.sandbox_required
    probes = []
    with ProgressLine() as line:
        for each in probe_bots(schedule.plan, options.sandbox, line.show):
            line.clear()
            show(lines.bot_line(each))
            probes.append(each)
    return probes


def play_pilot(
    schedule: Schedule, options: RunOptions, probes: Sequence[BotProbe], show: Show
) -> PilotResult:
    """Play trial games without the bots that failed, and show how many."""
    place = schedule.plan.names.index
    faulty = {place(each.name): exclusion_seconds(each) for each in probes if each.fault}
    seconds = {place(each.name): each.move_seconds for each in probes if not each.fault}
    with ProgressLine() as line:
        pilot = run_pilot(schedule, options.playing, faulty, seconds, line.show)
    show(lines.pilot_line(pilot, options.parallel_games))
    return pilot


def exclusion_seconds(probe: BotProbe) -> float:
    """Return how long a bot that fails takes until it is excluded."""
    return (FIRST_GAMES if probe.loads else 1) * (probe.start_seconds + probe.seconds)


def show_time(
    schedule: Schedule, options: RunOptions, probes: Sequence[BotProbe], show: Show
) -> bool:
    """Play trial games, show time and precision; return whether no bot fails its first games."""
    plan, pilot = schedule.plan, play_pilot(schedule, options, probes, show)
    for line in (*lines.failure_lines(plan, pilot), lines.exclusion_line(plan, pilot)):
        if line:
            show(line)
    stops = any(plan.names[place] in plan.required_agents for place in pilot.failing)
    if stops or not (pilot.pairs or pilot.answers):
        return not pilot.failing
    left = pairs_to_play(schedule, options)
    known = plan.pairs * len(plan.matches) - round(sum(left.values()))
    if known and plan.rounds is None:
        show(f"in the game cache: {2 * known:,} games, which are not played again")
    show(lines.time_line(pilot, left, options.parallel_games))
    if line := lines.start_time_line(probes):
        show(line)
    for line in lines.match_lines(schedule, pilot):
        show(line)
    if plan.stop is not None:
        show(lines.stop_line(plan.stop, pilot, plan.pairs))
    return not pilot.failing


def pairs_to_play(schedule: Schedule, options: RunOptions) -> dict[tuple[int, int], float]:
    """Return the number of pairs of each match that are not in the game cache."""
    pairs, at = schedule.pairs, 0
    if pairs.round_blocks == () and (fixed := lines.pairs_by_rounds(schedule.plan)) is not None:
        return dict.fromkeys(pairs.matches, fixed / len(pairs.matches))  # its matches are unknown
    if options.cache is None or pairs.round_blocks == () or pairs.total > MAX_PAIRS_LOOKED_UP:
        return dict.fromkeys(pairs.matches, float(pairs.pairs_per_match))
    left, known = dict.fromkeys(pairs.matches, 0.0), CachedPairs(schedule, options.cache)
    while at < pairs.total:
        first, at = known.pairs_to_play(pairs, at)
        for block in pairs.blocks(first, at):
            left[block.a, block.b] += block.size
    return left


def class_time(plan: Plan, options: RunOptions, show: Show) -> tuple[TimeRange, int]:
    """Return the time of the games that are not in the cache, and their number.

    Trial games of bots that failed before show nothing new; `show` gets what the pilot played.
    """
    schedule = make_schedule(plan)
    left = pairs_to_play(expected_rounds(schedule), options)
    games = round(2 * sum(left.values()))
    if not games:
        return TimeRange(0.0, 0.0, 0.0), 0
    open_matches = tuple(match for match, pairs in left.items() if pairs)
    trial = make_schedule(replace(plan, matches=open_matches, rounds=None), schedule.openings)
    # Another sandbox: bots of this process would stay in that of the run.
    with closing(Sandbox()) as sandbox, ProgressLine() as line:
        playing = options.playing._replace(sandbox=sandbox)
        pilot = run_pilot(trial, playing, show=line.show, seconds=CLASS_SECONDS)
    show(lines.pilot_line(pilot, options.parallel_games))
    found = pilot.estimate_time(left, options.parallel_games)
    # Bots play some games again, to see whether they repeat their moves.
    return TimeRange(*((1.0 + SHARE) * each for each in found)), games


def expected_rounds(schedule: Schedule) -> Schedule:
    """Return a schedule by rounds with the rounds that it may have, from simulated results.

    The simulated agents are spread like those of a class. Other schedules do not change.
    """
    tracker, done = RoundTracker(schedule), 0
    rng = np.random.default_rng(schedule.plan.seed)
    strengths = rng.normal(0.0, CLASS_SPREAD, len(schedule.plan.names))
    while schedule.plan.rounds is not None and done < (end := tracker.total):
        columns = tracker.columns(done, end)
        elo = strengths[columns["first"][::2]] - strengths[columns["second"][::2]]
        wins = rng.random((2, end - done)) < 1.0 / (1.0 + 10.0 ** (-elo / 400.0))
        tracker.add_points(done, (2 * wins.sum(axis=0)).astype(np.int8))
        done = end
    return tracker.schedule


def study_size_lines(study: StudyConfig) -> Iterator[str]:
    """Yield how many games a study plays."""
    budget, name = budget_to_play(study), printable(study.experiment.name)
    games, (trials, each) = study_games(study, budget), budget.bundle_counts
    count = len(study.space.axes)
    weights = "1 weight" if count == 1 else f"{count} weights"
    yield (
        f"{name} on {study.plan.game_name}: a study of {weights} of "
        f"{printable(study.agent)} by {study.method}"
    )
    yield f"search: {trials:,} trials of {each:,} games, {games.search:,} games"
    yield (
        f"claim and validation: from {games.fewest_decision:,} to {games.most_decision:,} games "
        "more, until the test decides"
    )
    if note := openings_note(study.validation.pairs, budget.validation_pairs):
        yield note
    if games.other_cost:
        yield f"gain at equal time or at equal nodes: {games.other_cost:,} games more"


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
