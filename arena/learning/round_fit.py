"""The fit of one round: games to positions, positions to weights, weights to a file."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.evaluation.learned_value import SCALE
from agents.evaluation.table_sums import TableSums
from agents.evaluation.training_positions import GameReader, Positions
from agents.evaluation.weights import LearnedWeights, read_learned_weights, write_learned_weights
from agents.sandbox.sandbox import Sandbox
from arena.learning.config import FEATURES, LearnConfig, layout_of, tables_part
from arena.learning.feature_fit import FittedFeatures, fit_features, fit_user_evaluation
from arena.learning.self_play import RoundGames
from arena.learning.table_fit import FitRows, FittedTables, fit_tables, predictions, refit_on_values
from arena.stats.clustered_means import CalibrationBin, FitQuality, calibration
from arena.storage.provenance import package_versions
from games import Game
from games.kernels.splitmix import STRIDE, mixed
from games.learned_block import MOST_REMAINING, phase_of

Fitted = FittedTables | FittedFeatures
RIDGES = (128.0, 32.0, 8.0)  # an entry that this many positions look up keeps half its value
HELD_OUT = 0.05  # the share of games that only test
REFITS = 2  # of tables, with labels from the positions that followed
TRUST = 0.8  # share of the later values in the labels of a refit


@dataclass(frozen=True)
class FitSample:
    """The positions of a round, split by game into training and held-out positions."""

    of: Game
    games: RoundGames
    training: Positions
    held_out: Positions
    least: int  # how much is left when phases end and when they begin
    most: int

    @cached_property
    def digest(self) -> str:
        """Digest of the games."""
        digest = hashlib.blake2b(digest_size=8)
        for each in self.games.games:
            digest.update(np.ascontiguousarray(each).tobytes())
        return digest.hexdigest()


def make_sample(learning: LearnConfig, games: RoundGames) -> FitSample:
    """Return the positions of the games of a round."""
    reader = GameReader(learning.of)
    positions = reader.positions(games.games)
    words = mixed(np.arange(len(games), dtype=np.uint64) * STRIDE + np.uint64(learning.plan.seed))
    tests = (words >> np.uint64(11)) < np.uint64(HELD_OUT * (1 << 53))
    held = tests[positions.games]
    left = reader.remaining_units(positions.rows)
    least = learning.solve_from if learning.solve_from >= 0 else int(left.min(initial=0))
    return FitSample(
        learning.of,
        games,
        positions.select(~held),
        positions.select(held),
        min(least, MOST_REMAINING - 1),
        min(int(left.max(initial=least)), MOST_REMAINING - 1),
    )


def phases_for(learning: LearnConfig, games: int) -> int:
    """Return the phases of the file; by default one, and more if there are enough games."""
    if learning.phases is not None:
        return learning.phases
    if learning.tables == FEATURES:
        return 1
    part = tables_part(learning.of)
    return int(getattr(part, "PHASES", 1)) if games >= getattr(part, "FEW_GAMES", 0) else 1


class RoundFit:
    """Fits the weights of one sample."""

    def __init__(
        self, learning: LearnConfig, sample: FitSample, workers: int, sandbox: Sandbox | None = None
    ) -> None:
        self.learning, self.sample, self.sandbox = learning, sample, sandbox
        self.phases = phases_for(learning, len(sample.games))
        self.left = phase_of(np.arange(MOST_REMAINING), self.phases, sample.least, sample.most)
        self.sums: TableSums | None = None
        self.groups: dict[str, str] = {}
        if learning.tables != FEATURES:
            tables, layout = layout_of(learning.of, learning.tables, learning.patterns)
            self.sums = TableSums(learning.of, tables, layout, self.left, workers)
            self.groups = {each.name: each.description for each in layout.groups}

    def rows(self, positions: Positions) -> FitRows:
        """Return the positions with the labels of their tables."""
        assert self.sums is not None
        known = self.sums.base_values(positions.rows)
        return FitRows(positions, (positions.margins - known).astype(np.int16))

    def fit(self, look: Callable[[], None]) -> Fitted:
        """Return the weights with the quality of the fit."""
        if self.sums is None:
            return self.fit_feature_weights()
        training, held_out = self.rows(self.sample.training), self.rows(self.sample.held_out)
        fitted = fit_tables(self.sums, training, held_out, RIDGES, look)
        for _ in range(REFITS):
            look()
            fitted = refit_on_values(self.sums, training, held_out, fitted, TRUST)
        return fitted

    def fit_feature_weights(self) -> FittedFeatures:
        """Return the weights of the features."""
        of, reader = self.learning.of, GameReader(self.learning.of)
        both = self.sample.training, self.sample.held_out
        if (own := self.learning.evaluation_weights) is not None:
            return fit_user_evaluation(
                of, self.learning.agent_spec, *both, own, self.sandbox or Sandbox()
            )
        phases = [phase_by_features(of, reader, each.rows, self.phases) for each in both]
        return fit_features(of, *both, (phases[0], phases[1]), of.features)

    def calibration_bins(self, fitted: Fitted) -> list[CalibrationBin]:
        """Return the predictions and outcomes of held-out positions."""
        if isinstance(fitted, FittedFeatures):
            return fitted.bins
        assert self.sums is not None
        rows = self.rows(self.sample.held_out)
        predicted = predictions(self.sums, rows, fitted.weights)
        return calibration(predicted, rows.labels.astype(np.float64), rows.positions.games)

    def weights_with_provenance(
        self, fitted: Fitted, commands: Sequence[str], round_: int
    ) -> LearnedWeights:
        """Return the weights with their provenance."""
        features = isinstance(fitted, FittedFeatures)
        return LearnedWeights(
            game=self.learning.of.name,
            kind=FEATURES if features else self.learning.tables,
            groups=dict.fromkeys(fitted.names, "") if isinstance(fitted, FittedFeatures)
            else self.groups,
            weights=fitted.weights,
            least=self.sample.least,
            most=self.sample.most,
            scale=1 if features else SCALE,
            games=len(self.sample.games),
            games_digest=self.sample.digest,
            commands=tuple(commands),
            more={
                "round": round_,
                "positions": len(self.sample.training.games),
                "ridge": fitted.ridge,
                "seen": round(fitted.seen_share, 4),
                "held_out": quality_json(fitted.quality),
                "versions": package_versions(),
            },
        )  # fmt: skip


def phase_by_features(
    of: Game, reader: GameReader, rows: NDArray[np.uint64], phases: int
) -> NDArray[np.int64]:
    """Return the phase of each position for an agent with weights by phase."""
    if phases == 1:
        return np.zeros(len(rows), np.int64)
    from agents.evaluation.table_sums import phase_kernels  # noqa: PLC0415  # only with phases

    found = np.empty(len(rows), np.int64)
    phase_kernels(of.family_name).phases_of(of.context, rows, phases, found)
    return found


def quality_json(quality: FitQuality) -> dict[str, object]:
    """Return the quality of a fit as JSON holds it."""
    return {
        "positions": quality.positions,
        "games": quality.games,
        "r2": round(quality.r2, 5),
        "squared_error": round(quality.error.value, 4),
        "error_by_game": round(quality.error.by_game, 4),
        "error_by_position": round(quality.error.by_position, 4),
        "signs": round(quality.sign_accuracy, 5),
    }


def write_and_reload(path: Path, weights: LearnedWeights) -> LearnedWeights:
    """Write the file and return its content."""
    write_learned_weights(path, weights)
    return read_learned_weights(path)
