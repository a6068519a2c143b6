"""Random openings by their result or margin under perfect play."""

from collections.abc import Callable, Iterator, Mapping
from importlib import resources

from arena.planning.openings.openings import (
    Openings,
    OpeningsError,
    opening_moves,
    openings_from_lines,
    position_after,
)
from arena.planning.openings.random import random_openings
from arena.planning.openings.registry import OpeningMethod
from arena.planning.plan import OpeningsSpec
from arena.planning.seeds import hash64
from games import Game
from games.base.schema import Key, Problem
from games.base.text import did_you_mean, format_value
from games.solving import solver_of
from games.solving.solution import max_solvable, remaining_units, unit_name
from games.solving.solver import OUTCOMES, sign

ValueTest = Callable[[int], bool]  # of the margin of side 0
Line = tuple[int, ...]

# Solved openings that ship: game and plies -> the file, made by tools/make_openings.py.
SHIPPED: Mapping[tuple[str, int], str] = {("kalah(6,4)", 6): "kalah_6_4_plies_6.csv"}
SHIPPED_MARGIN = 2  # the largest margin of side 0 in those files
# Openings with up to this share of the largest solvable size take at most a second each.
QUICK_SHARE = 0.6
FIRST_PORTION = 64
RESULTS = ("draw", "win", "loss")
MAX_MARGIN = 100


def value_problems(spec: OpeningsSpec, game: Game | None) -> Iterator[Problem]:
    """Yield a value that is no result or margin, and openings that cannot be solved."""
    value = spec.values["exact"]
    if value in RESULTS or (type(value) is int and 0 <= value <= MAX_MARGIN):
        yield from solvable_problems(game, spec, largest_margin(spec))
        return
    allowed = f'"draw", "win", "loss" or a whole number from 0 to {MAX_MARGIN}'
    hint = did_you_mean(value, RESULTS)
    yield ("exact",), f"exact must be {allowed}, got {format_value(value)}{hint}"


def largest_margin(spec: OpeningsSpec) -> int | None:
    """Return the largest margin that the file allows; None without a limit."""
    value: int | str = spec.values["exact"]
    if isinstance(value, int):
        return value
    return 0 if value == "draw" else None


def solvable_problems(
    game: Game | None, spec: OpeningsSpec, margin: int | None
) -> Iterator[Problem]:
    """Yield openings that no file has and that are too hard to solve one by one."""
    if game is None:
        return
    plies, key = spec.values["random_plies"], "random_plies"
    if (game.name, plies) in SHIPPED and margin is not None and margin <= SHIPPED_MARGIN:
        return
    left = remaining_units(game, game.start())
    if left is not None and left - plies > QUICK_SHARE * max_solvable(game):
        solved = " and ".join(f"{name} with {key} = {n}" for name, n in SHIPPED)
        message = (
            f"openings of {game.name} are too hard to solve with {left} {unit_name(game)} at the "
            f"start; solved ones with a margin of {SHIPPED_MARGIN} at most are there for {solved}"
        )
        yield (), message


def exact_openings(game: Game, spec: OpeningsSpec, pairs: int, seed: int) -> Openings:
    """Return openings of the value in the file for these pairs, or all that are known."""
    value, most = spec.values["exact"], largest_margin(spec)

    def has_value(margin: int) -> bool:
        return bool(OUTCOMES[sign(margin)] == value if value in RESULTS else abs(margin) <= value)

    return openings_by_value(game, spec, pairs, seed, has_value, most)


def openings_by_value(
    game: Game, spec: OpeningsSpec, pairs: int, seed: int, has_value: ValueTest, most: int | None
) -> Openings:
    """Return openings whose margins pass the test, in an order that follows from the seed.

    `most` is the largest margin that passes; None if there is no largest one.
    """
    plies = spec.values["random_plies"]
    stored = SHIPPED.get((game.name, plies))
    if stored is not None and most is not None and most <= SHIPPED_MARGIN:
        lines = [line for line, margin in load_shipped_openings(game, stored) if has_value(margin)]
        lines.sort(key=lambda line: int(hash64("exact", seed, *line)))
        return openings_from_lines(game, lines, finite=False)
    found: list[Line] = []
    for line in lines_of_value(game, plies, seed, has_value):
        found.append(line)
        if len(found) == pairs:
            break
    return openings_from_lines(game, found, finite=False)


def load_shipped_openings(game: Game, name: str) -> list[tuple[Line, int]]:
    """Return the openings of a file, with the margin of side 0."""
    text = (resources.files(__package__) / "solved" / name).read_text()
    rows = [row.split(",") for row in text.splitlines()[1:]]
    return [(parse_moves(game, moves), int(margin)) for moves, margin in rows]


def parse_moves(game: Game, text: str) -> Line:
    """Return the move numbers of a line of a shipped file."""
    position, line = game.start(), []
    for word in game.notation.split(text):
        move = game.notation.parse_move(position, word)
        if move is None:
            raise OpeningsError(f"{game.name}: {text} is no line of a shipped file")
        line.append(move)
        position = game.play(position, move)
    return tuple(line)


def lines_of_value(game: Game, plies: int, seed: int, has_value: ValueTest) -> Iterator[Line]:
    """Yield the random openings that pass the test, in the order in which they are drawn."""
    solver, done, number = solver_of(game), 0, FIRST_PORTION
    while True:
        openings = random_openings(game, plies, number, seed, None)
        if len(openings) == done:
            return
        for slots in openings.slots[done:]:
            line = tuple(opening_moves(game, slots))
            position = position_after(game, line)
            margin = solver.margin(position).low
            if has_value(margin if position.mover == 0 else -margin):
                yield line
        done, number = len(openings), 2 * number


EXACT = OpeningMethod(
    keys=(
        Key(
            "exact",
            "any",
            "the result for side 0 under perfect play, or the largest margin of either side",
        ),
        Key("random_plies", "int", "the number of random moves", 6, low=1, high=60),
    ),
    examples=('{ exact = "draw" }', "{ exact = 2 }"),
    more="more random_plies",
    openings=exact_openings,
    problems=value_problems,
)
