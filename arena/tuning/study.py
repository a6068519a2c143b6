"""Run a study."""

import hashlib
import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

from agents.sandbox.sandbox import Wall
from arena.config.command_line import RunOptions
from arena.planning.openings.openings import Openings
from arena.planning.openings.registry import make_openings
from arena.storage import provenance
from arena.storage.journal import Journal
from arena.storage.run_log import RunLog
from arena.terminal.progress_line import LiveLine, run_shown
from arena.tuning import budget, second_half, study_files
from arena.tuning.budget import TERM_SHARE, StudyPlan
from arena.tuning.equal_time import share_of_nodes
from arena.tuning.learned_start import with_start
from arena.tuning.optuna_study import OptunaCopy, StudyEnd
from arena.tuning.problems import TRIALS_PER_WEIGHT, few_valued
from arena.tuning.recommendation import (
    BestSoFar,
    Recommendation,
    after_match,
    answer_lines,
    importances,
    recommend,
    recommended_text,
    weight_answers,
)
from arena.tuning.samplers.registry import (
    Sampler,
    SearchPlan,
    clipped,
    final,
    own_pairs,
    sampler,
    sharing,
    widened,
)
from arena.tuning.space import Point, values_text
from arena.tuning.study_config import Tuning, against_seed
from arena.tuning.study_page import StudyReport, pictures, whole_page
from arena.tuning.surrogate import Posterior
from arena.tuning.table import TIME
from arena.tuning.trial_games import (
    WINDOW,
    TrialGames,
    TrialQueue,
    games_per_second,
    played,
    trial_games,
)
from arena.tuning.trials import Trial, bundled, stored_trials
from arena.tuning.validation import (
    SEED,
    TUNED,
    Shown,
    StudyVerdict,
    Validation,
    claim_text,
    could_be_shown,
    gain_lines,
    gains_on_other_terms,
    opponents_text,
    unneeded,
    validate,
    validate_pool,
)
from games.base.errors import printable, printed, say
from games.base.files import write_text
from games.base.text import listed

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
    widened: bool  # whether the steps became wider, as no game changed


class HalfPlayed(NamedTuple):
    """The trials of a study, or of its second half."""

    trials: list[Trial]
    arrived: Point | None  # where a walk has arrived
    too_easy: bool  # whether they ended at half time because nearly all games were won
    clipped: tuple[bool, ...]
    widened: bool


def prepared(tuning: Tuning, options: RunOptions, journal: Journal) -> Study:
    """The study, ready to play: openings drawn, agents compiled, its plan made or read back."""
    stored, begun = journal.plan(), time.monotonic()
    plan = _planned(tuning, options) if stored is None else StudyPlan(**json.loads(stored))
    journal.keep_plan(json.dumps(plan._asdict()))
    tuning = replace(tuning, share=plan.share)
    for_trials, held_out = budget.drawn(tuning, plan)
    whole = _trial_games(tuning, plan, for_trials, options.wall)
    mirror = OptunaCopy(journal.directory, tuning.experiment.name, tuning.space)
    return Study(tuning, plan, whole, held_out, journal, mirror, options, begun)


def _planned(tuning: Tuning, options: RunOptions) -> StudyPlan:
    """The file's plan, or as much of it as fits into the budget at the speed measured now."""
    share = share_of_candidates(tuning, options.wall) if tuning.equal == TIME else 1.0
    whole = budget.as_written(tuning)._replace(share=share)
    if options.budget is None:
        return whole
    smallest = whole._replace(games=min(whole.games, 40), trials=1, wanted=1, total=1)
    openings = budget.drawn(tuning, smallest)[0]
    trial = _trial_games(tuning, smallest, openings, options.wall)
    seed = tuning.space.changes(tuning.space.point(tuning.seed_values))
    rate = games_per_second(trial, seed, MEASURED_SECONDS) * options.workers
    return budget.within(tuning, options.budget, rate)._replace(share=share)


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
        budget.opponents_of(tuning, of.games),
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
    best = BestSoFar(
        tuning.space, tuning.space.point(tuning.seed_values), tuning.plan.seed,
        sharing(tuning.method),
    )  # fmt: skip
    trials, too_easy = list[Trial](), False
    for trial in queue.replayed():
        trials.append(trial)
        too_easy |= ended_at_half(study, queue, trials)
    before, steps = len(trials), widened(queue.sampler)
    shown = bundled(trials[: before - before % study.plan.size], study.plan.size)
    with LiveLine(options.quiet, study.journal.directory) as line:
        deadline = study.begun + budget.TRIALS_SHARE * (options.budget or math.inf)
        for trial in played(queue, study.journal, options.playing):
            trials.append(trial)
            too_easy |= ended_at_half(study, queue, trials)
            steps = widened_steps(queue.sampler, steps, options)
            if time.monotonic() > deadline:
                queue.end_at_once()
            if len(trials) % study.plan.size == 0:
                shown += bundled(trials[-study.plan.size :], study.plan.size, len(shown))
                study.mirror.keep_up(shown)
            line.show(lambda seconds: study_lines(study.plan, trials, before, best, seconds))
    study.journal.keep_plan(json.dumps(study.plan._replace(trials=len(trials))._asdict()))
    return HalfPlayed(
        trials, final(queue.sampler), too_easy, clipped(queue.sampler), widened(queue.sampler) > 1.0
    )


def widened_steps(of: Sampler, before: float, options: RunOptions) -> float:
    """How many times as wide the steps are now; it is said when that is new."""
    now = widened(of)
    if now > before and not options.quiet:
        say("no game changed between candidates: the search takes wider steps")
    return now


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
    best, posterior = recommend(
        space, seed_point, trials, seed, arrived, sharing(study.tuning.method)
    )
    return best._replace(trials=len(shown)), posterior


def search(study: Study, digest: str) -> Search:
    """Play all trials, with those of a second half; returns their recommendation."""
    trials, arrived, too_easy, clipped_first, wider = all_trials(study, digest)
    best, posterior = recommended(study, trials, arrived)
    size, left = study.plan.size, study.plan.total - len(trials)
    if not too_easy or best.flat:
        return Search(
            best, posterior, bundled(trials, size), [bundled(trials, size)], clipped_first, wider
        )
    half, second_best, second_posterior = _second_half(study, best, left, digest)
    both = second_half.both_halves(best, second_best)
    halves = [bundled(each, size) for each in (trials, half.trials)]
    if second_best.flat:
        return Search(both, posterior, halves[0], halves, clipped_first, wider)
    return Search(both, second_posterior, halves[1], halves, half.clipped, wider or half.widened)


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
        openings = budget.drawn(study.tuning, study.plan)[0]
        openings = budget.after(openings, (study.plan.total - left) * study.plan.games // 2)
        games = _trial_games(tuning, plan, openings, study.options.wall)
        other = replace(
            study, tuning=tuning, plan=plan, games=games, journal=journal,
            mirror=OptunaCopy(directory, tuning.experiment.name, tuning.space),
        )  # fmt: skip
        half = all_trials(other, digest)
        other.mirror.finish(bundled(half.trials, plan.size))
        return half, *recommended(other, half.trials, half.arrived)


def tune(tuning: Tuning, options: RunOptions) -> StudyVerdict:
    """Play what is left of the study and of its validation; write its files, print the answer."""
    options.wall.required |= tuning.plan.walls_required
    digest = study_digest(tuning, options.budget)
    directory = options.results / tuning.experiment.name / f"tune-{digest}"
    with Journal(directory, digest, options.fresh) as journal, RunLog(directory / "run.log"):
        tuning = with_start(tuning, options, directory, digest)
        study = prepared(tuning, options, journal)
        return concluded(study, search(study, digest), digest)


def study_digest(tuning: Tuning, budget: float | None) -> str:
    """The name of a study: all that decides its trials."""
    deciding = {
        "experiment": tuning.plan.digest(),
        "agent": tuning.agent,
        "axes": tuning.space.axes,
        "fixed": dict(tuning.space.fixed),
        "constraints": tuning.space.constraints,
        "equal": tuning.equal,
        "seeds": dict(tuning.seed_values),
        "opponents": tuning.opponents,
        "games": tuning.games,
        "trials": tuning.trials,
        "method": tuning.method,
        "start": tuning.start,
        "validation": asdict(tuning.validation),
        "budget": budget,
        "code": provenance.code_digest(),
    }
    return hashlib.blake2b(json.dumps(deciding).encode(), digest_size=5).hexdigest()


def concluded(study: Study, searched: Search, digest: str) -> StudyVerdict:
    """Validate the recommendation, write everything, print the answer."""
    tuning, directory = study.tuning, study.journal.directory
    best, posterior, trials, halves, clipped, widened = searched
    origin = {"experiment": tuning.experiment.name, "run": digest, "game": tuning.plan.game}
    study_files.write_trials(directory / "trials.parquet", tuning.space, halves, origin)
    rows = importances(tuning.space, posterior, best.best_point)
    seed_point = tuning.space.point(tuning.seed_values)
    answers = weight_answers(
        tuning.space, posterior, best.best_point, seed_point, tuning.plan.seed, clipped
    )
    study_files.write_importance(directory / "importance.parquet", rows, origin)
    path, before = directory / "recommendation.json", after_match(answers, shows_gain=False)
    study_files.write_json(
        path, study_files.recommendation_json(tuning, best, trials, before, None, widened)
    )
    if not study.options.quiet:
        say(recommended_text(best))
    study.mirror.keep_up(halves[0])
    validation = validated(study, searched)
    study.mirror.finish(halves[0], study_end(tuning, best, validation))
    answers = after_match(answers, validation.shows_gain)
    result = study_files.recommendation_json(tuning, best, trials, answers, validation, widened)
    study_files.write_json(path, result)
    study_files.write_validation(directory / "validation.parquet", validation, origin)
    report = StudyReport(tuning, trials, posterior, best, rows, validation, answers)
    drawings = pictures(report)
    for name, drawing in drawings.items():
        write_text(directory / f"{name}.svg", drawing)
    write_text(directory / "report.html", whole_page(report, drawings))
    if validation.verdict is StudyVerdict.BETTER:
        result |= study_files.write_better(tuning, best, validation, directory)
    text = json.dumps(result, indent=1) if study.options.json else "\n".join(answer(report, result))
    study.options.interrupts.finish()
    printed(lambda: print(text))
    if not study.options.quiet:
        say(f"everything: {directory}")
    return validation.verdict


def study_end(tuning: Tuning, best: Recommendation, validation: Validation) -> StudyEnd:
    """What a dashboard shows of the conclusions."""
    claim = validation.claim
    words = {
        "game": tuning.plan.game,
        "agent": tuning.agent,
        "opponents": opponents_text(tuning),
        "method": tuning.method,
        "recommended": values_text(best.weights),
        "verdict": validation.text,
        "expected_score": None if claim is None else list(claim.score),
        "claim_games": 0 if claim is None else claim.games,
        "note": "the trial with the highest score is mostly luck; the recommended one is marked",
    }
    return StudyEnd(best.point, None if claim is None else claim.score.value, words)


def validated(study: Study, searched: Search) -> Validation:
    """The match of the recommended weights; none is played if they are the seed weights."""
    tuning, best = study.tuning, searched.best
    claimed = min(study.plan.claim_pairs, len(study.held_out))
    if best.flat:
        elo = could_be_shown(claimed, searched.trials)
        return unneeded(tuning.validation.plan(), elo)
    with LiveLine(study.options.quiet, study.journal.directory) as line:
        directory, options = study.journal.directory, study.options.playing
        shown = Shown(directory, options, run_shown(line, (TUNED, SEED)))
        changes = tuning.space.changes(best.point)
        way = validate if against_seed(tuning) else validate_pool
        pairs = min(study.plan.term_pairs, len(study.held_out) // TERM_SHARE)
        validation = way(tuning, changes, study.held_out, claimed, shown)
        gains = gains_on_other_terms(tuning, changes, study.held_out, pairs, shown)
        return validation._replace(gains=tuple(gains))


def answer(report: StudyReport, result: dict[str, object]) -> Iterator[str]:
    """The lines that are printed at the end."""
    best, tuning = report.recommendation, report.tuning
    yield (
        f"{tuning.plan.game}, {tuning.agent} against {opponents_text(tuning)}: "
        f"{best.trials} trials, {best.games:,} games"
    )
    yield f"verdict      {report.validation.text}"
    yield f"recommended  {values_text(best.weights)}"
    yield from answer_lines(report.answers, best.weights)
    if fixed := {n: v for n, v in tuning.space.fixed.items() if any(v)}:
        yield f"fixed        {', '.join(f'{n} = {_phases(v)}' for n, v in fixed.items())}"
    yield f"seed         {values_text(tuning.seed_values)}"
    if best.flat:
        yield best.flat
    if report.validation.claim is not None:
        yield f"expected     {claim_text(report.validation.claim)}"
    if report.validation.gains:
        yield "gain over the seed weights on other terms, each from games of its own:"
        yield from gain_lines(report.validation.gains)
    widened = "; no game changed at first, so the steps became wider"
    yield f"method       {method_text(tuning)}{widened if result['steps_widened'] else ''}"
    if report.validation.details:
        yield f"details      {report.validation.details}"
    if "weights_file" in result:
        yield f"use it       weights = {json.dumps(result['weights_file'], ensure_ascii=False)}"
    if "options_file" in result:
        yield f"use it       the lines of {printable(str(result['options_file']))}"


def method_text(tuning: Tuning) -> str:
    """The method; where it was ours to choose, why this one."""
    if not tuning.chosen:
        return tuning.method
    few = few_valued(tuning.space)
    why = "all weights are numbers: many small steps from the seed weights"
    if few:
        why = f"{listed(few)} {'has' if len(few) == 1 else 'have'} few values: small steps see none"
    return f"{tuning.method}, chosen by auto as {why}"


def _phases(values: Sequence[float]) -> str:
    """One number, or a list with one for every phase."""
    numbers = [f"{value:g}" for value in values]
    return numbers[0] if len(numbers) == 1 else f"[{', '.join(numbers)}]"
