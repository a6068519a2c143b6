"""Run a study: trials, recommendation, validation, files and the printed result."""

import hashlib
import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace

from agents.sandbox.sandbox import Sandbox
from arena.analysis.repeatability import KEY, repeatability, repeatability_line
from arena.config.run_options import RunOptions
from arena.planning.openings.openings import Openings
from arena.planning.openings.registry import make_openings
from arena.playing.progress import GameRate
from arena.storage import provenance
from arena.storage.journal import RunDirectory, Section
from arena.storage.run_log import open_run_log
from arena.storage.versions import SourceEdited, SourceWatch, forget_after_edit
from arena.terminal.progress import open_displays
from arena.tuning import budget, study_files
from arena.tuning.budget import TERM_SHARE, StudyBudget, equal_time_node_ratio
from arena.tuning.optuna_study import OptunaSearch, StudyEnd, write_study
from arena.tuning.recommendation import (
    answer_lines,
    recommend,
    recommendation_text,
    weight_answers,
)
from arena.tuning.samplers.registry import SearchPlan, Walk, sampler_entry
from arena.tuning.space import Space, values_text
from arena.tuning.study_config import StudyConfig, coarse_axes, plays_only_seed
from arena.tuning.study_files import CLOCK_NOTE, StudyReport
from arena.tuning.study_page import study_charts, study_page
from arena.tuning.table import TIME
from arena.tuning.trial_games import (
    WINDOW,
    TrialGames,
    TrialQueue,
    games_per_second,
    play_queue,
    trial_games,
)
from arena.tuning.trials import Trial, bundle_trials, load_trials
from arena.tuning.validation import (
    MatchRunner,
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
from games.base.text import join_names

MEASURED_SECONDS = 0.4
MEASURED_OPENINGS = 10
STEPS_IN_PROGRESS = 6  # of a walk, whose result is a mean of half of it


@dataclass(frozen=True)
class Study:
    """A study in progress."""

    tuning: StudyConfig
    plan: StudyBudget
    games: TrialGames
    held_out: Openings
    directory: RunDirectory
    options: RunOptions
    start_seconds: float  # monotonic
    watch: SourceWatch
    trials: list[Trial] = field(default_factory=list)

    @property
    def section(self) -> Section:
        """The section of the journal with the trials."""
        return self.directory.section("trials")

    @property
    def table_trials(self) -> list[Trial]:
        """The trials so far, as tables and pages show them."""
        return bundle_trials(self.trials, self.plan.size)


@dataclass(frozen=True, kw_only=True)
class TrialProgress(Progress):
    """The progress of the trials, with the present weights of a walk."""

    plan: StudyBudget
    known: int  # trials of an earlier session
    space: Space
    walk: Walk | None
    rate: float | None  # trials per second, once it is steady

    def lines(self, seconds: float) -> list[str]:
        """Return trials, games per second, time left, and the weights so far."""
        rate = (self.done - self.known) / seconds if self.rate is None else self.rate
        size = self.plan.size
        parts = [
            f"{self.done // size} of {self.total // size} trials",
            f"{rate * self.plan.games:,.0f} games/s",
        ]
        if self.rate is not None:
            parts.append(f"{(self.total - self.done) / self.rate:,.0f} s left")
        if self.walk is not None:
            parts.append(f"so far {values_text(self.space.values(self.walk.point))}")
        return [", ".join(parts)]


def prepare_study(
    tuning: StudyConfig, options: RunOptions, directory: RunDirectory, watch: SourceWatch
) -> Study:
    """Draw the openings, build the agents, and read or make the budget."""
    section, begun = directory.section("trials"), time.monotonic()
    stored = section.read_fact("plan")
    plan = _make_budget(tuning, options) if stored is None else StudyBudget(**stored)
    section.write_fact("plan", plan._asdict())
    tuning = replace(tuning, share=plan.share)
    for_trials, held_out = budget.divide_openings(tuning, plan)
    note = budget.openings_note(plan.validation_pairs, len(held_out))
    if note and not options.quiet:
        print_error(note)
    whole = _trial_games(tuning, plan, for_trials, options.sandbox)
    return Study(tuning, plan, whole, held_out, directory, options, begun, watch)


def _make_budget(tuning: StudyConfig, options: RunOptions) -> StudyBudget:
    share = candidate_node_ratio(tuning, options.sandbox) if tuning.equal == TIME else 1.0
    whole = budget.budget_from_file(tuning)._replace(share=share)
    if options.budget is None:
        return whole
    smallest = whole._replace(games=min(whole.games, 40), trials=1, total=1)
    openings = budget.divide_openings(tuning, smallest)[0]
    trial = _trial_games(tuning, smallest, openings, options.sandbox)
    seed = tuning.space.changes(tuning.space.point(tuning.seed_values))
    rate = games_per_second(trial, seed, MEASURED_SECONDS) * options.parallel_games
    return budget.budget_from_seconds(tuning, options.budget, rate)._replace(share=share)


def candidate_node_ratio(tuning: StudyConfig, sandbox: Sandbox) -> float:
    """Return the node ratio of a candidate without weights of 0, which cost no time."""
    space, values = tuning.space, dict(tuning.seed_values)
    for axis in space.axes:
        if not values[axis.name] and not axis.choices:
            values[axis.name] = max(axis.low, axis.high, key=abs)
    candidate = tuning.spec.replace(**space.changes(space.point(values)))
    openings = make_openings(
        tuning.plan.game, tuning.plan.openings, MEASURED_OPENINGS, tuning.plan.seed
    )
    return equal_time_node_ratio(candidate, tuning.spec, tuning.plan.game, openings, sandbox)


def _trial_games(
    tuning: StudyConfig, of: StudyBudget, openings: Openings, sandbox: Sandbox
) -> TrialGames:
    return trial_games(
        tuning.plan,
        tuning.candidate,
        tuning.space,
        budget.trial_opponents(tuning, of.games),
        openings,
        of.total,
        sampler_entry(tuning.method).step,
        sandbox,
    )


def open_search(tuning: StudyConfig, of: StudyBudget) -> OptunaSearch:
    """Open the search by the method of the file."""
    space, seed = tuning.space, tuning.plan.seed
    point = space.point(tuning.seed_values)
    return OptunaSearch(tuning.method, SearchPlan(space, point, seed, of.total, of.games // 2))


def window_of(tuning: StudyConfig) -> int:
    """Return how many trials are in progress: of small ones many, or workers would wait."""
    entry = sampler_entry(tuning.method)
    return STEPS_IN_PROGRESS * entry.step if entry.pairs else WINDOW


def write_run_file(study: Study) -> None:
    """Write run.json of the study."""
    tuning = study.tuning
    origin = provenance.identify_run(tuning.experiment.name, tuning.plan)
    provenance.write_run_start(
        study.directory.path,
        origin._replace(digest=study.directory.digest),
        {
            "path": str(tuning.experiment.path.absolute()),
            "tuned": tuning.agent,
            "study": study.plan._asdict(),
            "overrides": list(study.options.overrides),
            KEY: repeatability(tuning.plan, None).to_json(None),
        },
    )


def play_trials(study: Study) -> Walk | None:
    """Replay the trials of the journal and play the others; return the result of a walk."""
    tuning, options, plan = study.tuning, study.options, study.plan
    known = load_trials(study.section)
    write_run_file(study)
    if known and not options.quiet:
        done, total = len(known) // plan.size, plan.trials // plan.size
        print_error(f"continuing: {done} of {total} trials were played before")
    search = open_search(tuning, plan)
    queue = TrialQueue(
        study.games, search, plan.trials, options.workers, known, window_of(tuning), plan.size > 1
    )
    trials = study.trials
    trials.extend(queue.replay_journal())
    before, pace = len(trials), GameRate()
    wide = search.walk is not None and search.walk.widened
    deadline = study.start_seconds + budget.TRIALS_SHARE * (options.budget or math.inf)
    with open_displays(options.quiet, study.directory.path) as show:
        for trial in play_queue(queue, study.section, options.playing):
            trials.append(trial)
            study.watch.check()
            walk = search.walk
            if walk is not None and walk.widened and not wide:
                wide = True
                if not options.quiet:
                    print_error("no game changed between candidates: the search takes wider steps")
            if time.monotonic() > deadline:
                queue.stop_early()
            pace.update(len(trials) - before)
            pairs = pace.games_per_second(len(trials) - before)
            show(
                TrialProgress(
                    done=len(trials), total=plan.trials, plan=plan, known=before,
                    space=tuning.space, walk=walk, rate=None if pairs is None else pairs / 2,
                )
            )  # fmt: skip
    study.section.write_fact("plan", plan._replace(trials=len(trials))._asdict())
    return search.walk


def tune(tuning: StudyConfig, options: RunOptions) -> StudyVerdict:
    """Play what is left of a study, write its files and print the result."""
    options.sandbox.required |= tuning.plan.sandbox_required
    digest = study_digest(tuning, options.budget)
    directory = options.results / tuning.experiment.name / f"tune-{digest}"
    with (
        RunDirectory(directory, digest, options.fresh) as locked,
        open_run_log(directory / "run.log"),
    ):
        watch = SourceWatch(tuning.plan, {})
        if study_digest(tuning, options.budget) != digest:
            raise SourceEdited(
                "a file was edited while the study started: the same command starts it again"
            )
        with forget_after_edit(watch, locked):
            study = prepare_study(tuning, options, locked, watch)
            try:
                return finish_study(study, play_trials(study))
            except KeyboardInterrupt:
                write_stopped_study(study)
                raise


def study_digest(tuning: StudyConfig, budget: float | None) -> str:
    """Return the digest of everything that decides the trials."""
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


def finish_study(study: Study, walk: Walk | None) -> StudyVerdict:
    """Recommend, validate, write all files and print the result."""
    tuning, options, directory = study.tuning, study.options, study.directory.path
    report = conclude_search(study, walk)
    study_files.write_trials(directory / "trials.parquet", report)
    study_files.write_recommendation(directory / "recommendation.json", report)
    if not options.quiet:
        print_error(recommendation_text(report.recommendation))
    validation = validate_study(study, report)
    study.watch.check_now()  # no result is published after an edit of the agents
    report = report._replace(outcome=validation)
    write_study(directory, tuning.experiment.name, tuning.space, report.trials, study_end(report))
    result = study_files.write_recommendation(directory / "recommendation.json", report)
    study_files.write_validation(directory / "validation.parquet", report)
    charts = study_charts(report)
    for name, chart in charts.items():
        write_text(directory / f"{name}.svg", chart.svg())
    write_text(directory / "report.html", study_page(report, charts))
    if validation.verdict is StudyVerdict.BETTER:
        result |= study_files.write_tuned_options(directory, report)
    provenance.write_run_end(directory, report.games)
    text = json.dumps(result, indent=1) if options.json else "\n".join(result_lines(report, result))
    options.interrupts.finish()
    if options.tables:
        print_safely(lambda: print(text))
    if not options.quiet:
        print_error(f"everything: {directory}")
    return validation.verdict


def conclude_search(study: Study, walk: Walk | None) -> StudyReport:
    """Recommend weights and conclude about each weight, from the trials alone."""
    tuning, trials = study.tuning, study.table_trials
    space, seed = tuning.space, tuning.plan.seed
    seed_point = space.point(tuning.seed_values)
    step, point = sampler_entry(tuning.method).step, None if walk is None else walk.point
    best, posterior = recommend(space, seed_point, study.trials, seed, point, step)
    clipped = () if walk is None else walk.clipped
    answers = weight_answers(space, posterior, best.best_point, seed_point, seed, clipped)
    detectable = detectable_gain(claim_pairs(study), trials)
    return StudyReport(
        tuning, study.directory.digest, trials, posterior, best._replace(trials=len(trials)),
        answers, detectable, walk is not None and walk.widened, study.options.budget,
    )  # fmt: skip


def study_end(report: StudyReport) -> StudyEnd:
    """Return the conclusions for Optuna's database."""
    best, validation = report.recommendation, report.validation
    attributes = study_attributes(report.tuning) | {
        "recommended": values_text(best.weights),
        "verdict": validation.text,
        "note": "the trial with the highest score is mostly luck; the recommended one is marked",
    }
    if (claim := validation.claim) is None:
        return StudyEnd(attributes | {"expected_score": None, "claim_games": 0})
    attributes |= {"expected_score": list(claim.score), "claim_games": claim.games}
    return StudyEnd(attributes, best.point, claim.score.value, claim.games)


def write_stopped_study(study: Study) -> None:
    """Write the trials so far as Optuna's database."""
    study.watch.check_now()
    if study.trials:
        tuning = study.tuning
        verdict = f"stopped after {len(study.table_trials)} trials: the same command continues"
        end = StudyEnd(study_attributes(tuning) | {"verdict": verdict})
        path, name = study.directory.path, tuning.experiment.name
        write_study(path, name, tuning.space, study.table_trials, end)


def study_attributes(tuning: StudyConfig) -> dict[str, object]:
    """Return the attributes of every study in Optuna's database."""
    return {
        "game": tuning.plan.game_name,
        "agent": tuning.agent,
        "opponents": opponents_text(tuning),
        "method": tuning.method,
    }


def claim_pairs(study: Study) -> int:
    """Return how many pairs the claim of the study plays."""
    return min(study.plan.claim_pairs, len(study.held_out))


def validate_study(study: Study, report: StudyReport) -> Validation:
    """Play the match of the recommended weights; none if they are the seed weights."""
    tuning, best = study.tuning, report.recommendation
    if best.flat:
        return no_validation(tuning.validation.plan(), report.detectable_elo)
    with open_displays(study.options.quiet, study.directory.path) as show:
        runner = MatchRunner(study.directory, study.options.playing, show)
        changes = tuning.space.changes(best.point)
        play = validate if plays_only_seed(tuning) else validate_against_opponents
        validation = play(tuning, changes, study.held_out, claim_pairs(study), runner)
        pairs = min(study.plan.term_pairs, len(study.held_out) // TERM_SHARE)
        gain = other_cost(tuning, changes, study.held_out, pairs, runner)
    note = budget.openings_note(study.plan.validation_pairs, len(study.held_out))
    if note and validation.verdict is StudyVerdict.UNDECIDED:
        validation = validation._replace(text=f"{validation.text}; {note}")
    return validation._replace(other_cost=gain)


def result_lines(report: StudyReport, result: dict[str, object]) -> Iterator[str]:
    """Yield the lines that are printed at the end."""
    best, tuning, validation = report.recommendation, report.tuning, report.validation
    yield (
        f"{tuning.plan.game_name}, {tuning.agent} against {opponents_text(tuning)}: "
        f"{best.trials} trials, {best.games:,} games"
    )
    yield f"verdict      {validation.text}"
    yield f"recommended  {values_text(best.weights)}"
    yield from answer_lines(report.answers, best.weights)
    if fixed := {n: v for n, v in tuning.space.fixed.items() if any(v)}:
        yield f"fixed        {', '.join(f'{n} = {_phases(v)}' for n, v in fixed.items())}"
    yield f"seed         {values_text(tuning.seed_values)}"
    if best.flat:
        yield best.flat
    if validation.claim is not None:
        yield f"expected     {claim_text(validation.claim)}"
    if validation.other_cost is not None:
        yield f"other cost   {gain_text(validation.other_cost)}"
    widened = "; no game changed at first, so the steps became wider" if report.widened else ""
    yield f"method       {method_text(tuning)}{widened}"
    if report.budget is not None:
        yield f"budget       {report.budget:g} s: {CLOCK_NOTE}"
    if again := repeatability_line(tuning.plan):
        yield again
    if validation.details:
        yield f"details      {validation.details}"
    if "weights_file" in result:
        yield f"use it       weights = {json.dumps(result['weights_file'], ensure_ascii=False)}"
    if "options_file" in result:
        yield f"use it       the lines of {printable(str(result['options_file']))}"


def method_text(tuning: StudyConfig) -> str:
    """Return the method, and why if it was chosen by auto."""
    if not tuning.chosen:
        return tuning.method
    few = coarse_axes(tuning.space)
    reason = "all weights are numbers: many small steps from the seed weights"
    if few:
        verb = "has" if len(few) == 1 else "have"
        reason = f"{join_names(few)} {verb} few values: small steps see none"
    return f"{tuning.method}, chosen by auto as {reason}"


def _phases(values: Sequence[float]) -> str:
    numbers = [f"{value:g}" for value in values]
    return numbers[0] if len(numbers) == 1 else f"[{', '.join(numbers)}]"
