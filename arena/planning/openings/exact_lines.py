"""Random openings chosen by their exact value: from a file that ships, or solved on the spot."""

from collections.abc import Callable, Iterator, Mapping
from importlib import resources

from arena.planning.openings.openings import (
    Openings,
    OpeningsError,
    from_lines,
    moves_of,
    position_after,
)
from arena.planning.openings.random import random_openings
from arena.planning.openings_spec import OpeningsSpec
from arena.planning.seeds import hash64
from games import Game
from games.base.schema import Fault, Key
from games.solving import solver_of
from games.solving.solution import most_solved, still_open, what_is_open

RANDOM_PLIES = Key("random_plies", "int", "the number of random moves", 6, low=1, high=60)
MORE = "more random_plies"
ValueTest = Callable[[int], bool]  # of the margin of side 0
Line = tuple[int, ...]

# Solved openings that ship: game and plies -> the file, made by tools/make_openings.py.
SHIPPED: Mapping[tuple[str, int], str] = {("kalah(6,4)", 6): "kalah_6_4_plies_6.csv"}
MARGIN_SHIPPED = 2  # of side 0, the largest in those files
SOLVED_AT_ONCE = 0.6  # of what can be solved at all: a second an opening at most
PORTION = 64


def solvable_problems(of: Game | None, spec: OpeningsSpec, margin: int | None) -> Iterator[Fault]:
    """Openings that no file has and that are too hard to solve one by one.

    `margin` is the largest that is asked for, None if there is none.
    """
    if of is None:
        return
    plies, key = spec.values["random_plies"], "random_plies"
    there = (of.name, plies) in SHIPPED
    if there and margin is not None and margin <= MARGIN_SHIPPED:
        return
    left = still_open(of, of.start())
    if left is not None and left - plies > SOLVED_AT_ONCE * most_solved(of):
        solved = " and ".join(f"{name} with {key} = {n}" for name, n in SHIPPED)
        message = (
            f"openings of {of.name} are too hard to solve with {left} {what_is_open(of)} at the "
            f"start; solved ones with a margin of {MARGIN_SHIPPED} at most are there for {solved}"
        )
        yield (), message


def openings_by_value(
    of: Game, spec: OpeningsSpec, pairs: int, seed: int, wanted: ValueTest, margin: int | None
) -> Openings:
    """Enough openings for so many pairs, or all that are known, in an order of the seed's."""
    plies = spec.values["random_plies"]
    stored = SHIPPED.get((of.name, plies))
    if stored is not None and margin is not None and margin <= MARGIN_SHIPPED:
        lines = [line for line, value in load_shipped_openings(of, stored) if wanted(value)]
        lines.sort(key=lambda line: int(hash64("exact", seed, *line)))
        return from_lines(of, lines, finite=False)
    found: list[Line] = []
    for line in solved(of, plies, seed, wanted):
        found.append(line)
        if len(found) == pairs:
            break
    return from_lines(of, found, finite=False)


def load_shipped_openings(of: Game, name: str) -> list[tuple[Line, int]]:
    """The openings of a file, with the margin of side 0."""
    text = (resources.files(__package__) / "solved" / name).read_text()
    rows = [row.split(",") for row in text.splitlines()[1:]]
    return [(parse_moves(of, moves), int(value)) for moves, value in rows]


def parse_moves(of: Game, text: str) -> Line:
    """The move numbers of a written line."""
    words, position, line = of.notation.split(text), of.start(), []
    for word in words:
        move = of.notation.parse_move(position, word)
        if move is None:
            raise OpeningsError(f"{of.name}: {text} is no line of a shipped file")
        line.append(move)
        position = of.play(position, move)
    return tuple(line)


def solved(of: Game, plies: int, seed: int, wanted: ValueTest) -> Iterator[Line]:
    """Random openings in the order in which they are drawn, those whose value is wanted."""
    solver, done, asked = solver_of(of), 0, PORTION
    while True:
        drawn = random_openings(of, plies, asked, seed, None)
        if len(drawn) == done:
            return
        for slots in drawn.slots[done:]:
            line = tuple(moves_of(of, slots))
            position = position_after(of, line)
            margin = solver.margin(position).low
            if wanted(margin if position.mover == 0 else -margin):
                yield line
        done, asked = len(drawn), 2 * asked
