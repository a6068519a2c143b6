"""The results of a study and its files: tables, JSON and tuned weights."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from agents.evaluation.weights import format_weights
from agents.options import LIMITS
from arena.storage.parquet import write_columns
from arena.storage.provenance import package_versions, timestamp
from arena.tuning.recommendation import Recommendation, WeightAnswer, revise_conclusions
from arena.tuning.space import WEIGHTS, Space, value_text
from arena.tuning.study_config import StudyConfig
from arena.tuning.surrogate import Posterior
from arena.tuning.trials import Trial
from arena.tuning.validation import StudyClaim, Validation, gain_json, validation_to_json
from games.base.files import format_toml, toml_key, write_text

WEIGHTS_FILE, OPTIONS_FILE = "weights.toml", "options.toml"
CLOCK_NOTE = "the number of games depended on the clock: another run may recommend other weights"
# The types of all columns that are not double.
TYPES = {
    **dict.fromkeys(("trial", "games", "distinct_games", "pairing"), "int64"),
    "fingerprint": "string",
}


class StudyReport(NamedTuple):
    """The results of a study; without validation as long as only its trials are finished."""

    tuning: StudyConfig
    digest: str
    trials: Sequence[Trial]
    posterior: Posterior
    recommendation: Recommendation
    search_answers: Sequence[WeightAnswer]  # from the trials alone
    detectable_elo: float  # a gain that the claim would show in four studies of five
    widened: bool  # whether the steps of a walk became wider
    budget: float | None  # seconds
    outcome: Validation | None = None

    @property
    def validation(self) -> Validation:
        """The validation, which must be finished."""
        assert self.outcome is not None
        return self.outcome

    @property
    def answers(self) -> list[WeightAnswer]:
        """The conclusions about each weight that agree with the validation."""
        shows_gain = self.outcome is not None and self.outcome.shows_gain
        return revise_conclusions(self.search_answers, shows_gain, self.detectable_elo)

    @property
    def games(self) -> int:
        """All games of the study."""
        validation = self.validation
        claim, other = validation.claim, validation.other_cost
        # Claim and validation share their first games.
        match = max(validation.games, 0 if claim is None else claim.games)
        return self.recommendation.games + match + (0 if other is None else other.games)

    @property
    def origin(self) -> dict[str, object]:
        """The metadata of the tables."""
        tuning = self.tuning
        return {
            "experiment": tuning.experiment.name,
            "run": self.digest,
            "game": tuning.plan.game_name,
        }


def write_trials(path: Path, report: StudyReport) -> None:
    """Write one row for each trial."""
    space, trials = report.tuning.space, report.trials
    values = [space.values(trial.point) for trial in trials]
    texts = {axis.name for axis in space.axes if axis.choices}
    weights = {
        name: [value_text(each[name]) if name in texts else each[name] for each in values]
        for name in space.names
    }
    columns: dict[str, Sequence[object]] = {
        "trial": list(range(len(trials))),
        **weights,
        "score": [trial.score for trial in trials],
        "score_low": [trial.low for trial in trials],
        "score_high": [trial.high for trial in trials],
        "standard_error": [trial.noise**0.5 for trial in trials],
        "games": [trial.games for trial in trials],
        "distinct_games": [trial.distinct_games for trial in trials],
        "fingerprint": [f"{trial.fingerprint:016x}" for trial in trials],
        "seconds": [trial.seconds for trial in trials],
    }
    write_table(path, columns, report.origin, dict.fromkeys(texts, "string"))


def write_validation(path: Path, report: StudyReport) -> None:
    """Write one row for each pair in the order played; the metadata have the verdict."""
    validation = report.validation
    columns: dict[str, Sequence[object]] = {
        "pairing": list(range(len(validation.points))),
        "score": [float(x) for x in validation.points],
        "llr": [float(x) for x in validation.llr],
    }
    write_table(path, columns, {**report.origin, "validation": validation_to_json(validation)})


def write_table(
    path: Path,
    columns: Mapping[str, Sequence[object]],
    origin: Mapping[str, object],
    types: Mapping[str, str] = {},
) -> None:
    """Write a table whose types do not depend on the number of rows."""
    known = {**dict.fromkeys(columns, "double"), **TYPES, **types}
    write_columns(path, {name: known[name] for name in columns}, [columns], origin)


def write_recommendation(path: Path, report: StudyReport) -> dict[str, object]:
    """Write all conclusions as JSON, and return them."""
    result = recommendation_json(report)
    write_text(path, json.dumps(result, indent=1) + "\n")
    return result


def recommendation_json(report: StudyReport) -> dict[str, object]:
    """Return all conclusions as JSON holds them."""
    tuning, best, validation = report.tuning, report.recommendation, report.outcome
    lucky = max(report.trials, key=lambda trial: trial.score)
    space = tuning.space
    return {
        "agent": tuning.agent,
        "game": tuning.plan.game_name,
        "method": tuning.method,
        "steps_widened": report.widened,
        "budget_seconds": report.budget,
        "recommended": best.weights,
        "fixed": {name: list(values) for name, values in space.fixed.items()},
        "seed": dict(tuning.seed_values),
        "weights": {each.weight: answer_json(each) for each in report.answers},
        "flat": best.flat or None,
        "opponents": dict(tuning.opponents),
        **claim_json(None if validation is None else validation.claim),
        "believed_by_the_search": belief_json(space, best),
        "trials": best.trials,
        "games": best.games,
        "distinct_fingerprints": best.fingerprints,
        "luckiest_trial": {
            "weights": space.values(lucky.point),
            "score": lucky.score,
            "note": "mostly luck: not a recommendation",
        },
        "validation": None if validation is None else validation_to_json(validation),
        "at_other_cost": None if validation is None else gain_json(validation.other_cost),
    }


def belief_json(space: Space, best: Recommendation) -> dict[str, object]:
    """Return the expectation of the search, which is no claim, as JSON holds it."""
    return {
        "weights": space.values(best.best_point),
        "score": list(best.score),
        "gain": list(best.gain),
        "gain_over": "the seed weights",
        "note": "too high by what the search could choose from: not a claim",
    }


def answer_json(of: WeightAnswer) -> dict[str, object]:
    """Return the answer about a weight as JSON holds it."""
    return {"best": of.value, "interval": [of.low, of.high], "answer": str(of.answer)}


def claim_json(claim: StudyClaim | None) -> dict[str, object]:
    """Return the claim as JSON holds it; nulls if there is none."""
    if claim is None:
        return {"expected_score": None, "gain_elo": None, "claim_games": 0}
    gain = None if claim.gain_elo is None else list(claim.gain_elo)
    return {"expected_score": list(claim.score), "gain_elo": gain, "claim_games": claim.games}


def write_tuned_options(directory: Path, report: StudyReport) -> dict[str, object]:
    """Write the weights and options that proved better; return the paths for the result."""
    paths = dict[str, object]()
    places = {axis.place[0] for axis in report.tuning.space.axes}
    if WEIGHTS in places:
        write_text(directory / WEIGHTS_FILE, weights_toml(report))
        paths["weights_file"] = str((directory / WEIGHTS_FILE).absolute())
    if places - {WEIGHTS}:
        write_text(directory / OPTIONS_FILE, options_toml(report))
        paths["options_file"] = str((directory / OPTIONS_FILE).absolute())
    return paths


def options_toml(report: StudyReport) -> str:
    """Return the tuned options as lines for the table of the agent."""
    tuning, validation = report.tuning, report.validation
    changes = tuning.space.changes(report.recommendation.point)
    lines = [f"{toml_key(k)} = {format_toml(v)}" for k, v in changes.items() if k != WEIGHTS]
    return (
        "\n".join([f"# Tuned options for {tuning.plan.game_name}: {validation.text}.", *lines])
        + "\n"
    )


def weights_toml(report: StudyReport) -> str:
    """Return the tuned weights as a file that an agent can name, with their provenance."""
    tuning, best, validation = report.tuning, report.recommendation, report.validation
    weights = tuning.space.weights(best.point)
    spec, experiment = tuning.candidate, tuning.experiment
    limits = [f"{key} = {spec.options[key]}" for key in LIMITS if key in spec.options]
    agent = f"{spec.kind}, {', '.join(limits) or 'its own limits'}"
    rounded = {
        name: [round(float(value), 3) for value in values] for name, values in weights.items()
    }
    provenance = {
        "experiment": experiment.name,
        "run": report.digest,
        "written": timestamp(),
        "game": tuning.plan.game_name,
        "agent": agent,
        "seed_weights": json.dumps(dict(tuning.seed_values)),
        "method": tuning.method,
        "trials": best.trials,
        "games": best.games,
        "validation_games": validation.games,
        "validation_distinct_games": validation.distinct_games,
        "versions": json.dumps(package_versions()),
    }
    return (
        f"# Tuned weights for {tuning.plan.game_name}: {validation.text}.\n"
        + format_weights(rounded)
        + "\n[provenance]\n"
        + "".join(f"{key} = {format_toml(value)}\n" for key, value in provenance.items())
    )
