"""Run a study."""

import hashlib
import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

from agents.sandbox.sandbox import Sandbox
from arena.analysis.repeatability import KEY, repeatability, untested_line
from arena.config.command_line import RunOptions
from arena.planning.openings.openings import Openings
from arena.planning.openings.registry import make_openings
from arena.playing.progress import GameRate
from arena.storage import provenance
from arena.storage.journal import RunDirectory, Section
from arena.storage.run_log import open_run_log
from arena.storage.versions import SourceEdited, SourceWatch, forget_if_edited
from arena.terminal.progress import open_displays
from arena.tuning import budget, study_files
from arena.tuning.budget import TERM_SHARE, StudyBudget
from arena.tuning.equal_time import equal_time_node_ratio
from arena.tuning.optuna_study import StudyEnd, write_study
from arena.tuning.problems import coarse_axes
from arena.tuning.recommendation import (
    BestSoFar,
    Recommendation,
    after_match,
    answer_lines,
    recommend,
    recommendation_text,
    weight_answers,
)
from arena.tuning.samplers.registry import (
    Sampler,
    SearchPlan,
    clipped_weights,
    final_point,
    fixed_pairs,
    sampler,
    trials_per_step,
    widened,
)
from arena.tuning.space import Point, values_text
from arena.tuning.study_config import StudyConfig, against_seed
from arena.tuning.study_page import StudyReport, study_charts, study_page
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
from arena.tuning.trials import Trial, bundle_trials, load_trials
from arena.tuning.validation import (
    Shown,
    StudyVerdict,
    Validation,
    claim_text,
    detectable_gain,
    gain_text,
    no_validation,
    opponents_text,
    other_cost,
    validate,
    validate_against_opponents,
)
from games.base.errors import print_error, print_safely, printable
from games.base.files import write_text
from games.base.progress import Progress
from games.base.text import listed

MEASURED_SECONDS = 0.4
MEASURED_OPENINGS = 10
STEPS_AHEAD = 6  # a walk that learns so late loses nothing, if the mean of its last half counts


@dataclass(frozen=True)
class Study:
    """A study under way: its plan, its games, its directory."""

    tuning: StudyConfig
    plan: StudyBudget
    games: TrialGames
    held_out: Openings
    directory: RunDirectory
    options: RunOptions
    begun: float  # monotonic seconds
    watch: SourceWatch

    @property
    def trials(self) -> Section:
        """The section of the journal that has the trials."""
        return self.directory.section("trials")


class Search(NamedTuple):
    """The recommendation, with the trials and the posterior that it rests on."""

    best: Recommendation
    posterior: Posterior
    trials: list[Trial]
    clipped: tuple[bool, ...]  # which weights an edge held back
    widened: bool  # whether the steps became wider, as no game changed


class PlayedTrials(NamedTuple):
    """The trials of a study."""

    trials: list[Trial]
    arrived: Point | None  # where a walk has arrived
    clipped: tuple[bool, ...]
    widened: bool


@dataclass(frozen=True, kw_only=True)
class TrialProgress(Progress):
    """How far the trials are, with the recommendation so far."""

    plan: StudyBudget
    trials: Sequence[Trial]
    before: int  # trials that an earlier run played
    best: BestSoFar
    rate: float | None  # trials a second, once it has settled

    def lines(self, seconds: float) -> list[str]:
        """Trials played, games per second, time left; the recommendation with its interval."""
        plan, new = self.plan, len(self.trials) - self.before
        rate = new / seconds if self.rate is None else self.rate
        parts = [
            f"{len(self.trials) // plan.size} of {plan.trials // plan.size} trials",
            f"{rate * plan.games:,.0f} games/s",
        ]
        if self.rate is not None:
            parts.append(f"{(plan.trials - len(self.trials)) / self.rate:,.0f} s left")
        return [", ".join([*parts, *self.best.words(self.trials, seconds)])]


def prepare_study(
    tuning: StudyConfig, options: RunOptions, directory: RunDirectory, watch: SourceWatch
) -> Study:
    """The study, ready to play: openings drawn, agents compiled, its plan made or read back."""
    section, begun = directory.section("trials"), time.monotonic()
    stored = section.read_fact("plan")
    plan = _planned(tuning, options) if stored is None else StudyBudget(**stored)
    section.write_fact("plan", plan._asdict())
    tuning = replace(tuning, share=plan.share)
    for_trials, held_out = budget.split_openings(tuning, plan)
    note = budget.openings_note(plan.validation_pairs, len(held_out))
    if note and not options.quiet:
        print_error(note)
    whole = _trial_games(tuning, plan, for_trials, options.wall)
    return Study(tuning, plan, whole, held_out, directory, options, begun, watch)


def _planned(tuning: StudyConfig, options: RunOptions) -> StudyBudget:
    """The file's plan, or as much of it as fits into the budget at the speed measured now."""
    share = candidate_node_ratio(tuning, options.wall) if tuning.equal == TIME else 1.0
    whole = budget.budget_from_file(tuning)._replace(share=share)
    if options.budget is None:
        return whole
    smallest = whole._replace(games=min(whole.games, 40), trials=1, total=1)
    openings = budget.split_openings(tuning, smallest)[0]
    trial = _trial_games(tuning, smallest, openings, options.wall)
    seed = tuning.space.changes(tuning.space.point(tuning.seed_values))
    rate = games_per_second(trial, seed, MEASURED_SECONDS) * options.at_once
    return budget.budget_from_seconds(tuning, options.budget, rate)._replace(share=share)


def candidate_node_ratio(tuning: StudyConfig, wall: Sandbox) -> float:
    """The share of nodes of candidates, none of whose tuned weights is 0: those cost time."""
    space, values = tuning.space, dict(tuning.seed_values)
    for axis in space.axes:
        if not values[axis.name] and not axis.choices:
            values[axis.name] = max(axis.low, axis.high, key=abs)
    candidate = tuning.spec.replace(**space.changes(space.point(values)))
    openings = make_openings(
        tuning.plan.of, tuning.plan.openings, MEASURED_OPENINGS, tuning.plan.seed
    )
    return equal_time_node_ratio(candidate, tuning.spec, tuning.plan.of, openings, wall)


def _trial_games(
    tuning: StudyConfig, of: StudyBudget, openings: Openings, wall: Sandbox
) -> TrialGames:
    return trial_games(
        tuning.plan,
        tuning.candidate,
        tuning.space,
        budget.opponents_of(tuning, of.games),
        openings,
        of.total,
        trials_per_step(tuning.method),
        wall,
    )


def sampler_of(tuning: StudyConfig, of: StudyBudget) -> Sampler:
    """The method that the file names."""
    space, seed = tuning.space, tuning.plan.seed
    point = space.point(tuning.seed_values)
    plan = SearchPlan(space, point, seed, of.total, of.games // 2)
    return sampler(tuning.method, plan)


def window_of(tuning: StudyConfig) -> int:
    """How many trials are under way: small steps are many, or the workers would wait."""
    return STEPS_AHEAD * trials_per_step(tuning.method) if fixed_pairs(tuning.method) else WINDOW


def write_run(study: Study, digest: str) -> None:
    """Write run.json of the study."""
    tuning = study.tuning
    provenance.note_started(
        study.directory.path,
        provenance.identify_run(tuning.experiment.name, tuning.plan)._replace(digest=digest),
        {
            "path": str(tuning.experiment.path.absolute()),
            "tuned": tuning.agent,
            "study": study.plan._asdict(),
            "overrides": list(study.options.overrides),
            KEY: repeatability(tuning.plan, None).to_json(None),
        },
    )


def play_trials(study: Study, digest: str) -> PlayedTrials:
    """The trials of the journal, then the others."""
    tuning, options = study.tuning, study.options
    known = load_trials(study.trials)
    write_run(study, digest)
    if known and not options.quiet:
        size = study.plan.size
        done, whole = len(known) // size, study.plan.trials // size
        print_error(f"continuing: {done} of {whole} trials were played before")
    queue = TrialQueue(
        study.games, sampler_of(tuning, study.plan), study.plan.trials, options.workers, known,
        window_of(tuning), study.plan.size > 1,
    )  # fmt: skip
    best = BestSoFar(
        tuning.space, tuning.space.point(tuning.seed_values), tuning.plan.seed,
        trials_per_step(tuning.method),
    )  # fmt: skip
    trials = list(queue.replayed())
    before, steps, pace = len(trials), widened(queue.sampler), GameRate()
    with open_displays(options.quiet, study.directory.path) as show:
        deadline = study.begun + budget.TRIALS_SHARE * (options.budget or math.inf)
        for trial in played(queue, study.trials, options.playing):
            trials.append(trial)
            study.watch.look()
            pace.take(len(trials) - before)
            steps = widened_steps(queue.sampler, steps, options)
            if time.monotonic() > deadline:
                queue.end_at_once()
            pairs = pace.games_per_second(len(trials) - before)
            show(
                TrialProgress(
                    done=len(trials), total=study.plan.trials, plan=study.plan, trials=trials,
                    before=before, best=best, rate=None if pairs is None else pairs / 2,
                )
            )  # fmt: skip
    study.trials.write_fact("plan", study.plan._replace(trials=len(trials))._asdict())
    return PlayedTrials(
        trials,
        final_point(queue.sampler),
        clipped_weights(queue.sampler),
        widened(queue.sampler) > 1.0,
    )


def widened_steps(of: Sampler, before: float, options: RunOptions) -> float:
    """How many times as wide the steps are now; it is said when that is new."""
    now = widened(of)
    if now > before and not options.quiet:
        print_error("no game changed between candidates: the search takes wider steps")
    return now


def recommended(
    study: Study, trials: list[Trial], arrived: Point | None
) -> tuple[Recommendation, Posterior]:
    """The recommendation of the trials of this study."""
    space, seed = study.tuning.space, study.tuning.plan.seed
    seed_point, shown = (
        space.point(study.tuning.seed_values),
        bundle_trials(trials, study.plan.size),
    )
    best, posterior = recommend(
        space, seed_point, trials, seed, arrived, trials_per_step(study.tuning.method)
    )
    return best._replace(trials=len(shown)), posterior


def search(study: Study, digest: str) -> Search:
    """Play all trials; returns their recommendation."""
    found = play_trials(study, digest)
    best, posterior = recommended(study, found.trials, found.arrived)
    shown = bundle_trials(found.trials, study.plan.size)
    return Search(best, posterior, shown, found.clipped, found.widened)


def tune(tuning: StudyConfig, options: RunOptions) -> StudyVerdict:
    """Play what is left of the study and of its validation; write its files, print the answer."""
    options.wall.required |= tuning.plan.walls_required
    digest = study_digest(tuning, options.budget)
    directory = options.results / tuning.experiment.name / f"tune-{digest}"
    with (
        RunDirectory(directory, digest, options.fresh) as locked,
        open_run_log(directory / "run.log"),
    ):
        watch = SourceWatch(tuning.plan, {})
        if study_digest(tuning, options.budget) != digest:
            raise SourceEdited(
                "a file was edited while the study started: the same command starts it anew"
            )
        with forget_if_edited(watch, locked):
            study = prepare_study(tuning, options, locked, watch)
            return finish_study(study, search(study, digest), digest)


def study_digest(tuning: StudyConfig, budget: float | None) -> str:
    """The name of a study: all that decides its trials."""
    deciding = {
        "experiment": tuning.plan.digest(),
        "agent": tuning.agent,
        "axes": tuning.space.axes,
        "fixed": dict(tuning.space.fixed),
        "equal": tuning.equal,
        "seeds": dict(tuning.seed_values),
        "opponents": tuning.opponents,
        "games": tuning.games,
        "trials": tuning.trials,
        "method": tuning.method,
        "validation": asdict(tuning.validation),
        "budget": budget,
        "code": provenance.code_digest(),
    }
    return hashlib.blake2b(json.dumps(deciding).encode(), digest_size=5).hexdigest()


def finish_study(study: Study, searched: Search, digest: str) -> StudyVerdict:
    """Validate the recommendation, write everything, print the answer."""
    tuning, directory = study.tuning, study.directory.path
    best, posterior, trials, clipped, widened = searched
    origin = {"experiment": tuning.experiment.name, "run": digest, "game": tuning.plan.game}
    study_files.write_trials(directory / "trials.parquet", tuning.space, trials, origin)
    seed_point = tuning.space.point(tuning.seed_values)
    answers = weight_answers(
        tuning.space, posterior, best.best_point, seed_point, tuning.plan.seed, clipped
    )
    detectable = detectable_gain(claim_pairs(study), trials)
    path, before = directory / "recommendation.json", after_match(answers, False, detectable)
    study_files.write_json(
        path, study_files.recommendation_json(tuning, best, trials, before, None, widened)
    )
    if not study.options.quiet:
        print_error(recommendation_text(best))
    validation = validate_study(study, searched)
    study.watch.look_now()  # before anything is said
    end = study_attributes(tuning, best, validation)
    write_study(directory, tuning.experiment.name, tuning.space, trials, end)
    answers = after_match(answers, validation.shows_gain, detectable)
    result = study_files.recommendation_json(tuning, best, trials, answers, validation, widened)
    study_files.write_json(path, result)
    study_files.write_validation(directory / "validation.parquet", validation, origin)
    report = StudyReport(tuning, trials, posterior, best, validation, answers)
    drawings = study_charts(report)
    for name, drawing in drawings.items():
        write_text(directory / f"{name}.svg", drawing)
    write_text(directory / "report.html", study_page(report, drawings))
    if validation.verdict is StudyVerdict.BETTER:
        result |= study_files.write_tuned_options(tuning, best, validation, directory)
    claimed, other = validation.claim, validation.other_cost
    matches = max(validation.games, 0 if claimed is None else claimed.games)  # one has the other
    games = best.games + matches + (0 if other is None else other.games)
    provenance.note_finished(directory, games)
    text = json.dumps(result, indent=1) if study.options.json else "\n".join(answer(report, result))
    study.options.interrupts.finish()
    if study.options.tables:
        print_safely(lambda: print(text))
    if not study.options.quiet:
        print_error(f"everything: {directory}")
    return validation.verdict


def study_attributes(tuning: StudyConfig, best: Recommendation, validation: Validation) -> StudyEnd:
    """The conclusions for Optuna's database."""
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


def claim_pairs(study: Study) -> int:
    """Return how many pairs the claim of the study plays."""
    return min(study.plan.claim_pairs, len(study.held_out))


def validate_study(study: Study, searched: Search) -> Validation:
    """The match of the recommended weights; none is played if they are the seed weights."""
    tuning, best = study.tuning, searched.best
    claimed = claim_pairs(study)
    if best.flat:
        elo = detectable_gain(claimed, searched.trials)
        return no_validation(tuning.validation.plan(), elo)
    with open_displays(study.options.quiet, study.directory.path) as show:
        directory, options = study.directory, study.options.playing
        shown = Shown(directory, options, show)
        changes = tuning.space.changes(best.point)
        way = validate if against_seed(tuning) else validate_against_opponents
        pairs = min(study.plan.term_pairs, len(study.held_out) // TERM_SHARE)
        validation = way(tuning, changes, study.held_out, claimed, shown)
        gain = other_cost(tuning, changes, study.held_out, pairs, shown)
        note = budget.openings_note(study.plan.validation_pairs, len(study.held_out))
        if note and validation.verdict is StudyVerdict.UNDECIDED:
            validation = validation._replace(text=f"{validation.text}; {note}")
        return validation._replace(other_cost=gain)


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
    if report.validation.other_cost is not None:
        yield f"other cost   {gain_text(report.validation.other_cost)}"
    widened = "; no game changed at first, so the steps became wider"
    yield f"method       {method_text(tuning)}{widened if result['steps_widened'] else ''}"
    if again := untested_line(tuning.plan):
        yield again
    if report.validation.details:
        yield f"details      {report.validation.details}"
    if "weights_file" in result:
        yield f"use it       weights = {json.dumps(result['weights_file'], ensure_ascii=False)}"
    if "options_file" in result:
        yield f"use it       the lines of {printable(str(result['options_file']))}"


def method_text(tuning: StudyConfig) -> str:
    """The method; where it was ours to choose, why this one."""
    if not tuning.chosen:
        return tuning.method
    few = coarse_axes(tuning.space)
    why = "all weights are numbers: many small steps from the seed weights"
    if few:
        why = f"{listed(few)} {'has' if len(few) == 1 else 'have'} few values: small steps see none"
    return f"{tuning.method}, chosen by auto as {why}"


def _phases(values: Sequence[float]) -> str:
    """One number, or a list with one for every phase."""
    numbers = [f"{value:g}" for value in values]
    return numbers[0] if len(numbers) == 1 else f"[{', '.join(numbers)}]"
