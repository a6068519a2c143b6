"""The page of a study, with its pictures."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arena.analysis.repeatability import untested_line
from arena.report import chart, plain_page
from arena.tuning.recommendation import (
    Z_95,
    Recommendation,
    WeightAnswer,
    interval_text,
    recommendation_text,
    slice_points,
)
from arena.tuning.space import value_text
from arena.tuning.study_config import StudyConfig
from arena.tuning.surrogate import Posterior
from arena.tuning.trials import Trial
from arena.tuning.validation import Validation, claim_text, gain_text

SLICE_POINTS = 81
MOST_DRAWN = 400
MOST_SLICES = 24


class StudyReport(NamedTuple):
    """All results of a finished study."""

    tuning: StudyConfig
    trials: Sequence[Trial]
    posterior: Posterior
    recommendation: Recommendation
    validation: Validation
    answers: Sequence[WeightAnswer]


def study_charts(study: StudyReport) -> dict[str, str]:
    """All pictures as SVG by name; of many weights the first ones have one."""
    drawings = {"history": history(study)}
    for axis, name in enumerate(study.tuning.space.names[:MOST_SLICES]):
        drawings[f"slice_{name}"] = posterior_slice(study, axis)
    if np.isfinite(study.validation.llr).any():
        drawings["validation"] = llr_chart(study)
    return drawings


def history(study: StudyReport) -> str:
    """The trials in order, with their intervals and the score of the recommendation."""
    trials = study.trials[:: -(-len(study.trials) // MOST_DRAWN)]
    xs = [trial.slot for trial in trials]
    frame = chart.make_frame(xs, [y for trial in trials for y in (trial.low, trial.high)])
    parts = [
        chart.error_bars(frame, xs, [t.low for t in trials], [t.high for t in trials]),
        chart.dots(frame, xs, [trial.score for trial in trials]),
        chart.level(frame, study.recommendation.score.value, "highest posterior mean"),
    ]
    title = "Trials with their 95 % intervals: the highest dot is mostly luck"
    return chart.xy_chart(frame, parts, title, "trial", "score")


def posterior_slice(study: StudyReport, axis: int) -> str:
    """The posterior along one weight through the best point, with its band and all trials."""
    each, best = study.tuning.space.axes[axis], study.recommendation.best_point
    points = slice_points(best, axis, SLICE_POINTS)
    means, spreads = study.posterior.at(points)
    xs = [each.number(float(unit)) for unit in points[:, axis]]
    low, high = means - Z_95 * spreads, means + Z_95 * spreads
    tried = [each.number(float(trial.point[axis])) for trial in study.trials]
    scores = [trial.score for trial in study.trials]
    frame = chart.make_frame([each.low, each.high], [*low, *high, *scores])
    seed = each.number(each.unit(study.tuning.seed_values[each.name]))
    parts = [
        chart.dots(frame, tried, scores, chart.FAINT),
        chart.band(frame, xs, list(low), list(high)),
        chart.line(frame, xs, list(means)),
        chart.vertical_line(frame, seed, "seed", chart.INK),
        chart.vertical_line(frame, each.number(float(best[axis])), "best"),
    ]
    title = f"{each.name}: posterior mean with its 95 % band, other weights at the best point"
    return chart.xy_chart(frame, parts, title, each.name, "score")


def llr_chart(study: StudyReport) -> str:
    """The log-likelihood ratio of the validation, pairing by pairing."""
    validation = study.validation
    step = -(-len(validation.llr) // MOST_DRAWN)
    places = sorted({*range(0, len(validation.llr), step), len(validation.llr) - 1})
    xs, ys = [each + 1 for each in places], [float(validation.llr[each]) for each in places]
    lower, upper = validation.bounds
    frame = chart.make_frame([0, *xs], [*ys, lower, upper])
    parts = [
        chart.level(frame, upper, "better", chart.GREEN),
        chart.level(frame, lower, "not better"),
        chart.line(frame, xs, ys),
    ]
    return chart.xy_chart(frame, parts, f"Validation: {validation.verdict}", "pairing", "LLR")


def study_page(study: StudyReport, drawings: dict[str, str]) -> str:
    """The page of the study."""
    tuning, best = study.tuning, study.recommendation
    parts = [
        plain_page.paragraph(f"{tuning.agent}: {study.validation.text}", "verdict"),
        plain_page.paragraph(expected_text(study)),
        *cost_text(study),
        plain_page.paragraph(recommendation_text(best)),
        plain_page.paragraph(
            f"{best.trials} trials, {best.games:,} games, {best.fingerprints} candidates that "
            f"played differently; method {tuning.method}, seed {tuning.plan.seed}"
        ),
        *([plain_page.paragraph(again)] if (again := untested_line(tuning.plan)) else []),
        plain_page.heading("Weights"),
        weights_table(study),
        plain_page.heading("Validation"),
        plain_page.paragraph(study.validation.details or "No match was played."),
        drawings.get("validation", ""),
        plain_page.heading("Trials"),
        drawings["history"],
        plain_page.heading("What the score depends on"),
        *(drawing for name, drawing in drawings.items() if name.startswith("slice_")),
    ]
    return plain_page.page(f"Tuning {tuning.experiment.name}: {tuning.plan.game}", parts)


def expected_text(study: StudyReport) -> str:
    """The claim in a sentence."""
    claim = study.validation.claim
    return "No games of a claim." if claim is None else f"Expected score {claim_text(claim)}."


def cost_text(study: StudyReport) -> list[str]:
    """The gain at equal time or at equal nodes, if it was played."""
    gain = study.validation.other_cost
    return (
        []
        if gain is None
        else [plain_page.paragraph(f"Gain over the seed weights: {gain_text(gain)}.")]
    )


def weights_table(study: StudyReport) -> str:
    """Every tuned weight before and after tuning."""
    tuning, best = study.tuning, study.recommendation
    highest = tuning.space.values(best.best_point)
    rows = [
        [
            axis.name, axis.room, value_text(tuning.seed_values[axis.name]),
            value_text(highest[axis.name]), value_text(best.weights[axis.name]),
            interval_text(each), str(each.answer),
        ]
        for axis, each in zip(tuning.space.axes, study.answers, strict=True)
    ]  # fmt: skip
    head = ["weight", "range", "seed", "best", "recommended", "95 % interval", "what can be said"]
    return plain_page.table(head, rows)
