"""All trials of a study: proposed, played and told, in one half or in two."""

import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from arena.keeping import provenance
from arena.keeping.journal import Journal
from arena.planning.openings import Openings
from arena.reading.command_line import RunOptions
from arena.showing.live_line import LiveLine
from arena.tuning import second_half, study_plan
from arena.tuning.gaussian_process import Posterior
from arena.tuning.optuna_study import OptunaCopy
from arena.tuning.recommendation import BestSoFar, Recommendation, recommend, recommended_text
from arena.tuning.samplers.sampler import Sampler, SearchPlan, final, sampler
from arena.tuning.space import Point
from arena.tuning.study_plan import StudyPlan
from arena.tuning.trial_games import (
    WINDOW,
    Contest,
    Feed,
    contest,
    games_per_second,
    played,
)
from arena.tuning.trials import Trial, stored_trials
from arena.tuning.tune_table import TRIALS_PER_WEIGHT, Tuning

MEASURED_SECONDS = 0.4


@dataclass(frozen=True)
class Room:
    """One study at work: its plan, what it plays, and where it is kept."""

    tuning: Tuning
    plan: StudyPlan
    contest: Contest
    held_out: Openings
    journal: Journal
    mirror: OptunaCopy
    options: RunOptions
    begun: float  # monotonic seconds


class Outcome(NamedTuple):
    """What is recommended, and the trials and the posterior of the half that it rests on."""

    found: Recommendation
    posterior: Posterior
    trials: list[Trial]
    halves: list[list[Trial]]


def prepared(tuning: Tuning, options: RunOptions, journal: Journal) -> Room:
    """Openings drawn, agents built and compiled, the plan made or found again."""
    stored, begun = journal.plan(), time.monotonic()
    kept = _planned(tuning, options) if stored is None else StudyPlan(**json.loads(stored))
    journal.keep_plan(json.dumps(kept._asdict()))
    for_trials, held_out = study_plan.drawn(tuning, kept)
    whole = _contest(tuning, kept, for_trials)
    mirror = OptunaCopy(journal.directory, tuning.experiment.name, tuning.space)
    return Room(tuning, kept, whole, held_out, journal, mirror, options, begun)


def _planned(tuning: Tuning, options: RunOptions) -> StudyPlan:
    """The file's plan, or as much of it as fits into the budget at the speed measured now."""
    written = study_plan.as_written(tuning)
    if options.budget is None:
        return written
    smallest = written._replace(games=min(written.games, 40))
    trial = _contest(tuning, smallest, study_plan.drawn(tuning, smallest)[0])
    seed = tuning.space.weights(tuning.space.point(tuning.seed_values))
    rate = games_per_second(trial, seed, MEASURED_SECONDS) * options.workers
    return study_plan.within(tuning, options.budget, rate)


def _contest(tuning: Tuning, of: StudyPlan, openings: Openings) -> Contest:
    return contest(
        tuning.plan,
        tuning.spec,
        tuning.space,
        study_plan.opponents_of(tuning, of.games),
        openings,
    )


def sampler_of(tuning: Tuning, of: StudyPlan) -> Sampler:
    """The method that the file names."""
    space, seed = tuning.space, tuning.plan.seed
    point = space.point(tuning.seed_values)
    return sampler(tuning.method, SearchPlan(space, point, seed, of.trials, of.games // 2))


def all_trials(room: Room, digest: str) -> tuple[list[Trial], Point | None, bool]:
    """The trials that the journal holds, then the others, and where a walk has arrived.

    The last word: whether they were ended at their half, as nearly all games are won.
    """
    tuning, options = room.tuning, room.options
    known = stored_trials(room.journal)
    provenance.write_run(
        room.journal.directory,
        provenance.origin_of(tuning.experiment.name, tuning.plan)._replace(digest=digest),
        {
            "tuned": tuning.agent,
            "study": room.plan._asdict(),
            "overrides": list(options.overrides),
            "reproducible": tuning.plan.reproducible,
        },
    )
    if known and not options.quiet:
        print(f"continuing: {len(known)} of {room.plan.trials} trials were there", file=sys.stderr)
    feed = Feed(
        room.contest, sampler_of(tuning, room.plan), room.plan.trials, options.workers, known
    )
    best = BestSoFar(tuning.space, tuning.space.point(tuning.seed_values), tuning.plan.seed)
    trials, too_easy = list[Trial](), False
    for trial in feed.replayed():
        trials.append(trial)
        too_easy |= ended_at_half(room, feed, trials)
    before = len(trials)
    with LiveLine(options.quiet) as line:
        deadline = room.begun + study_plan.TRIALS_SHARE * (options.budget or math.inf)
        for trial in played(feed, room.journal, options.workers, options.interrupts):
            trials.append(trial)
            too_easy |= ended_at_half(room, feed, trials)
            if time.monotonic() > deadline:
                feed.end_at_once()
            room.mirror.keep_up(trials)
            line.show(lambda seconds: study_lines(room.plan, trials, before, best, seconds))
    room.journal.keep_plan(json.dumps(room.plan._replace(trials=len(trials))._asdict()))
    return trials, final(feed.sampler), too_easy


def study_lines(
    plan: StudyPlan, trials: Sequence[Trial], before: int, best: BestSoFar, seconds: float
) -> list[str]:
    """Trials done, games per second, time left; the recommendation with its interval."""
    new = len(trials) - before
    left = seconds / max(new, 1) * (plan.trials - len(trials))
    words = [
        f"{len(trials)} of {plan.trials} trials",
        f"{new * plan.games / seconds:,.0f} games/s",
        f"{left:,.0f} s left",
        *best.words(trials, seconds),
    ]
    return [", ".join(words)]


def ended_at_half(room: Room, feed: Feed, trials: list[Trial]) -> bool:
    """Propose nothing more if it is half time and the opponents are too easy; whether they are."""
    too_easy = is_too_easy(room, trials, final(feed.sampler))
    if too_easy:
        feed.end_soon()
    return too_easy


def is_too_easy(room: Room, trials: list[Trial], arrived: Point | None) -> bool:
    """Whether half of the trials are played, and there is little to learn from more of them."""
    left = room.plan.total - room.plan.half - WINDOW
    enough = left >= TRIALS_PER_WEIGHT * len(room.tuning.space.axes)
    if len(trials) != room.plan.half or not enough or not second_half.may_change(room.tuning):
        return False
    # A fit would keep the workers waiting, and the luckiest trial promises more than it does.
    lucky = max(trial.score for trial in trials)
    return lucky >= second_half.SATURATED and second_half.too_easy(
        recommended(room, trials, arrived)[0]
    )


def recommended(
    room: Room, trials: list[Trial], arrived: Point | None
) -> tuple[Recommendation, Posterior]:
    """What the trials of this room recommend."""
    space, seed = room.tuning.space, room.tuning.plan.seed
    return recommend(space, space.point(room.tuning.seed_values), trials, seed, arrived)


def outcome(room: Room, digest: str) -> Outcome:
    """All trials, those against the best so far included, and what they recommend."""
    trials, arrived, too_easy = all_trials(room, digest)
    found, posterior = recommended(room, trials, arrived)
    left = room.plan.total - len(trials)
    if not too_easy or found.flat:
        return Outcome(found, posterior, trials, [trials])
    second, second_found, second_posterior = _second_half(room, found, left, digest)
    both = second_half.both_halves(found, second_found)
    if second_found.flat:
        return Outcome(both, posterior, trials, [trials, second])
    return Outcome(both, second_posterior, second, [trials, second])


def _second_half(
    room: Room, found: Recommendation, left: int, digest: str
) -> tuple[list[Trial], Recommendation, Posterior]:
    """The rest of the trials, against what the first half recommends."""
    if not room.options.quiet:
        print(f"{recommended_text(found)}; from now on against these", file=sys.stderr)
    tuning = second_half.against(room.tuning, found)
    directory = room.journal.directory / second_half.DIRECTORY
    with Journal(directory, digest) as journal:
        stored = journal.plan()
        # Without a half of its own: there is no third one.
        left_over = room.plan._replace(trials=left, total=0)
        kept = left_over if stored is None else StudyPlan(**json.loads(stored))
        journal.keep_plan(json.dumps(kept._asdict()))
        contest = _contest(tuning, kept, study_plan.drawn(room.tuning, room.plan)[0])
        other = replace(
            room, tuning=tuning, plan=kept, contest=contest, journal=journal,
            mirror=OptunaCopy(directory, tuning.experiment.name, tuning.space),
        )  # fmt: skip
        trials, arrived, _ = all_trials(other, digest)
        other.mirror.finish(trials)
        return trials, *recommended(other, trials, arrived)
