"""What a run of learning found: its rounds, as JSON and in the lines that are printed."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from agents.evaluations.learned_weights import LearnedWeights
from arena.learning.group_answers import GroupAnswer
from arena.learning.learn_file import FEATURES, Learning
from arena.learning.round_match import RoundMatch, RoundVerdict
from arena.stats.clustered_error import CalibrationBin

WEIGHTS = "weights.npz"
TEXT_WEIGHTS = "weights.toml"


class CurvePoint(NamedTuple):
    """The weights of a share of the games, against the teacher of the round."""

    share: float
    games: int
    r2: float
    match: RoundMatch


class LearnedRound(NamedTuple):
    """A round that was played, fitted and matched."""

    number: int
    weights: LearnedWeights
    path: Path
    match: RoundMatch
    calibration: list[CalibrationBin]
    curve: list[CurvePoint]
    answers: list[GroupAnswer]


def r2_of(weights: LearnedWeights) -> float:
    """The share of the variance of held-out games that the weights explain."""
    held: object = weights.more.get("held_out")
    return float(held["r2"]) if isinstance(held, dict) else 0.0


def fit_line(weights: LearnedWeights) -> str:
    """How well the weights fit, in one line."""
    more = weights.more
    held = more["held_out"]
    assert isinstance(held, dict)
    return (
        f"{more['positions']:,} positions, {weights.weights.size:,} weights, "
        f"{more['seen']:.0%} of them seen; ridge {more['ridge']:g}; held out: R2 {held['r2']:.3f}, "
        f"squared error {held['squared_error']:.1f} ± {1.96 * held['error_by_game']:.1f}"
    )


def calibration_line(bins: Sequence[CalibrationBin]) -> str:
    """How far held-out games were from what was predicted, where they were farthest."""
    worst = max(bins, key=lambda each: abs(each.outcome - each.predicted))
    return (
        f"calibration, {len(bins)} equal shares: farthest off where {worst.predicted:+.1f} was "
        f"predicted and {worst.outcome:+.1f} ± {1.96 * worst.error:.1f} came"
    )


def best_of(rounds: list[LearnedRound]) -> LearnedRound | None:
    """The last round that was better than the one before."""
    better = [each for each in rounds if each.match.verdict is RoundVerdict.BETTER]
    return better[-1] if better else None


def answer_json(
    learning: Learning, directory: Path, command: str, rounds: list[LearnedRound]
) -> dict[str, object]:
    """All that was found out."""
    best = best_of(rounds)
    return {
        "name": learning.experiment.name,
        "game": learning.of.name,
        "teacher": learning.teacher,
        "agent": learning.agent,
        "tables": learning.tables,
        "command": command,
        "weights": None if best is None else str(directory / WEIGHTS),
        "rounds": [round_json(each) for each in rounds],
    }


def round_json(each: LearnedRound) -> dict[str, object]:
    """A round as JSON holds it."""
    return {
        "round": each.number,
        "games": each.weights.games,
        "digest": each.weights.digest,
        **each.weights.more,
        "calibration": [one._asdict() for one in each.calibration],
        "match": each.match.to_json(),
        "curve": [
            {"games": at.games, "r2": at.r2, "match": at.match.to_json()} for at in each.curve
        ],
        "groups": [answer.to_json() for answer in each.answers],
    }


def weights_toml(weights: LearnedWeights) -> str:
    """Weights of features as a file that people can read and change."""
    lines = [f"# Fitted to {weights.games:,} games of {weights.game}.", "[weights]"]
    for name, values in weights.by_feature().items():
        numbers = ", ".join(f"{value:g}" for value in values)
        lines.append(f"{name} = {numbers if len(values) == 1 else f'[{numbers}]'}")
    return "\n".join(lines) + "\n"


def answer_lines(learning: Learning, directory: Path, rounds: list[LearnedRound]) -> Iterator[str]:
    """The lines that are printed at the end."""
    yield f"{learning.of.name}, tables {learning.tables}, taught by {learning.teacher}"
    for each in rounds:
        yield (
            f"round {each.number}  {each.weights.games:,} games, R2 {r2_of(each.weights):.3f}, "
            f"against {'the round before' if each.number > 1 else learning.agent}: "
            f"{each.match.text}"
        )
        yield f"  {fit_line(each.weights)}"
        if each.calibration:
            yield f"  {calibration_line(each.calibration)}"
        for at in each.curve:
            yield f"  of {at.games:,} games: R2 {at.r2:.3f}, {at.match.text}"
        yield from (f"  {found.line}" for found in each.answers)
    best = best_of(rounds)
    if best is None:
        yield f"nothing is better than {learning.agent}: no weights go on"
    else:
        name = TEXT_WEIGHTS if best.weights.kind == FEATURES else WEIGHTS
        path = json.dumps(str(directory / name), ensure_ascii=False)
        yield f"use it   weights = {path}"
