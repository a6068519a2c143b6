"""Random openings by their result or margin under perfect play."""

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
from arena.planning.plan import OpeningsSpec
from arena.planning.seeds import hash64
from games import Game
from games.base.schema import Fault, Key, KeyValues
from games.base.text import did_you_mean, format_value
from games.solving import solver_of
from games.solving.solution import most_solved, still_open, what_is_open
from games.solving.solver import WORDS, sign

__all__ = ["EXAMPLES", "KEYS", "MORE", "WORD", "count", "faults", "openings"]

RANDOM_PLIES = Key("random_plies", "int", "after so many random moves", 6, low=1, high=60)
MORE = "more random_plies"
ValueTest = Callable[[int], bool]  # of the margin of side 0
Line = tuple[int, ...]

# Solved openings that ship: game and plies -> the file, made by tools/make_openings.py.
SHIPPED: Mapping[tuple[str, int], str] = {("kalah(6,4)", 6): "kalah_6_4_plies_6.csv"}
MARGIN_SHIPPED = 2  # of side 0, the largest in those files
SOLVED_AT_ONCE = 0.6  # of what can be solved at all: a second an opening at most
PORTION = 64


KEYS = (
    Key(
        "exact",
        "any",
        "random openings with this result for side 0 under perfect play, or with a margin of so "
        "much at most",
    ),
    RANDOM_PLIES,
)
WORD = False
EXAMPLES = ('{ exact = "draw" }', "{ exact = 2 }")
RESULTS = ("draw", "win", "loss")
MOST_MARGIN = 100


def count(_: KeyValues) -> int | None:
    """Return None: the number is known only after solving."""
    return None


def faults(spec: OpeningsSpec, of: Game | None) -> Iterator[Fault]:
    """A value that is no result or margin; openings that cannot be solved."""
    written = spec.values["exact"]
    if written in RESULTS or is_margin(written):
        yield from solvable_problems(of, spec, largest_margin(spec))
        return
    near = did_you_mean(written, RESULTS) if isinstance(written, str) else ""
    allowed = f'"draw", "win", "loss" or a whole number from 0 to {MOST_MARGIN}'
    yield ("exact",), f"exact must be {allowed}, got {format_value(written)}{near}"


def is_margin(written: object) -> bool:
    """Return whether a margin is written, not a result."""
    return type(written) is int and 0 <= written <= MOST_MARGIN


def openings(of: Game, spec: OpeningsSpec, pairs: int, seed: int) -> Openings:
    """Return openings for these pairs, or all that are known."""
    written, most = spec.values["exact"], largest_margin(spec)

    def wanted(value: int) -> bool:
        return bool(WORDS[sign(value)] == written if written in RESULTS else abs(value) <= written)

    return openings_by_value(of, spec, pairs, seed, wanted, most)


def largest_margin(spec: OpeningsSpec) -> int | None:
    """Return the largest margin that the file allows; None without a limit."""
    written: int | str = spec.values["exact"]
    if isinstance(written, int):
        return written
    return 0 if written == "draw" else None


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
