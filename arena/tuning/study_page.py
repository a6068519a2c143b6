"""The page of a study and its figures."""

import numpy as np

from arena.analysis.repeatability import repeatability_line
from arena.report import chart
from arena.report.chart import Chart
from arena.report.document import paragraph, text_document
from arena.report.figure import FigureTable, section, table_html
from arena.report.html import Html
from arena.stats.quantiles import Z_95
from arena.tuning.recommendation import (
    interval_text,
    recommendation_text,
    slice_points,
)
from arena.tuning.space import value_text
from arena.tuning.study_files import CLOCK_NOTE, StudyReport
from arena.tuning.validation import claim_text, gain_text

SLICE_POINTS = 81
MOST_DRAWN = 400
MOST_SLICES = 24


def study_charts(study: StudyReport) -> dict[str, Chart]:
    """Return all figures as SVG by name; many weights have figures for the first ones only."""
    drawings = {"history": history_chart(study)}
    for axis, name in enumerate(study.tuning.space.names[:MOST_SLICES]):
        drawings[f"slice_{name}"] = slice_chart(study, axis)
    if np.isfinite(study.validation.llr).any():
        drawings["validation"] = llr_chart(study)
    return drawings


def history_chart(study: StudyReport) -> Chart:
    """Draw the trials in order with their intervals, and the score of the recommendation."""
    trials = study.trials[:: -(-len(study.trials) // MOST_DRAWN)]
    xs = [trial.number for trial in trials]
    frame = chart.make_frame(xs, [y for trial in trials for y in (trial.low, trial.high)])
    parts = [
        chart.error_bars(frame, xs, [t.low for t in trials], [t.high for t in trials]),
        chart.dots(frame, xs, [trial.score for trial in trials]),
        chart.horizontal_line(frame, study.recommendation.score.value, "highest posterior mean"),
    ]
    title = "Trials with their 95 % intervals: the highest dot is mostly luck"
    return chart.xy_chart(frame, parts, title, "trial", "score")


def slice_chart(study: StudyReport, axis: int) -> Chart:
    """Draw the posterior along one weight through the best point, with all trials."""
    each, best = study.tuning.space.axes[axis], study.recommendation.best_point
    points = slice_points(best, axis, SLICE_POINTS)
    means, spreads = study.posterior.at(points)
    xs = [each.number_at(float(unit)) for unit in points[:, axis]]
    low, high = means - Z_95 * spreads, means + Z_95 * spreads
    tried = [each.number_at(float(trial.point[axis])) for trial in study.trials]
    scores = [trial.score for trial in study.trials]
    frame = chart.make_frame([each.low, each.high], [*low, *high, *scores])
    seed = each.number_at(each.unit_of(study.tuning.seed_values[each.name]))
    parts = [
        chart.dots(frame, tried, scores, chart.FAINT),
        chart.band(frame, xs, list(low), list(high)),
        chart.line(frame, xs, list(means)),
        chart.vertical_line(frame, seed, "seed", chart.INK),
        chart.vertical_line(frame, each.number_at(float(best[axis])), "best"),
    ]
    title = f"{each.name}: posterior mean with its 95 % band, other weights at the best point"
    return chart.xy_chart(frame, parts, title, each.name, "score")


def llr_chart(study: StudyReport) -> Chart:
    """Draw the log-likelihood ratio of the validation, pair by pair."""
    validation = study.validation
    step = -(-len(validation.llr) // MOST_DRAWN)
    places = sorted({*range(0, len(validation.llr), step), len(validation.llr) - 1})
    xs, ys = [each + 1 for each in places], [float(validation.llr[each]) for each in places]
    lower, upper = validation.bounds
    frame = chart.make_frame([0, *xs], [*ys, lower, upper])
    parts = [
        chart.horizontal_line(frame, upper, "better", chart.GREEN),
        chart.horizontal_line(frame, lower, "not better"),
        chart.line(frame, xs, ys),
    ]
    return chart.xy_chart(frame, parts, f"Validation: {validation.verdict}", "pair", "LLR")


def study_page(study: StudyReport, charts: dict[str, Chart]) -> str:
    """Return the page."""
    tuning, best = study.tuning, study.recommendation
    slices = [chart.html() for name, chart in charts.items() if name.startswith("slice_")]
    llr = charts.get("validation")
    parts = [
        paragraph(claim_sentence(study)),
        *cost_paragraphs(study),
        paragraph(recommendation_text(best)),
        paragraph(
            f"{best.trials} trials, {best.games:,} games, {best.fingerprints} candidates that "
            f"played differently; method {tuning.method}, seed {tuning.plan.seed}"
        ),
        *([] if study.budget is None else [paragraph(f"Budget {study.budget:g} s: {CLOCK_NOTE}.")]),
        *([paragraph(again)] if (again := repeatability_line(tuning.plan)) else []),
        section("Weights", weights_table(study)),
        section(
            "Validation",
            paragraph(study.validation.details or "No match was played."),
            None if llr is None else llr.html(),
        ),
        section("Trials", charts["history"].html()),
        section("Score by each weight", *slices),
    ]
    title = f"Tuning {tuning.experiment.name}: {tuning.plan.game_name}"
    return text_document(title, f"{tuning.agent}: {study.validation.text}", parts)


def claim_sentence(study: StudyReport) -> str:
    """Return the claim in a sentence."""
    claim = study.validation.claim
    return "No games of a claim." if claim is None else f"Expected score {claim_text(claim)}."


def cost_paragraphs(study: StudyReport) -> list[Html]:
    """Return the gain at the other cost as a paragraph, if it was played."""
    gain = study.validation.other_cost
    return [] if gain is None else [paragraph(f"Gain over the seed weights: {gain_text(gain)}.")]


def weights_table(study: StudyReport) -> Html:
    """Return a table with every tuned weight before and after tuning."""
    tuning, best = study.tuning, study.recommendation
    highest = tuning.space.values(best.best_point)
    rows = tuple(
        (
            axis.name, axis.range_text, value_text(tuning.seed_values[axis.name]),
            value_text(highest[axis.name]), value_text(best.weights[axis.name]),
            interval_text(each), str(each.answer),
        )
        for axis, each in zip(tuning.space.axes, study.answers, strict=True)
    )  # fmt: skip
    head = ("weight", "range", "seed", "best", "recommended", "95 % interval", "conclusion")
    return table_html(FigureTable(head, rows), "All weights")
