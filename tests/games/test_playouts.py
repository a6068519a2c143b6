"""Random whole games: the generator's published numbers, starts in the middle, odd arguments."""

import numpy as np
import pytest

from games import game
from games.kernels.splitmix import STRIDE
from games.kernels.streams import mixed
from games.perft import PlayoutCounts, play_random_games
from tests.games.naive import playouts


def test_the_generator_gives_the_published_numbers_of_splitmix64():
    # Rosetta Code, "Pseudo-random numbers/Splitmix64", seed 1234567.
    published = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    states = [(1234567 + playouts.STRIDE * (i + 1)) % playouts.WORD for i in range(5)]
    assert [playouts.mixed(state) for state in states] == published
    assert [int(mixed(np.uint64(state))) for state in states] == published
    assert int(STRIDE) == playouts.STRIDE


def test_the_results_of_a_seed_stay_what_they_were():
    # A change here changes every recorded experiment: say so in CHANGELOG.md.
    assert play_random_games(game("kalah(6,4)"), 40, seed=2024) == PlayoutCounts(
        16, 2, 22, 1695, -114
    )
    assert play_random_games(game("othello(8)"), 40, seed=2024) == PlayoutCounts(
        18, 2, 20, 2414, -116
    )


def test_results_are_the_first_players_also_when_the_second_is_to_move():
    of = game("kalah(6,4)")
    second = of.replay("1")[-1]
    assert of.mover(second) == 1
    ours = play_random_games(of, 20, seed=3, start=second)
    assert ours == PlayoutCounts(*playouts.tally(of, second, range(20), seed=3))


def test_results_follow_the_players_through_a_swap():
    of = game("kalah-manchester")
    swapped = of.replay("1 swap")[-1]
    ours = play_random_games(of, 20, seed=3, start=swapped)
    assert ours == PlayoutCounts(*playouts.tally(of, swapped, range(20), seed=3))


def test_a_finished_start_is_its_own_result():
    of = game("kalah(3,2)")
    over = of.parse("S 0 0 0, N 1 0 2, pots 4-5, South to move")
    assert play_random_games(of, 7, seed=1, start=over) == PlayoutCounts(0, 0, 7, 0, -28)


def test_a_game_without_beans_is_a_tie_at_once():
    of = game("kalah(6,0)")
    assert of.over(of.start())
    assert play_random_games(of, 5, seed=1) == PlayoutCounts(0, 5, 0, 0, 0)


def test_no_games_are_no_results():
    assert play_random_games(game("owari"), 0, seed=1) == PlayoutCounts(0, 0, 0, 0, 0)


@pytest.mark.parametrize("seed", [-1, 2**63, 2**64 - 1, 2**70 + 5])
def test_a_seed_of_any_size_counts_by_its_low_64_bits(seed):
    of = game("kalah(3,2)")
    assert play_random_games(of, 9, seed) == play_random_games(of, 9, seed % 2**64)
    assert play_random_games(of, 9, seed) == PlayoutCounts(
        *playouts.tally(of, of.start(), range(9), seed % 2**64)
    )


@pytest.mark.parametrize(("games", "first"), [(-1, 0), (1, -1)])
def test_a_negative_number_of_games_is_refused(games, first):
    with pytest.raises(ValueError, match="must not be negative"):
        play_random_games(game("kalah(3,2)"), games, seed=1, first=first)


def test_streams_of_neighbouring_games_and_seeds_differ():
    first = [next(playouts.draws(seed, number)) for seed in range(40) for number in range(40)]
    assert len(set(first)) == len(first)
