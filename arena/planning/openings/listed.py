"""Finite sets of openings: the start, all positions after some moves, and written lines."""

from collections.abc import Iterator

from arena.planning.openings.openings import (
    Openings,
    OpeningsError,
    finite_openings,
    openings_from_lines,
)
from arena.planning.openings.registry import OpeningMethod
from arena.planning.plan import OpeningsSpec
from games import Game, MoveError, Position
from games.base.schema import Key, Problem
from games.base.text import quote

MAX_POSITIONS = 2_000_000

NONE = OpeningMethod(
    keys=(),  # together with other keys a file writes `random_plies = 0`
    examples=('"none"',),
    more="openings = { random_plies = 6 }",
    openings=lambda game, *_: openings_from_lines(game, [()], finite=True),
    count=lambda _: 1,
    name_suffices=True,
)


def enumerate_openings(game: Game, spec: OpeningsSpec, _: int, __: int) -> Openings:
    """Return every position after some moves, or all of them that are balanced."""
    lines = enumerate_positions(game, spec.values["enumerate"])
    return finite_openings(game, lines, spec.balance)


def enumerate_positions(game: Game, plies: int) -> list[tuple[int, ...]]:
    """Return all positions after exactly `plies` moves, each by the first line that leads to it."""
    level: dict[Position, tuple[int, ...]] = {game.start(): ()}
    for _ in range(plies):
        following: dict[Position, tuple[int, ...]] = {}
        for position, line in level.items():
            for move in game.legal(position):
                following.setdefault(game.play(position, move), (*line, move))
        level = following
        if len(level) > MAX_POSITIONS:
            raise OpeningsError(
                f"enumerate = {plies} gives more than {MAX_POSITIONS} openings; use fewer plies"
            )
    return [line for position, line in level.items() if not game.over(position)]


ENUMERATE = OpeningMethod(
    keys=(Key("enumerate", "int", "every position after this number of moves", low=1, high=12),),
    examples=("{ enumerate = 2 }",),
    more="a larger enumerate",
    openings=enumerate_openings,
)


def list_problems(spec: OpeningsSpec, game: Game | None) -> Iterator[Problem]:
    """Yield an empty list, text that is not a move, and openings that are listed twice."""
    if not spec.values["list"]:
        yield ("list",), "list must hold at least one opening, got []"
    if game is None:
        return
    seen: dict[tuple[str, ...], int] = {}
    for item, line in enumerate(spec.values["list"]):
        words = game.notation.split(line)
        for word in words:
            if not is_move_text(game, word):
                message = f"opening {item + 1}: {quote(word)} is not a move of {game.name}"
                yield ("list", item), message
        first = seen.setdefault(tuple(words), item)
        if first != item and not spec.repeat:
            message = f"opening {item + 1} is the same as opening {first + 1}"
            yield ("list", item), f"{message}, got {quote(line)} twice"


def is_move_text(game: Game, word: str) -> bool:
    """Return whether the word is a move of either side, legal or not."""
    sides = (Position(None, 0), Position(None, 1))
    return any(game.notation.parse_move(side, word) is not None for side in sides)


def openings_of_list(game: Game, spec: OpeningsSpec, _: int, __: int) -> Openings:
    """Return the listed openings, or those of them that are balanced."""
    return finite_openings(game, parse_lines(game, spec.values["list"]), spec.balance)


def parse_lines(game: Game, texts: tuple[str, ...]) -> list[tuple[int, ...]]:
    """Return the written lines; OpeningsError gives the line and the ply of an illegal move."""
    lines: dict[Position, tuple[int, ...]] = {}
    for place, text in enumerate(texts, 1):
        try:
            positions = game.replay(text)
        except MoveError as error:
            raise OpeningsError(f"openings.list, line {place}: {error}") from None
        if game.over(positions[-1]):
            raise OpeningsError(f'openings.list, line {place}: "{text}" is a finished game')
        words = game.notation.split(text)
        moves = [game.parse_move(p, word) for p, word in zip(positions, words, strict=False)]
        lines.setdefault(positions[-1], tuple(moves))
    return list(lines.values())


LIST = OpeningMethod(
    keys=(Key("list", "texts", "the openings in the notation of the game"),),
    examples=('{ list = ["3 1", "2"] }',),
    more="a longer list",
    openings=openings_of_list,
    problems=list_problems,
    count=lambda values: len(values["list"]),
)
