"""The contract of games, tested for every entry of the table: a new game needs no new test."""

import pickle
import random
import re
import sys
import threading
from collections import Counter
from functools import cache
from itertools import pairwise
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from games import NAMES, Game, IllegalMove, MoveError, Position, game
from games.core import family_drivers
from games.kernels.context import PASS
from games.kernels.drivers import FAMILY_NAMES
from games.kernels.family import (
    count,
    except_highest,
    highest,
    key,
    lowest,
    moves,
    none,
    nth,
    plies,
    rest,
)
from games.kernels.jit import INTERPRETED, specialise
from games.perft import PlayoutCounts, perft, play_random_games
from tests.games.naive import playouts
from tests.games.table import each_preset, in_sizes, one_of_each

# Each game is tested with those arguments that it accepts.
ARGUMENTS = ("", "(1)", "(6)", "(10)", "(3,2)", "(9,3)")
SEEDS = range(1 if INTERPRETED else 3)
MOST_PLIES = 5000
NONSENSE = ("", "?", "z99", "-1", "1e3", "pass\nthe salt")


# -------------------------------------------------------------- what to test


EVERY = in_sizes(*ARGUMENTS)
# Every preset, every family, the smallest boards and full words; the other sizes are slow.
USUAL = {
    *each_preset("(6)"),
    *one_of_each("family_name", "(6)", "(9,3)", "(10)"),
    *one_of_each("family_name", "(1)"),
}


def slow_if_unusual(names: list[str]) -> list:
    """Names as parameters; unusual sizes are slow."""
    return [pytest.param(n, marks=[pytest.mark.slow] * (n not in USUAL)) for n in names]


every_game = pytest.mark.parametrize("name", slow_if_unusual(EVERY))


@cache
def random_moves(name: str, seed: int) -> tuple[int, ...]:
    """The moves of a whole random game."""
    return tuple(move for _, move in steps(game(name), random.Random(seed)))


def steps(of: Game, dice: random.Random):
    """Each position of a random game but the last, with the move played in it."""
    position = of.start()
    for _ in range(MOST_PLIES):
        if of.over(position):
            return
        move = dice.choice(of.legal(position))
        yield position, move
        position = of.play(position, move)
    raise AssertionError(f"{of} is not over after {MOST_PLIES} plies: {of.text(position)}")


@cache
def random_positions(name: str, seed: int) -> tuple[Position, ...]:
    """All positions of that game, the start and the end included."""
    of = game(name)
    positions = [of.start()]
    for move in random_moves(name, seed):
        positions.append(of.play(positions[-1], move))
    return tuple(positions)


def positions_of(name: str) -> list[Position]:
    """All positions of a few random games."""
    return [position for seed in SEEDS for position in random_positions(name, seed)]


def one_line(error: pytest.ExceptionInfo) -> str:
    """The message, which is in one line."""
    message = str(error.value)
    assert len(message.splitlines()) == 1
    return message


# ---------------------------------------------------------------------- games


@every_game
def test_a_game_is_one_object(name):
    of = game(name)
    assert (of.name, str(of)) == (name, name)
    assert game(of.name) is of
    assert pickle.loads(pickle.dumps(of)) is of


def test_every_name_has_a_default_size():
    assert all(game(name).name.startswith(f"{name}(") for name in NAMES)


@every_game
def test_moves_and_slots_translate_both_ways(name):
    of = game(name)
    assert of.pass_move in (None, len(of.slots))
    moves = [*range(len(of.slots)), *([] if of.pass_move is None else [of.pass_move])]
    slots = [of.slots_of(move) for move in moves]
    assert slots == [*of.slots, PASS][: len(moves)]
    assert all(type(slot) is int for slot in slots)
    assert [of.moves_of(slot) for slot in slots] == moves
    pair = np.array([moves, moves[::-1]], np.int16)
    assert of.slots_of(pair).tolist() == [slots, slots[::-1]]
    assert of.moves_of(of.slots_of(pair)).tolist() == pair.tolist()
    assert of.slots_of(()).tolist() == of.moves_of([]).tolist() == []


def test_families_differ_in_state_and_name():
    families = {game(name).family for name in EVERY}
    # Numba's fast dispatch compares named tuples by class name only.
    assert len({family.State.__name__ for family in families}) == len(families)
    # The disk cache distinguishes specialised kernels by the family's name only.
    assert len({family.FAMILY for family in families}) == len(families)


# ------------------------------------------------------------------- positions


@every_game
def test_the_first_player_begins_and_can_move(name):
    of = game(name)
    start = of.start()
    assert start == of.start()
    assert of.mover(start) == 0
    assert of.legal(start)
    assert not of.over(start)


@every_game
def test_legal_moves_are_ascending_plain_integers_until_the_game_is_over(name):
    of = game(name)
    for position in positions_of(name):
        legal = of.legal(position)
        assert isinstance(legal, tuple)
        assert all(type(move) is int for move in legal)
        assert list(legal) == sorted(set(legal))
        assert (not legal) == of.over(position)
        assert type(of.mover(position)) is int
        assert type(of.over(position)) is bool


@every_game
def test_a_pass_is_the_only_move_where_it_is_legal(name):
    of = game(name)
    if of.pass_move is None:
        assert None not in {move for position in positions_of(name) for move in of.legal(position)}
    else:
        passes = [of.legal(p) for p in positions_of(name) if of.pass_move in of.legal(p)]
        assert all(legal == (of.pass_move,) for legal in passes)


@every_game
def test_random_games_end(name):
    of = game(name)
    for seed in SEEDS:
        *before, last = random_positions(name, seed)
        assert of.over(last)
        assert not any(map(of.over, before))


@every_game
def test_play_does_not_change_the_position(name):
    of = game(name)
    for seed in SEEDS:
        positions = random_positions(name, seed)
        for move, (before, after) in zip(
            random_moves(name, seed), pairwise(positions), strict=True
        ):
            text, key = of.text(before), hash(before)
            assert of.play(before, move) == after != before
            assert (of.text(before), hash(before)) == (text, key)


@every_game
def test_positions_are_values(name):
    of, positions = game(name), positions_of(name)
    copies = pickle.loads(pickle.dumps(positions))
    assert copies == positions
    assert list(map(hash, copies)) == list(map(hash, positions))
    assert set(copies) == set(positions)
    for seed in SEEDS:
        plain = [of.plain(position) for position in random_positions(name, seed)]
        assert plain == pickle.loads(pickle.dumps(plain))
        assert all(before != after for before, after in pairwise(plain))
        assert "uint64" not in repr(plain)
    for position, move in steps(of, random.Random(9)):
        assert of.play(pickle.loads(pickle.dumps(position)), move) == of.play(position, move)


@every_game
def test_threads_do_not_disturb_each_other(name):
    of = game(name)
    positions = random_positions(name, 0)
    # The results of the pair must differ to reveal a mix-up.
    pair = positions[0], next(p for p in positions if of.legal(p) != of.legal(positions[0]))
    wrong: list[Position] = []

    def ask(position: Position) -> None:
        expected = of.legal(position)
        calls = 20 if INTERPRETED else 3000
        wrong.extend(position for _ in range(calls) if of.legal(position) != expected)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    threads = [threading.Thread(target=ask, args=(position,)) for position in pair]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(before)
    assert not wrong


# ---------------------------------------------------- masks and keys in kernels


def from_the_front(ctx, s, slots):
    """Write the legal slots by `lowest` and `rest`; return their number."""
    mask, found = moves(ctx, s), 0
    while not none(mask):
        slots[found] = np.int64(lowest(mask))
        mask = rest(mask)
        found += 1
    return found


def from_the_back(ctx, s, slots):
    """Write the legal slots by `highest` and `except_highest`; return their number."""
    mask, found = moves(ctx, s), 0
    while not none(mask):
        slots[found] = np.int64(highest(mask))
        mask = except_highest(mask)
        found += 1
    return found


def from_anywhere(ctx, s, slots):
    """Write the legal slots by `nth`; return their number."""
    mask = moves(ctx, s)
    for n in range(count(mask)):
        slots[n] = np.int64(nth(mask, np.uint64(n)))
    return count(mask)


def counted_moves(ctx, s):
    """Return the numbers of moves and plies."""
    mask = moves(ctx, s)
    return count(mask), count(plies(mask))


def key_of(s):
    """The hash of a state."""
    return key(s)


TEMPLATES = (from_the_front, from_the_back, from_anywhere, counted_moves, key_of)


@cache
def small_kernels(family: ModuleType) -> SimpleNamespace:
    """The templates above, bound to a family."""
    names = {name: getattr(family, name) for name in FAMILY_NAMES}
    return specialise(family.FAMILY, TEMPLATES, **names)


# The largest boards too, where a mask fills all of its words.
@pytest.mark.parametrize("name", [*slow_if_unusual(EVERY), *one_of_each("pack", "(16)")])
def test_a_mask_gives_the_moves_in_order_from_both_ends(name):
    of = game(name)
    kernels_of = small_kernels(of.family)
    slots = np.empty(len(of.slots), np.int64)
    for position in random_positions(name, 0):
        legal = [move for move in of.legal(position) if move != of.pass_move]
        for take in (kernels_of.from_the_front, kernels_of.from_anywhere, kernels_of.from_the_back):
            found = take(of.context, position.state, slots)
            taken = of.moves_of(slots[: int(found)]).tolist()
            assert taken == (legal[::-1] if take is kernels_of.from_the_back else legal)
        swaps = legal.count(of.swap_move)
        counts = kernels_of.counted_moves(of.context, position.state)
        assert tuple(map(int, counts)) == (len(legal), len(legal) - swaps)


@every_game
def test_keys_differ_and_are_never_zero(name):
    of = game(name)
    key_of = small_kernels(of.family).key_of
    states = {position.state for position in positions_of(name)}
    keys = {int(key_of(state)) for state in states}
    assert 0 not in keys
    assert len(keys) == len(states)
    assert keys == {int(key_of(pickle.loads(pickle.dumps(state)))) for state in states}


# ---------------------------------------------------------------------- scores


@every_game
def test_the_margin_is_the_first_score_minus_the_second(name):
    of = game(name)
    for position in positions_of(name):
        first, second = of.score(position)
        assert of.margin(position) == first - second
        assert all(type(points) is int for points in (first, second, *of.raw_score(position)))
        if not of.over(position):
            assert of.score(position) == of.raw_score(position)


@every_game
def test_kernels_score_a_finished_game_as_it_is_reported(name):
    of = game(name)
    for seed in SEEDS:
        last = random_positions(name, seed)[-1]
        margin = int(family_drivers(of.family_name).margin(of.context, last.state))
        assert of.margin(last) == (margin if of.mover(last) == 0 else -margin)


# ------------------------------------------------------------- words and boards


@every_game
def test_a_position_in_words_is_read_back(name):
    of = game(name)
    for position in positions_of(name):
        text = of.text(position)
        assert len(text.splitlines()) == 1
        assert of.parse(text) == position
        assert of.parse(f"  {text} \n") == position


@every_game
def test_every_legal_move_has_a_text_of_its_own_that_is_read_back(name):
    of = game(name)
    for position in positions_of(name):
        legal = of.legal(position)
        texts = [of.move_text(position, move) for move in legal]
        assert len(set(texts)) == len(texts)
        assert all(re.fullmatch(r"\S+", text) for text in texts)
        assert tuple(of.parse_move(position, text) for text in texts) == legal
        if legal:
            assert of.parse_move(position, f" {texts[-1].upper()} ") == legal[-1]


@every_game
def test_a_written_game_is_read_back_from_the_start_or_from_the_middle(name):
    of = game(name)
    for seed in SEEDS:
        moves, positions = random_moves(name, seed), list(random_positions(name, seed))
        assert of.replay(of.write(moves)) == positions
        middle = len(moves) // 2
        text = of.write(moves[middle:], positions[middle])
        assert of.replay(text, positions[middle]) == positions[middle:]
        assert of.replay(text.replace(" ", ",\n"), positions[middle]) == positions[middle:]


@every_game
def test_the_board_shows_all_that_the_words_tell(name):
    of = game(name)
    for position in positions_of(name):
        drawn = of.draw(position)
        shown = Counter(re.findall(r"\d+", drawn))
        assert shown >= Counter(re.findall(r"\d+", of.text(position)))
        assert shown >= Counter(map(str, of.raw_score(position)))
        assert len(drawn.splitlines()) > 1
        assert all(line == line.rstrip() for line in drawn.splitlines())


@every_game
def test_the_board_names_the_players_when_they_are_given(name):
    of = game(name)
    drawn = of.draw(of.start(), ("Ada", "Bo"))
    assert "Ada" in drawn
    assert "Bo" in drawn


# ---------------------------------------------------------------- what is wrong


@every_game
def test_an_illegal_move_is_answered_with_the_legal_ones(name):
    of = game(name)
    for position in random_positions(name, 0)[:-1]:
        legal = of.legal(position)
        texts = " ".join(of.move_text(position, move) for move in legal)
        for wrong in {-1, max(legal) + 1, 10**6} - set(legal):
            with pytest.raises(IllegalMove) as refused:
                of.play(position, wrong)
            message = one_line(refused)
            assert name in message
            assert str(wrong) in message
            assert texts in message
            assert ", ".join(map(str, legal)) in message


@every_game
def test_no_move_is_legal_after_the_end(name):
    of = game(name)
    last = random_positions(name, 0)[-1]
    for move in (0, of.pass_move, of.swap_move):
        with pytest.raises(IllegalMove, match="over"):
            of.play(last, move)
    with pytest.raises(IllegalMove, match="over"):
        of.parse_move(last, of.move_text(of.start(), of.legal(of.start())[0]))


@every_game
def test_a_text_that_is_no_move_is_answered_with_the_legal_ones(name):
    of = game(name)
    start = of.start()
    legal = " ".join(of.move_text(start, move) for move in of.legal(start))
    for text in NONSENSE:
        with pytest.raises(IllegalMove) as refused:
            of.parse_move(start, text)
        assert legal in one_line(refused)


@every_game
def test_a_bad_move_of_a_written_game_is_placed(name):
    of = game(name)
    moves, positions = random_moves(name, 0), random_positions(name, 0)
    middle = len(moves) // 2
    legal = tuple(of.move_text(positions[middle], move) for move in of.legal(positions[middle]))
    with pytest.raises(MoveError) as refused:
        of.replay(f"{of.write(moves[:middle])} z99 {of.write(moves[middle:], positions[middle])}")
    assert (refused.value.ply, refused.value.move) == (middle + 1, "z99")
    assert refused.value.legal == legal
    message = one_line(refused)
    assert f"ply {middle + 1}" in message
    assert " ".join(legal) in message


@every_game
def test_a_move_after_the_end_is_refused(name):
    of = game(name)
    moves = random_moves(name, 0)
    first = of.write(moves[:1])
    with pytest.raises(MoveError, match="the game is over") as refused:
        of.replay(f"{of.write(moves)} {first}")
    assert (refused.value.ply, refused.value.legal) == (len(moves) + 1, ())


# ------------------------------------------------------------------- counting


def counted(of: Game, position: Position, depth: int) -> tuple[int, int]:
    """Sequences of exactly `depth` plies and games that ended before, move by move."""
    if depth == 0:
        return 1, 0
    if of.over(position):
        return 0, 1
    plies = [move for move in of.legal(position) if move != of.swap_move]
    below = [counted(of, of.play(position, move), depth - 1) for move in plies]
    return sum(leaves for leaves, _ in below), sum(ended for _, ended in below)


@every_game
def test_perft_counts_what_can_be_played(name):
    of = game(name)
    for seed in SEEDS:
        # Near the end, where games stop and movers pass.
        for back in (3, 6):
            position = random_positions(name, seed)[-back:][0]
            expected = [counted(of, position, depth) for depth in (1, 2, 3)]
            assert perft(of, position, 3) == expected


@every_game
def test_random_games_do_not_depend_on_how_they_are_batched(name):
    of = game(name)
    games = 6 if INTERPRETED else 60
    whole = play_random_games(of, games, seed=5)
    cuts = [0, 1, games // 2, games // 2, games]
    parts = [
        play_random_games(of, last - first, seed=5, first=first) for first, last in pairwise(cuts)
    ]
    assert tuple(map(sum, zip(*parts, strict=True))) == whole
    assert whole.wins + whole.draws + whole.losses == games


@every_game
def test_random_games_are_those_of_the_naive_twin(name):
    of = game(name)
    numbers = range(3, 5 if INTERPRETED else 9)
    for start in random_positions(name, 1)[:2]:
        ours = play_random_games(of, len(numbers), seed=11, first=3, start=start)
        assert ours == PlayoutCounts(*playouts.tally(of, start, numbers, seed=11))
