"""Benchmarks of random games against open_spiel, and of wide against packed states."""

import importlib
import random
from typing import Any

from benchmarks.table import Row, per_second, skipped_row
from benchmarks.timing import best_of, timed_job
from games import Game, game
from games.perft import play_random_games

SEED = 1
SAMPLE = 100  # games played in Python to count the beans of each move


def random_kalah(rounds: int) -> Row:
    """Compare kalah(6,4) with open_spiel's mancala."""
    return open_spiel_row("kalah(6,4)", "mancala", (100_000, 1_000), 30, rounds)


def random_othello(rounds: int) -> Row:
    """Compare Othello with open_spiel's Othello."""
    return open_spiel_row("othello", "othello", (50_000, 200), 200, rounds)


def open_spiel_row(
    name: str, theirs: str, games: tuple[int, int], target: float, rounds: int
) -> Row:
    """Compare our games per second with open_spiel driven from Python."""
    what = f"random games, {name}: open_spiel from Python"
    try:
        loaded = importlib.import_module("pyspiel").load_game(theirs)
    except ImportError:
        return skipped_row(what, "no open_spiel", target)
    of, rng = game(name), random.Random(SEED)
    play_random_games(of, 1, SEED)
    ours, against = best_of(
        rounds,
        timed_job(lambda: play_random_games(of, games[0], SEED)),
        timed_job(lambda: open_spiel_games(loaded, games[1], rng)),
    )
    rates = games[0] / ours, games[1] / against
    return Row(what, per_second(rates[0]), per_second(rates[1]), rates[0] / rates[1], target)


def open_spiel_games(loaded: Any, games: int, rng: random.Random) -> None:
    """Play random games in the way of open_spiel's examples."""
    for _ in range(games):
        state = loaded.new_initial_state()
        while not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions()))


def wide_sowing(rounds: int) -> Row:
    """Compare beans sown per second: the wide state, kalah(8,8), and the packed, kalah(7,7)."""
    wide, packed = game("kalah(8,8)"), game("kalah(7,7)")
    games = 20_000
    sown = [play_random_games(of, games, SEED).moves * beans_a_move(of) for of in (wide, packed)]
    ours, against = best_of(
        rounds,
        timed_job(lambda: play_random_games(wide, games, SEED)),
        timed_job(lambda: play_random_games(packed, games, SEED)),
    )
    rates = sown[0] / ours, sown[1] / against
    what = "beans sown in random games, wide kalah(8,8): packed kalah(7,7)"
    return Row(what, per_second(rates[0]), per_second(rates[1]), rates[0] / rates[1], 0.2)


def beans_a_move(of: Game) -> float:
    """Return the mean number of beans sown by a move of a random game."""
    rng, sown, plies = random.Random(SEED), 0, 0
    for _ in range(SAMPLE):
        position = of.start()
        while legal := of.legal(position):
            move = rng.choice(legal)
            sown += of.family.unpack(position.state, of.rules.holes).own[move]
            plies += 1
            position = of.play(position, move)
    return sown / plies
