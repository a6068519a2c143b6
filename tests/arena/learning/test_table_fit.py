"""The fit of tables: known weights, noise, and any number of parts."""

import numpy as np
import pytest

from agents.core import AgentSpec
from agents.evaluation import table_sums
from agents.evaluation.learned_value import find_tables
from agents.evaluation.table_sums import TableSums
from agents.evaluation.training_positions import GameReader
from arena.learning.self_play import GamePart, SelfPlay, SelfPlaySettings, unpack_games
from arena.learning.table_fit import (
    FitRows,
    conjugate_gradients,
    fit_tables,
    lookup_counts,
    predictions,
    quantise,
    td_labels,
)
from games import game
from games.learned_block import MOST_REMAINING, phase_of

GAMES = 1200


@pytest.fixture(scope="module")
def of():
    return game("kalah(6,4)")


@pytest.fixture(scope="module")
def positions(of):
    """The positions of fast games of a greedy player."""
    work = SelfPlay(of, AgentSpec("alphabeta", nodes=3), SelfPlaySettings(1, 4, 16, 8))
    played, keys = unpack_games(work.play(GamePart(0, GAMES)).games)
    assert len(np.unique(keys)) > 0.9 * GAMES
    return GameReader(of).positions(played)


def sums_of(of, phases=1, workers=1):
    tables = find_tables(of, "holes")
    left = phase_of(np.arange(MOST_REMAINING), phases, 8, 48)
    return TableSums(of, tables, tables.layout(of.rules), left, workers)


def split(positions, labels):
    """The first games for training, the last ones for testing."""
    cut = int(np.searchsorted(positions.games, 0.8 * GAMES))
    whole = FitRows(positions, labels.astype(np.int16))
    return whole.first(cut), FitRows(positions.select(slice(cut, None)), whole.labels[cut:])


def test_games_labelled_by_known_weights_give_them_back(of, positions):
    sums = sums_of(of, phases=2)
    true = np.random.default_rng(4).integers(-20, 20, (2, sums.weight_count)) * 256
    labels = predictions(sums, FitRows(positions, np.zeros(1, np.int16)), true)
    training, held_out = split(positions, labels)
    fitted = fit_tables(sums, training, held_out, (0.01,))
    assert fitted.quality.r2 > 0.995
    assert 0.3 < fitted.seen_share < 1.0


def test_a_fit_of_noise_is_flat(of, positions):
    outcomes = np.random.default_rng(5).integers(-20, 21, GAMES)
    training, held_out = split(positions, outcomes[positions.games])
    fitted = fit_tables(sums_of(of), training, held_out, (128.0,))
    assert fitted.quality.r2 <= 0.01
    # By position the error would look far too small: all of a game share its outcome.
    assert fitted.quality.error.by_game > 2 * fitted.quality.error.by_position


def test_weights_are_the_same_bytes_for_any_number_of_parts(of, positions, monkeypatch):
    monkeypatch.setattr(table_sums, "LEAST_PART", 100)
    training, _ = split(positions, positions.margins)
    found = []
    for workers in (1, 2, 3):
        sums = sums_of(of, phases=2, workers=workers)
        assert len(sums.row_slices(len(training))) == workers
        counts = lookup_counts(sums, training)
        found.append(conjugate_gradients(sums, training, counts, 8.0).tobytes())
    assert found[0] == found[1] == found[2]


def test_counts_and_sums_are_those_of_the_listed_lookups(of, positions):
    sums = sums_of(of, phases=2)
    few = FitRows(positions.select(slice(300)), positions.margins[:300])
    listed = np.empty((300, sums.layout.lookups), np.int32)
    sums.kernels.index_rows(sums.contexts[0], few.positions.rows, sums.layout.lookups, listed)
    expected = np.zeros(sums.entries, np.int64)
    np.add.at(expected, listed, 1)
    assert (lookup_counts(sums, few) == expected).all()
    values = np.random.default_rng(6).integers(-99, 99, sums.entries)
    totals = values[listed].sum(axis=1)
    assert (sums.predict(few.positions.rows, values) == totals).all()
    added = np.zeros(sums.entries, np.int64)
    np.add.at(added, listed, (few.labels.astype(np.int64) * 7 - totals)[:, None])
    assert (sums.add_residuals(few.positions.rows, few.labels, 7, values) == added).all()


def test_conjugate_gradients_end_at_the_solution_of_the_normal_equations(of, positions):
    sums = sums_of(of)
    few = FitRows(positions.select(slice(800)), positions.margins[:800])
    listed = np.empty((800, sums.layout.lookups), np.int32)
    sums.kernels.index_rows(sums.contexts[0], few.positions.rows, sums.layout.lookups, listed)
    table = np.zeros((800, sums.entries))
    np.add.at(table, (np.arange(800)[:, None], listed), 1.0)
    exact = np.linalg.solve(table.T @ table + 4.0 * np.eye(sums.entries), table.T @ few.labels)
    found = conjugate_gradients(sums, few, lookup_counts(sums, few), 4.0, steps=200)
    assert np.abs(found - exact).max() < 1e-3


def test_rounded_weights_are_within_half_a_step():
    weights = np.array([0.001, -0.5, 12.3456, -300.0])
    whole = quantise(weights, 2)
    assert whole.shape == (2, 2)
    assert np.abs(whole.reshape(-1)[:3] / 256 - weights[:3]).max() <= 0.5 / 256
    assert whole[1, 1] == -32767  # it is cut, not wrapped round


def naive_returns(values, margins, games, signs, share):
    """The value of the rest of the game for each position, from the values that followed."""
    found = list(margins)
    for game_ in set(games):
        own = [at for at in range(len(games)) if games[at] == game_]
        later = signs[own[-1]] * margins[own[-1]]  # of the first player, exact
        value = later
        for at in reversed(own[:-1]):
            # As the side that moves next sees it: the rounding is towards less for that side.
            after = at + 1
            mixed = ((256 - share) * signs[after] * value + share * signs[after] * later) // 256
            later = signs[after] * mixed
            found[at] = signs[at] * later
            value = signs[at] * values[at]
    return found


def test_temporal_difference_labels_equal_naive_sums(of, positions):
    few = positions.select(slice(400))
    values = np.random.default_rng(8).integers(-9000, 9000, 400)
    margins = few.margins.astype(np.int64) * 256
    returns = margins.copy()
    sums_of(of).temporal_differences(values, few.games, few.signs, 205, returns)
    plain = [each.tolist() for each in (values, margins, few.games, few.signs.astype(np.int64))]
    assert returns.tolist() == naive_returns(*plain, 205)


def test_full_trust_in_later_values_gives_the_margins(of, positions):
    sums = sums_of(of)
    labels = positions.margins - sums.base_values(positions.rows)
    rows = FitRows(positions, labels.astype(np.int16))
    weights = quantise(conjugate_gradients(sums, rows, lookup_counts(sums, rows), 8.0), 1)
    same = td_labels(sums, rows, weights, 1.0)
    assert (same.labels == same.grain * rows.labels).all()
    mixed = td_labels(sums, rows, weights, 0.5)
    assert (mixed.labels != same.labels).mean() > 0.5
    # By the signs of their movers all positions of a game say the same margin.
    first = positions.margins * positions.signs
    assert all(len(set(first[positions.games == each].tolist())) == 1 for each in range(20))
