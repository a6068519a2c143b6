"""Games from CSV: lines of first, second, result, in that order or as a header says."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from arena.reading.given_game import (
    UNKNOWN,
    GivenGame,
    NamedAgent,
    Unreadable,
    fen_side,
    mover_named,
    players,
    score_of,
    text_of,
)
from games.names import listed

# What programs call the columns. Of white and black the one that stands first moves first, unless
# a FEN or a column of first movers says otherwise.
PLAYERS = (
    "first", "second", "white", "black", "player1", "player2", "player 1", "player 2", "p1", "p2",
    "agent1", "agent2", "engine1", "engine2", "bot1", "bot2", "agent", "opponent",
)  # fmt: skip
COLUMNS: Mapping[str, Sequence[str]] = {
    "result": ("result", "score", "outcome", "points"),
    "opening": ("opening", "opening_moves", "fen", "eco", "start"),
    "game": ("game", "variant", "ruleset", "rules"),
    "moves": ("moves", "movetext", "transcript"),
    "first_mover": ("first_mover", "first mover"),
}
PLAIN = ("first", "second", "result", "opening")
LONGEST_FIELD = 1 << 28


def games_in(file: Path) -> Iterator[GivenGame]:
    """One game a line; Unreadable says which line is wrong."""
    usual = csv.field_size_limit(LONGEST_FIELD)
    try:
        yield from _games(file)
    except csv.Error as error:
        raise Unreadable(f"{file}: is not CSV: {error}") from None
    finally:
        csv.field_size_limit(usual)


def _games(file: Path) -> Iterator[GivenGame]:
    places: dict[str, int] | None = None
    for number, row in enumerate(csv.reader(io.StringIO(text_of(file), newline="")), 1):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if places is None:
            places = _header(f"{file}:{number}", cells)
            if places is not None:
                continue
            places = {name: place for place, name in enumerate(PLAIN)}
        yield _game(file, number, cells, places)


def _header(place: str, cells: Sequence[str]) -> dict[str, int] | None:
    """The places of the columns that a header names; None if the line is a game."""
    names = [cell.lower() for cell in cells]
    result = [at for at, name in enumerate(names) if name in COLUMNS["result"]]
    movers = [at for at, name in enumerate(names) if name in PLAYERS]
    if not result and len(movers) < 2:
        return None
    if len(result) != 1 or len(movers) != 2:
        got = listed([repr(cell) for cell in cells[:20]])
        raise Unreadable(
            f"{place}: a header names two players and one result, as in first,second,result, "
            f"got {got}"
        )
    found = {"first": movers[0], "second": movers[1], "result": result[0]}
    for column in ("opening", "game", "moves", "first_mover"):
        at = [at for at, name in enumerate(names) if name in COLUMNS[column]]
        if at:
            found[column] = at[0]
    for column in ("white", "opening_moves"):
        if column in names:
            found[column] = names.index(column)
    return found


def _game(file: Path, number: int, cells: Sequence[str], places: Mapping[str, int]) -> GivenGame:
    place = f"{file}:{number}"
    plain = tuple(places) == PLAIN
    if len(cells) < 3 or (plain and len(cells) > len(PLAIN)):
        raise Unreadable(
            f"{place}: a line is first,second,result[,opening], got {len(cells)} cells"
        )
    cell = {name: cells[at] if at < len(cells) else "" for name, at in places.items()}
    first, second = players(cell["first"], cell["second"], place)
    game = cell.get("game") or UNKNOWN
    opening: object = cell.get("opening") or None
    if isinstance(opening, str) and opening.isdigit():
        opening = str(file.resolve()), opening  # a number means something in its own file only
    moves = " ".join(cell.get("moves", "").split())
    score = score_of(cell["result"], place)
    key = (game, first, second, cell.get("opening", ""), score, moves) if moves else None
    mover = _mover(place, cell, (first, second))
    return GivenGame(game, first, second, score, opening, key, mover=mover)


def _mover(
    place: str, cell: Mapping[str, str], players: tuple[NamedAgent, NamedAgent]
) -> int | None:
    """Return who was to move after the opening: the one named first, unless a cell speaks of it."""
    if "first_mover" in cell:
        return mover_named(cell["first_mover"], players, place)
    side = fen_side(cell.get("opening", ""))
    if "white" in cell and side is not None:
        return int((cell["white"] == players[0].name) != (side == "w"))
    # After the moves of an opening either may be to move.
    return None if cell.get("opening_moves") else 0
