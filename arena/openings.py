"""Openings: none, random plies, enumeration or a list; distinct, fixed before the first game."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents import AgentSpec, build
from arena.seeds import digest_word
from games import Game, MoveError, Position
from games.core import kernels
from games.drivers import PASS

NO_MOVE = -3  # fills the rows of openings that are shorter than others
MOST_LISTED = 2_000_000
DRAWS_AT_ONCE = 4096
FRUITLESS_DRAWS = 60_000  # this many in a row without a new position: all of them are counted
BALANCE_DEPTH = 6


class OpeningsError(ValueError):
    """The openings cannot be had as asked; one line with the numbers and the ways out."""


class Openings(NamedTuple):
    """Opening moves as kernel slots, one row each, with a key of the position each leads to."""

    slots: NDArray[np.int16]
    keys: NDArray[np.uint64]
    finite: bool  # whether these are all there are, so that playing them all is a census

    def __len__(self) -> int:
        """The number of openings."""
        return len(self.keys)


def make_openings(of: Game, wanted: Any, pairs: int, seed: int) -> Openings:
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
    return kept(found, np.arange(len(found)) < pairs, all_there_are=False)


def described(wanted: Any) -> str:
    """The openings in the words of the experiment file."""
    words = {
        "random": f"random_plies = {wanted.plies}",
        "enumerate": f"enumerate = {wanted.plies}",
        "none": "none",
        "list": "list",
    }
    balance = "" if wanted.balance is None else f", balance = {wanted.balance:g}"
    return words[wanted.kind] + balance


def ways_out(wanted: Any) -> str:
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


def draws(of: Game, plies: int, seed: int) -> Iterator[tuple[NDArray[np.int16], Any]]:
    """Random lines and their keys, batch by batch, without end."""
    state, first = of.start().state, 0
    word = digest_word("openings", seed, of.name, plies)
    while True:
        slots = np.empty((DRAWS_AT_ONCE, plies), np.int16)
        keys = np.empty(DRAWS_AT_ONCE, np.uint64)
        kernels(of.family_name).random_lines(of.context, state, first, word, slots, keys)
        yield slots, keys
        first += DRAWS_AT_ONCE


def random_openings(of: Game, plies: int, pairs: int, seed: int, balance: float | None) -> Openings:
    """Distinct positions in the order in which uniformly random play reaches them."""
    seen: dict[int, NDArray[np.int16]] = {}
    fruitless = 0
    known: set[int] = set()
    for slots, keys in draws(of, plies, seed):
        _, places = np.unique(keys, return_index=True)
        before = len(known)
        fresh = [p for p in np.sort(places) if keys[p] != 0 and int(keys[p]) not in known]
        known.update(int(keys[p]) for p in fresh)
        if balance is not None and fresh:
            batch = Openings(slots[fresh], keys[fresh], False)
            fresh = [p for p, good in zip(fresh, balanced(of, batch, balance), strict=True) if good]
        seen |= {int(keys[p]): slots[p] for p in fresh}
        fruitless = 0 if len(known) > before else fruitless + DRAWS_AT_ONCE
        if len(seen) >= pairs or fruitless >= FRUITLESS_DRAWS:
            break
    finite = len(seen) < pairs
    rows = list(seen.values())
    table = np.array(rows, np.int16).reshape(len(rows), plies)
    return Openings(table, np.array(list(seen), np.uint64), finite)


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
        slots[row, : len(line)] = [PASS if m == of.pass_move else of.slots[m] for m in line]
        keys[row] = digest_word(of.name, *line)
    return Openings(slots, keys, finite)


def moves_of(of: Game, slots: NDArray[np.int16]) -> list[int]:
    """The move numbers of one opening."""
    return [
        of.pass_move if slot == PASS and of.pass_move is not None else of.move_of_slot[int(slot)]
        for slot in slots
        if slot != NO_MOVE
    ]


def balanced(of: Game, openings: Openings, most: float) -> NDArray[np.bool_]:
    """Which openings a shallow search values within `most` for either side."""
    agent = build(AgentSpec("alphabeta", depth=BALANCE_DEPTH), of)
    good = np.empty(len(openings), bool)
    for row, slots in enumerate(openings.slots):
        position = of.start()
        for move in moves_of(of, slots):
            position = of.play(position, move)
        agent.start(0)
        value = agent.choose(position).value
        good[row] = value is not None and abs(value) <= most
    return good
