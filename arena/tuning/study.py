"""One study from file to verdict: search, validate, write, show."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from arena.keeping import provenance
from arena.keeping.journal import Journal
from arena.keeping.run_log import RunLog
from arena.reading.command_line import RunOptions
from arena.showing.live_line import LiveLine, run_shown
from arena.tuning import study_files
from arena.tuning.claim import against_seed, claim_text, could_be_shown, opponents_text
from arena.tuning.learned_start import with_start
from arena.tuning.optuna_study import StudyEnd
from arena.tuning.other_terms import gain_lines, gains_on_other_terms
from arena.tuning.pool_match import validate_pool
from arena.tuning.recommendation import Recommendation, importances, recommended_text
from arena.tuning.search import Search, Study, prepared, search
from arena.tuning.space import values_text
from arena.tuning.study_page import StudyReport, pictures, whole_page
from arena.tuning.study_plan import TERM_SHARE
from arena.tuning.tune_file import Tuning
from arena.tuning.tune_problems import few_valued
from arena.tuning.validation import SEED, TUNED, Shown, StudyVerdict, Validation, unneeded, validate
from arena.tuning.weight_answers import after_match, answer_lines, weight_answers
from games.names import listed
from games.terminal import printable, printed, say
from games.whole_files import write_text


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
