"""Weights of features by least squares: a start for tuning by matches, never the result."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.core import AgentSpec, HostSettings
from agents.create import create_agent
from agents.evaluation.table_sums import row_kernels
from agents.evaluation.training_positions import Positions
from agents.evaluation.weights import read_declared_weights
from agents.registry import build
from agents.sandbox.sandbox import Sandbox
from agents.sandbox.sandboxed_agent import SandboxedAgent
from agents.search.compiled_agent import CompiledAgent
from arena.stats.clustered_means import CalibrationBin, FitQuality, calibration, fit_quality
from games import Game

LOUD = 1000.0  # the weight with which a feature is read: scores are in thousandths
GRAIN = 1 << 12  # steps of a feature's unit in integer sums
DIGITS = 4
MOST, TESTS = 10_000, 2_000  # positions that a user's evaluation values

Floats = NDArray[np.float64]


class FittedFeatures(NamedTuple):
    """A weight for each feature and phase, and the quality of the fit."""

    names: tuple[str, ...]
    weights: Floats  # one row for each phase
    quality: FitQuality
    bins: list[CalibrationBin]
    seen_share: float = 1.0
    ridge: float = 0.0


def feature_values(of: Game, names: Sequence[str], rows: NDArray[np.uint64]) -> Floats:
    """Return a row for each position: the share of each feature at weight 1."""
    columns = []
    evaluate = row_kernels(of.family_name).evaluate_rows
    for name in names:
        agent = build(AgentSpec("alphabeta", depth=1, weights={name: (LOUD,)}), of)
        assert isinstance(agent, CompiledAgent)
        scores = np.empty(len(rows), np.int64)
        evaluate(agent.context, rows, scores)
        columns.append(scores / (1000.0 * LOUD))
    return np.stack(columns, axis=1)


def user_feature_values(
    of: Game, spec: AgentSpec, names: Sequence[str], rows: NDArray[np.uint64], sandbox: Sandbox
) -> tuple[Floats, Floats]:
    """Return the same for a user's evaluation in the sandbox, and its value without weights."""
    agent = create_agent(spec, of, HostSettings(sandbox))
    assert isinstance(agent, SandboxedAgent)
    agent.start(0)
    declared = read_declared_weights(spec.options["evaluate"]) or names

    def values(loud: str) -> Floats:
        agent.set_weights({name: (1.0 if name == loud else 0.0,) for name in declared})
        return np.array(agent.evaluate_rows(rows))

    try:
        base = values("")
        return np.stack([values(name) - base for name in names], axis=1), base
    finally:
        agent.close()


def fit_user_evaluation(
    of: Game,
    spec: AgentSpec,
    training: Positions,
    held_out: Positions,
    names: Sequence[str],
    sandbox: Sandbox,
) -> FittedFeatures:
    """Fit the WEIGHTS of a user's evaluation, which must be linear in them.

    The evaluation is called once for each position and weight, so only some positions are used.
    """
    some, tests = (
        thin_positions(each, most) for each, most in ((training, MOST), (held_out, TESTS))
    )
    fitted, base = user_feature_values(of, spec, names, some.rows, sandbox)
    tested, tested_base = user_feature_values(of, spec, names, tests.rows, sandbox)
    weights = np.round(least_squares(fitted, some.margins - base), DIGITS)
    outcome = tests.margins - tested_base
    return evaluate_features(names, weights[None], tested @ weights, outcome, tests.games)


def evaluate_features(
    names: Sequence[str],
    weights: Floats,
    predicted: Floats,
    outcome: Floats,
    games: NDArray[np.int32],
) -> FittedFeatures:
    """Return weights with their quality on held-out games."""
    quality = fit_quality(predicted, outcome, games)
    bins = calibration(predicted, outcome, games)
    return FittedFeatures(tuple(names), weights, quality, bins)


def thin_positions(positions: Positions, most: int) -> Positions:
    """Return at most `most` positions, evenly from all games."""
    count = len(positions.games)
    if count <= most:
        return positions
    return positions.select(np.isin(np.arange(count), np.arange(most) * count // most))


def fit_features(
    of: Game,
    training: Positions,
    held_out: Positions,
    phases: tuple[NDArray[np.int64], NDArray[np.int64]],
    names: Sequence[str],
) -> FittedFeatures:
    """Fit the margins by least squares; `phases` are those of the rows of both samples."""
    fitted, tested = (feature_values(of, names, each.rows) for each in (training, held_out))
    count = int(max(each.max(initial=0) for each in phases)) + 1
    weights = np.zeros((count, len(names)))
    for phase in range(count):
        own = phases[0] == phase
        weights[phase] = least_squares(fitted[own], training.margins[own].astype(np.float64))
    weights = np.round(weights, DIGITS)
    predicted = (tested * weights[phases[1]]).sum(axis=1)
    outcome = held_out.margins.astype(np.float64)
    return evaluate_features(names, weights, predicted, outcome, held_out.games)


def least_squares(values: Floats, outcome: Floats) -> Floats:
    """Solve the normal equations, summed in integers so that the order does not matter.

    A feature that never differs between the sides gets 0.
    """
    whole = np.rint(values * GRAIN).astype(np.int64)
    products = np.einsum("ij,ik->jk", whole, whole) / GRAIN**2
    answers = np.einsum("ij,i->j", whole, np.rint(outcome * GRAIN).astype(np.int64)) / GRAIN**2
    return solve_linear(products + 1e-6 * np.eye(len(answers)), answers)


def solve_linear(matrix: Floats, right: Floats) -> Floats:
    """Solve a small positive definite system in the same order on every machine."""
    size = len(right)
    rows = [[*map(float, matrix[at]), float(right[at])] for at in range(size)]
    for at in range(size):
        for below in range(at + 1, size):
            factor = rows[below][at] / rows[at][at]
            for column in range(at, size + 1):
                rows[below][column] -= factor * rows[at][column]
    solution = [0.0] * size
    for at in range(size - 1, -1, -1):
        rest = rows[at][size] - sum(rows[at][k] * solution[k] for k in range(at + 1, size))
        solution[at] = rest / rows[at][at]
    return np.array(solution)
