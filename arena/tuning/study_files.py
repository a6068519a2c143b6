"""The files that a study leaves: tables, JSON, and weights that proved better."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from agents.options import LIMITS
from arena.storage.parquet import write_columns
from arena.storage.provenance import timestamp, versions
from arena.tuning.recommendation import Recommendation, WeightAnswer
from arena.tuning.space import WEIGHTS, Space, value_text
from arena.tuning.study_config import StudyConfig
from arena.tuning.trials import Trial
from arena.tuning.validation import StudyClaim, Validation, gain_json, validation_to_json
from games.base.files import write_text

# In the study's directory: nothing else is touched.
WEIGHTS_FILE, OPTIONS_FILE = "weights.toml", "options.toml"
Origin = Mapping[str, object]
# All other columns hold numbers.
TYPES = {
    **dict.fromkeys(("trial", "games", "distinct_games", "pairing"), "int64"),
    **dict.fromkeys(("fingerprint",), "string"),
}


def write_trials(path: Path, space: Space, trials: Sequence[Trial], origin: Origin) -> None:
    """One row a trial: its weights, score, interval, games, distinct games, seconds."""
    values = [space.values(trial.point) for trial in trials]
    columns: dict[str, Sequence[object]] = {"trial": list(range(len(trials)))}
    for name in space.names:
        columns[name] = [each[name] for each in values]
    texts = {axis.name: "string" for axis in space.axes if axis.choices}
    for name in texts:
        columns[name] = [value_text(each[name]) for each in values]
    for name in ("score", "low", "high"):
        columns[f"score_{name}" if name != "score" else name] = [
            getattr(trial, name) for trial in trials
        ]
    columns["standard_error"] = [trial.noise**0.5 for trial in trials]
    columns["games"] = [trial.games for trial in trials]
    columns["distinct_games"] = [trial.distinct_games for trial in trials]
    columns["fingerprint"] = [f"{trial.fingerprint:016x}" for trial in trials]
    columns["seconds"] = [trial.seconds for trial in trials]
    write_table(path, columns, origin, texts)


def write_validation(path: Path, validation: Validation, origin: Origin) -> None:
    """One row a pairing in the order played; the verdict is in the frame's attributes."""
    columns: dict[str, Sequence[object]] = {
        "pairing": list(range(len(validation.points))),
        "score": [float(x) for x in validation.points],
        "llr": [float(x) for x in validation.llr],
    }
    write_table(path, columns, {**origin, "validation": validation_to_json(validation)})


def write_table(
    path: Path,
    columns: Mapping[str, Sequence[object]],
    origin: Origin,
    types: Mapping[str, str] = {},
) -> None:
    """A table with types that do not depend on how many rows there are."""
    known = {**dict.fromkeys(columns, "double"), **TYPES, **types}
    write_columns(path, {name: known[name] for name in columns}, [columns], origin)


def recommendation_json(
    tuning: StudyConfig,
    best: Recommendation,
    trials: Sequence[Trial],
    answers: Sequence[WeightAnswer],
    validation: Validation | None,
    widened: bool,
) -> dict[str, object]:
    """All conclusions, the luckiest trial with a note that it is mostly luck."""
    lucky = max(trials, key=lambda trial: trial.score)
    space = tuning.space
    return {
        "agent": tuning.agent,
        "game": tuning.plan.game,
        "method": tuning.method,
        "steps_widened": widened,
        "recommended": best.weights,
        "fixed": {name: list(values) for name, values in space.fixed.items()},
        "seed": dict(tuning.seed_values),
        "weights": {each.weight: answer_json(each) for each in answers},
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
    """What the search itself expects of its weights."""
    return {
        "weights": space.values(best.best_point),
        "score": list(best.score),
        "gain": list(best.gain),
        "gain_over": "the seed weights",
        "note": "too high by what the search could choose from: not a claim",
    }


def answer_json(of: WeightAnswer) -> dict[str, object]:
    """What is said of a weight as JSON holds it."""
    return {"best": of.value, "interval": [of.low, of.high], "answer": str(of.answer)}


def claim_json(claim: StudyClaim | None) -> dict[str, object]:
    """The claim as JSON holds it, each with its interval; nulls where there is none."""
    if claim is None:
        return {"expected_score": None, "gain_elo": None, "claim_games": 0}
    gain = None if claim.gain_elo is None else list(claim.gain_elo)
    return {"expected_score": list(claim.score), "gain_elo": gain, "claim_games": claim.games}


def write_json(path: Path, content: Mapping[str, object]) -> None:
    """Write a JSON file, whole or not at all."""
    write_text(path, json.dumps(content, indent=1) + "\n")


def write_tuned_options(
    tuning: StudyConfig, best: Recommendation, validation: Validation, directory: Path
) -> dict[str, object]:
    """The files of weights and options that proved better; where they are, for the answer."""
    digest, written = directory.name.removeprefix("tune-"), dict[str, object]()
    places = {axis.place[0] for axis in tuning.space.axes}
    if WEIGHTS in places:
        text = weights_toml(tuning, best, validation, digest)
        write_text(directory / WEIGHTS_FILE, text)
        written["weights_file"] = str((directory / WEIGHTS_FILE).absolute())
    if places - {WEIGHTS}:
        write_text(directory / OPTIONS_FILE, options_toml(tuning, best, validation))
        written["options_file"] = str((directory / OPTIONS_FILE).absolute())
    return written


def options_toml(tuning: StudyConfig, best: Recommendation, validation: Validation) -> str:
    """The options that were tuned, as lines for the table of the agent."""
    changes = {k: v for k, v in tuning.space.changes(best.point).items() if k != WEIGHTS}
    head = f"# Tuned options for {tuning.plan.game}: {validation.text}."
    return "\n".join([head, *(f"{_key(k)} = {toml_value(v)}" for k, v in changes.items())]) + "\n"


def toml_value(value: object) -> str:
    """A value of an option as TOML writes it, in one line."""
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(name)} = {toml_value(each)}" for name, each in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    return json.dumps(value, ensure_ascii=False)  # numbers, texts, true and false are alike in both


def weights_toml(
    tuning: StudyConfig, best: Recommendation, validation: Validation, digest: str
) -> str:
    """A weights file for agents to name, with its provenance."""
    weights = tuning.space.weights(best.point)
    spec, experiment = tuning.candidate, tuning.experiment
    limits = [f"{key} = {spec.options[key]}" for key in LIMITS if key in spec.options]
    agent = f"{spec.kind}, {', '.join(limits) or 'its own limits'}"
    lines = [
        f"# Tuned weights for {tuning.plan.game}: {validation.text}.",
        "[weights]",
        *(f"{_key(name)} = {_toml(values)}" for name, values in weights.items()),
        "",
        "[provenance]",
        f"experiment = {json.dumps(experiment.name)}",
        f"run = {json.dumps(digest)}",
        f"written = {json.dumps(timestamp())}",
        f"game = {json.dumps(tuning.plan.game)}",
        f"agent = {json.dumps(agent)}",
        f"seed_weights = {json.dumps(json.dumps(dict(tuning.seed_values)))}",
        f"method = {json.dumps(tuning.method)}",
        f"trials = {best.trials}",
        f"games = {best.games}",
        f"validation_games = {validation.games}",
        f"validation_distinct_games = {validation.distinct_games}",
        f"versions = {json.dumps(json.dumps(versions()))}",
    ]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    """A name as TOML writes keys."""
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else json.dumps(name)


def _toml(values: Sequence[float]) -> str:
    numbers = [repr(round(float(value), 3)) for value in values]
    return numbers[0] if len(numbers) == 1 else f"[{', '.join(numbers)}]"
