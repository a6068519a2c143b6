"""The search of a study: all of its trials, in one half or in two."""

import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from agents.wall.wall import Wall
from arena.keeping import provenance
from arena.keeping.journal import Journal
from arena.planning.openings import Openings, make_openings
from arena.reading.command_line import RunOptions
from arena.showing.live_line import LiveLine
from arena.tuning import second_half, study_plan
from arena.tuning.bundles import bundled
from arena.tuning.equal_time import share_of_nodes
from arena.tuning.gaussian_process import Posterior
from arena.tuning.optuna_study import OptunaCopy
from arena.tuning.recommendation import BestSoFar, Recommendation, recommend, recommended_text
from arena.tuning.samplers.sampler import (
    Sampler,
    SearchPlan,
    clipped,
    final,
    own_pairs,
    sampler,
    sharing,
)
from arena.tuning.space import Point
from arena.tuning.study_plan import StudyPlan
from arena.tuning.trial_games import TrialGames, games_per_second, trial_games
from arena.tuning.trial_queue import WINDOW, TrialQueue, played
from arena.tuning.trials import Trial, stored_trials
from arena.tuning.tune_file import Tuning
from arena.tuning.tune_problems import TRIALS_PER_WEIGHT
from arena.tuning.tune_table import TIME
from games.terminal import say

MEASURED_SECONDS = 0.4
MEASURED_OPENINGS = 10
STEPS_AHEAD = 6  # a walk that learns so late loses nothing, if the mean of its last half counts


@dataclass(frozen=True)
class Study:
    """A study under way: its plan, its games, its journal."""

    tuning: Tuning
    plan: StudyPlan
    games: TrialGames
    held_out: Openings
    journal: Journal
    mirror: OptunaCopy
    options: RunOptions
    begun: float  # monotonic seconds


class Search(NamedTuple):
    """The recommendation, with the trials and the posterior of the half that it rests on."""

    best: Recommendation
    posterior: Posterior
    trials: list[Trial]
    halves: list[list[Trial]]
    clipped: tuple[bool, ...]  # which weights an edge held back


class HalfPlayed(NamedTuple):
    """The trials of a study, or of its second half."""

    trials: list[Trial]
    arrived: Point | None  # where a walk has arrived
    too_easy: bool  # whether they ended at half time because nearly all games were won
    clipped: tuple[bool, ...]


def prepared(tuning: Tuning, options: RunOptions, journal: Journal) -> Study:
    """The study, ready to play: openings drawn, agents compiled, its plan made or read back."""
    stored, begun = journal.plan(), time.monotonic()
    plan = _planned(tuning, options) if stored is None else StudyPlan(**json.loads(stored))
    journal.keep_plan(json.dumps(plan._asdict()))
    tuning = replace(tuning, share=plan.share)
    for_trials, held_out = study_plan.drawn(tuning, plan)
    whole = _trial_games(tuning, plan, for_trials, options.wall)
    mirror = OptunaCopy(journal.directory, tuning.experiment.name, tuning.space)
    return Study(tuning, plan, whole, held_out, journal, mirror, options, begun)


def _planned(tuning: Tuning, options: RunOptions) -> StudyPlan:
    """The file's plan, or as much of it as fits into the budget at the speed measured now."""
    share = share_of_candidates(tuning, options.wall) if tuning.equal == TIME else 1.0
    whole = study_plan.as_written(tuning)._replace(share=share)
    if options.budget is None:
        return whole
    smallest = whole._replace(games=min(whole.games, 40), trials=1, wanted=1, total=1)
    openings = study_plan.drawn(tuning, smallest)[0]
    trial = _trial_games(tuning, smallest, openings, options.wall)
    seed = tuning.space.changes(tuning.space.point(tuning.seed_values))
    rate = games_per_second(trial, seed, MEASURED_SECONDS) * options.workers
    return study_plan.within(tuning, options.budget, rate)._replace(share=share)


def share_of_candidates(tuning: Tuning, wall: Wall) -> float:
    """The share of nodes of candidates, none of whose tuned weights is 0: those cost time."""
    space, values = tuning.space, dict(tuning.seed_values)
    for axis in space.axes:
        if not values[axis.name] and not axis.choices:
            values[axis.name] = max(axis.low, axis.high, key=abs)
    candidate = tuning.spec.changed(**space.changes(space.point(values)))
    openings = make_openings(
        tuning.plan.of, tuning.plan.openings, MEASURED_OPENINGS, tuning.plan.seed
    )
    return share_of_nodes(candidate, tuning.spec, tuning.plan.of, openings, wall)


def _trial_games(tuning: Tuning, of: StudyPlan, openings: Openings, wall: Wall) -> TrialGames:
    return trial_games(
        tuning.plan,
        tuning.candidate,
        tuning.space,
        study_plan.opponents_of(tuning, of.games),
        openings,
        of.wanted,
        sharing(tuning.method),
        wall,
    )


def sampler_of(tuning: Tuning, of: StudyPlan) -> Sampler:
    """The method that the file names."""
    space, seed = tuning.space, tuning.plan.seed
    point = space.point(tuning.seed_values)
    begin = None if tuning.start_values is None else space.point(tuning.start_values)
    plan = SearchPlan(space, point, seed, of.wanted, of.games // 2, begin)
    return sampler(tuning.method, plan)


def window_of(tuning: Tuning) -> int:
    """How many trials are under way: small steps are many, or the workers would wait."""
    return STEPS_AHEAD * sharing(tuning.method) if own_pairs(tuning.method) else WINDOW


def write_run(study: Study, digest: str) -> None:
    """Write run.json of the study, or of its second half."""
    tuning = study.tuning
    provenance.write_run(
        study.journal.directory,
        provenance.origin_of(tuning.experiment.name, tuning.plan)._replace(digest=digest),
        {
            "path": str(tuning.experiment.path.absolute()),
            "tuned": tuning.agent,
            "study": study.plan._asdict(),
            "overrides": list(study.options.overrides),
            "reproducible": tuning.plan.repeats,
        },
    )


def all_trials(study: Study, digest: str) -> HalfPlayed:
    """The trials of the journal, then the others."""
    tuning, options = study.tuning, study.options
    known = stored_trials(study.journal)
    write_run(study, digest)
    if known and not options.quiet:
        size = study.plan.size
        done, whole = len(known) // size, study.plan.trials // size
        say(f"continuing: {done} of {whole} trials were played before")
    queue = TrialQueue(
        study.games, sampler_of(tuning, study.plan), study.plan.trials, options.workers, known,
        window_of(tuning), study.plan.size > 1,
    )  # fmt: skip
    best = BestSoFar(tuning.space, tuning.space.point(tuning.seed_values), tuning.plan.seed)
    trials, too_easy = list[Trial](), False
    for trial in queue.replayed():
        trials.append(trial)
        too_easy |= ended_at_half(study, queue, trials)
    before = len(trials)
    shown = bundled(trials[: before - before % study.plan.size], study.plan.size)
    with LiveLine(options.quiet, study.journal.directory) as line:
        deadline = study.begun + study_plan.TRIALS_SHARE * (options.budget or math.inf)
        for trial in played(queue, study.journal, options.playing):
            trials.append(trial)
            too_easy |= ended_at_half(study, queue, trials)
            if time.monotonic() > deadline:
                queue.end_at_once()
            if len(trials) % study.plan.size == 0:
                shown += bundled(trials[-study.plan.size :], study.plan.size, len(shown))
                study.mirror.keep_up(shown)
            line.show(lambda seconds: study_lines(study.plan, trials, before, best, seconds))
    study.journal.keep_plan(json.dumps(study.plan._replace(trials=len(trials))._asdict()))
    return HalfPlayed(trials, final(queue.sampler), too_easy, clipped(queue.sampler))


def study_lines(
    plan: StudyPlan, trials: Sequence[Trial], before: int, best: BestSoFar, seconds: float
) -> list[str]:
    """Trials played, games per second, time left; the recommendation with its interval."""
    new = len(trials) - before
    left = seconds / max(new, 1) * (plan.trials - len(trials))
    words = [
        f"{len(trials) // plan.size} of {plan.trials // plan.size} trials",
        f"{new * plan.games / seconds:,.0f} games/s",
        f"{left:,.0f} s left",
        *best.words(trials, seconds),
    ]
    return [", ".join(words)]


def ended_at_half(study: Study, queue: TrialQueue, trials: list[Trial]) -> bool:
    """Whether it is half time and the opponents are too easy; if so, nothing more is proposed."""
    if len(trials) != study.plan.half:
        return False
    too_easy = is_too_easy(study, trials, final(queue.sampler))
    if too_easy:
        queue.end_soon()
    return too_easy


def is_too_easy(study: Study, trials: list[Trial], arrived: Point | None) -> bool:
    """Whether the other half of the trials would teach little."""
    left = study.plan.total - study.plan.half - window_of(study.tuning)
    enough = left >= TRIALS_PER_WEIGHT * len(study.tuning.space.axes)
    if not enough or not second_half.may_change(study.tuning):
        return False
    # A fit would keep the workers waiting, and the luckiest trial promises more than it does.
    lucky = max(trial.score for trial in bundled(trials, study.plan.size))
    return lucky >= second_half.SATURATED and second_half.too_easy(
        recommended(study, trials, arrived)[0]
    )


def recommended(
    study: Study, trials: list[Trial], arrived: Point | None
) -> tuple[Recommendation, Posterior]:
    """The recommendation of the trials of this study."""
    space, seed = study.tuning.space, study.tuning.plan.seed
    seed_point, shown = space.point(study.tuning.seed_values), bundled(trials, study.plan.size)
    best, posterior = recommend(space, seed_point, trials, seed, arrived)
    return best._replace(trials=len(shown)), posterior


def search(study: Study, digest: str) -> Search:
    """Play all trials, with those of a second half; returns their recommendation."""
    trials, arrived, too_easy, clipped_first = all_trials(study, digest)
    best, posterior = recommended(study, trials, arrived)
    size, left = study.plan.size, study.plan.total - len(trials)
    if not too_easy or best.flat:
        return Search(
            best, posterior, bundled(trials, size), [bundled(trials, size)], clipped_first
        )
    half, second_best, second_posterior = _second_half(study, best, left, digest)
    both = second_half.both_halves(best, second_best)
    halves = [bundled(each, size) for each in (trials, half.trials)]
    if second_best.flat:
        return Search(both, posterior, halves[0], halves, clipped_first)
    return Search(both, second_posterior, halves[1], halves, half.clipped)


def _second_half(
    study: Study, best: Recommendation, left: int, digest: str
) -> tuple[HalfPlayed, Recommendation, Posterior]:
    """The rest of the trials, against what the first half recommends."""
    if not study.options.quiet:
        say(f"{recommended_text(best)}; the other trials play against these weights")
    tuning = second_half.against(study.tuning, best)
    directory = study.journal.directory / second_half.DIRECTORY
    with Journal(directory, digest) as journal:
        stored = journal.plan()
        # total=0: a second half is not halved again.
        left_over = study.plan._replace(trials=left, total=0, wanted=left)
        plan = left_over if stored is None else StudyPlan(**json.loads(stored))
        journal.keep_plan(json.dumps(plan._asdict()))
        openings = study_plan.drawn(study.tuning, study.plan)[0]
        openings = study_plan.after(openings, (study.plan.total - left) * study.plan.games // 2)
        games = _trial_games(tuning, plan, openings, study.options.wall)
        other = replace(
            study, tuning=tuning, plan=plan, games=games, journal=journal,
            mirror=OptunaCopy(directory, tuning.experiment.name, tuning.space),
        )  # fmt: skip
        half = all_trials(other, digest)
        other.mirror.finish(bundled(half.trials, plan.size))
        return half, *recommended(other, half.trials, half.arrived)
