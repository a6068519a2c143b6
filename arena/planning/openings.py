"""Openings: none, random plies, enumeration or a list; distinct, fixed before the first game."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents import AgentSpec, build
from agents.compiled import decided
from arena.planning.openings_spec import OpeningsSpec
from arena.planning.pairing_seeds import digest_word
from games import Game, MoveError, Position
from games.core import kernels
from games.terminal import Mistake

NO_MOVE = -3  # fills the rows of openings that are shorter than others
MOST_LISTED = 2_000_000
FEWEST_DRAWS = 1024
MOST_DRAWS = 1 << 20  # at once
FRUITLESS_DRAWS = 60_000  # more in a row without a new position: nearly all are found
MOST_COUNTED = 50_000  # if there are not more, the last of them are found by enumeration
BALANCE_DEPTH = 6


class OpeningsError(Mistake, ValueError):
    """The openings cannot be had as asked; one line with the numbers and the ways out."""


@dataclass(frozen=True, slots=True, eq=False)
class Openings:
    """Opening moves as kernel slots, one row each, with a key of the position each leads to."""

    slots: NDArray[np.int16]
    keys: NDArray[np.uint64]
    finite: bool  # whether these are all there are, so that playing them all is a census

    def __len__(self) -> int:
        """The number of openings."""
        return len(self.keys)


def make_openings(of: Game, wanted: OpeningsSpec, pairs: int, seed: int) -> Openings:
    """At least `pairs` openings if there are so many; an OpeningsError says how many there are."""
    if wanted.kind == "random":
        found = random_openings(of, wanted.plies, pairs, seed, wanted.balance)
    elif wanted.kind == "none":
        found = from_lines(of, [()], finite=True)
    else:
        lines = (
            enumerated(of, wanted.plies) if wanted.kind == "enumerate" else read(of, wanted.lines)
        )
        found = from_lines(of, lines, finite=True)
        if wanted.balance is not None:
            found = kept(found, balanced(of, found, wanted.balance), all_there_are=True)
    if len(found) == 0:
        raise OpeningsError(f"no opening is left to play: {ways_out(wanted)}")
    if len(found) < pairs and not wanted.repeat:
        raise OpeningsError(
            f"pairs must be at most {len(found)}, the distinct openings of {of.name} with "
            f"{described(wanted)}, got {pairs}; {ways_out(wanted)}"
        )
    return first_openings(found, pairs)


def described(wanted: OpeningsSpec) -> str:
    """The openings in the words of the experiment file."""
    words = {
        "random": f"random_plies = {wanted.plies}",
        "enumerate": f"enumerate = {wanted.plies}",
        "none": "none",
        "list": "list",
    }
    balance = "" if wanted.balance is None else f", balance = {wanted.balance:g}"
    return words[wanted.kind] + balance


def ways_out(wanted: OpeningsSpec) -> str:
    """What a user can do about too few openings."""
    more = {
        "random": "more random_plies",
        "enumerate": "a larger enumerate",
        "none": "openings = { random_plies = 6 }",
        "list": "a longer list",
    }
    balance = "" if wanted.balance is None else ", a wider balance"
    return (
        f"ask for fewer pairs, {more[wanted.kind]}{balance}, or say repeat = true "
        "if an agent varies its play"
    )


def kept(openings: Openings, which: NDArray[np.bool_], all_there_are: bool) -> Openings:
    """The openings marked in `which`; a sample of a finite set is no longer all there are."""
    if which.all():
        return openings
    finite = openings.finite and all_there_are
    return Openings(openings.slots[which], openings.keys[which], finite)


def first_openings(openings: Openings, number: int) -> Openings:
    """As many openings as there may be, from the first on."""
    return kept(openings, np.arange(len(openings)) < number, all_there_are=False)


def drawn(of: Game, plies: int, seed: int, first: int, lines: int) -> Openings:
    """Random lines `first`, `first` + 1, ... of the seed; the key is 0 where the game ended."""
    slots, keys = np.empty((lines, plies), np.int16), np.empty(lines, np.uint64)
    word = digest_word("openings", seed, of.name, plies)
    kernels(of.family_name).random_lines(of.context, of.start().state, first, word, slots, keys)
    return Openings(slots, keys, False)


def random_openings(of: Game, plies: int, pairs: int, seed: int, balance: float | None) -> Openings:
    """`pairs` distinct positions in the order in which uniformly random play reaches them.

    The first of many are those that fewer would be. If there are not so many, all are found.
    """
    found, at, fruitless = drawn(of, plies, seed, 0, 0), 0, 0
    while True:
        lines = min(max(2 * pairs - len(found), len(found), FEWEST_DRAWS), MOST_DRAWS)
        found, fruitless = with_new(found, drawn(of, plies, seed, at, lines), fruitless)
        at += lines
        exhausted = fruitless > FRUITLESS_DRAWS
        if len(found) < pairs and not exhausted:
            continue
        chosen = completed(of, found, plies) if exhausted else found
        if balance is not None:
            enough = None if exhausted else pairs
            chosen = kept(chosen, balanced(of, chosen, balance, enough), all_there_are=True)
        if exhausted or len(chosen) >= pairs:
            return first_openings(chosen, pairs)


def with_new(found: Openings, more: Openings, fruitless: int) -> tuple[Openings, int]:
    """Openings and those of `more` that are new, up to where FRUITLESS_DRAWS in a row are not.

    Also how many draws in a row were fruitless at last; `fruitless` were so before.
    """
    keys = np.concatenate([found.keys, more.keys])
    distinct, places = np.unique(keys, return_index=True)
    fresh = np.sort(places[(distinct != 0) & (places >= len(found))]) - len(found)
    between = np.diff(fresh, prepend=-1 - fruitless, append=len(more)) - 1
    long = np.flatnonzero(between > FRUITLESS_DRAWS)
    if len(long):
        fresh = fresh[: long[0]]
    slots = np.concatenate([found.slots, more.slots[fresh]])
    keys = np.concatenate([found.keys, more.keys[fresh]])
    return Openings(slots, keys, False), int(between[long[0]] if len(long) else between[-1])


def completed(of: Game, openings: Openings, plies: int) -> Openings:
    """The openings, and behind them those so unlikely that they were never drawn."""
    if len(openings) > MOST_COUNTED:
        return openings
    lines = enumerated(of, plies)
    if len(lines) > len(openings):
        reached = {position_after(of, moves_of(of, slots)) for slots in openings.slots}
        missing = [line for line in lines if position_after(of, line) not in reached]
        rest = from_lines(of, missing, finite=True)
        slots = np.concatenate([openings.slots, rest.slots])
        openings = Openings(slots, np.concatenate([openings.keys, rest.keys]), finite=True)
    return Openings(openings.slots, openings.keys, finite=True)


def position_after(of: Game, moves: Sequence[int]) -> Position:
    """The position that moves from the start lead to."""
    position = of.start()
    for move in moves:
        position = of.play(position, move)
    return position


def enumerated(of: Game, plies: int) -> list[tuple[int, ...]]:
    """All positions after exactly `plies` moves, once each, by the first line that leads there."""
    level: dict[Position, tuple[int, ...]] = {of.start(): ()}
    for _ in range(plies):
        following: dict[Position, tuple[int, ...]] = {}
        for position, line in level.items():
            for move in of.legal(position):
                following.setdefault(of.play(position, move), (*line, move))
        level = following
        if len(level) > MOST_LISTED:
            raise OpeningsError(
                f"enumerate = {plies} gives more than {MOST_LISTED} openings; take fewer plies"
            )
    return [line for position, line in level.items() if not of.over(position)]


def read(of: Game, texts: tuple[str, ...]) -> list[tuple[int, ...]]:
    """Lines as players write them; an illegal one is answered with its place and ply."""
    lines: dict[Position, tuple[int, ...]] = {}
    for place, text in enumerate(texts, 1):
        try:
            positions = of.replay(text)
        except MoveError as error:
            raise OpeningsError(f"openings.list, line {place}: {error}") from None
        if of.over(positions[-1]):
            raise OpeningsError(f'openings.list, line {place}: "{text}" is a finished game')
        words = of.notation.split(text)
        moves = [of.parse_move(p, word) for p, word in zip(positions, words, strict=False)]
        lines.setdefault(positions[-1], tuple(moves))
    return list(lines.values())


def from_lines(of: Game, lines: list[tuple[int, ...]], finite: bool) -> Openings:
    """Openings from move numbers."""
    slots = np.full((len(lines), max(map(len, lines), default=0)), NO_MOVE, np.int16)
    keys = np.empty(len(lines), np.uint64)
    for row, line in enumerate(lines):
        slots[row, : len(line)] = of.slots_of(line)
        keys[row] = digest_word(of.name, *line)
    return Openings(slots, keys, finite)


def moves_of(of: Game, slots: NDArray[np.int16]) -> list[int]:
    """The move numbers of one opening."""
    moves: list[int] = of.moves_of(slots[slots != NO_MOVE]).tolist()
    return moves


def balanced(
    of: Game, openings: Openings, most: float, wanted: int | None = None
) -> NDArray[np.bool_]:
    """Which openings a shallow search values within `most` for either side; `wanted` are enough."""
    agent = build(AgentSpec("alphabeta", depth=BALANCE_DEPTH), of)
    good = np.zeros(len(openings), bool)
    found = 0
    for row, slots in enumerate(openings.slots):
        agent.start(0)
        value = decided(agent, position_after(of, moves_of(of, slots))).value
        good[row] = value is not None and abs(value) <= most
        found += int(good[row])
        if found == wanted:
            break
    return good
