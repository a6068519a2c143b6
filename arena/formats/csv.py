"""Games from CSV: lines of first, second, result, in that order or as a header says."""

import csv
import io
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path

from arena.formats.game_record import (
    UNKNOWN,
    GivenGame,
    NamedAgent,
    Unreadable,
    fault_of,
    fen_side,
    game_name,
    line_of,
    mover_named,
    pairing_of,
    players,
    score_of,
    seed_in,
    text_of,
)
from arena.formats.records import TextTable
from games.base.text import listed

# How programs name the columns. Of white and black the one that stands first moves first, unless
# a FEN or a column of first movers says otherwise.
PLAYER_HEADERS = (
    "first", "second", "white", "black", "player1", "player2", "player 1", "player 2", "p1", "p2",
    "agent1", "agent2", "engine1", "engine2", "bot1", "bot2", "agent", "opponent",
)  # fmt: skip
COLUMNS: Mapping[str, Sequence[str]] = {
    "result": ("result", "score", "outcome", "points"),
    "opening": ("opening", "fen", "eco", "start"),
    "game": ("game", "variant", "ruleset", "rules"),
    "moves": ("moves", "movetext", "transcript"),
    "first_mover": ("first_mover", "first mover"),
    # As we write them (`arena.formats.csv_games`).
    **{
        name: (name,)
        for name in (
            "opening_moves", "run", "pair", "seed", "termination", "first_version",
            "second_version", "stop_rule",
        )
    },
}  # fmt: skip
DEFAULT_HEADER = ("first", "second", "result", "opening")
LONGEST_FIELD = 1 << 28
SUFFIX, RAW = ".csv", True


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
            places = {name: place for place, name in enumerate(DEFAULT_HEADER)}
        yield _game(file, number, cells, places)


def _header(place: str, cells: Sequence[str]) -> dict[str, int] | None:
    """The places of the columns that a header names; None if the line is a game."""
    names = [cell.lower() for cell in cells]
    result = [at for at, name in enumerate(names) if name in COLUMNS["result"]]
    movers = [at for at, name in enumerate(names) if name in PLAYER_HEADERS]
    if not result and len(movers) < 2:
        return None
    if len(result) != 1 or len(movers) != 2:
        got = listed([repr(cell) for cell in cells[:20]])
        raise Unreadable(
            f"{place}: a header names two players and one result, as in first,second,result, "
            f"got {got}"
        )
    found = {"first": movers[0], "second": movers[1], "result": result[0]}
    for column, known in COLUMNS.items():
        at = [at for at, name in enumerate(names) if name in known]
        if at:
            found[column] = at[0]
    if "white" in names:
        found["white"] = names.index("white")
    return found


def _game(file: Path, number: int, cells: Sequence[str], places: Mapping[str, int]) -> GivenGame:
    place = f"{file}:{number}"
    plain = tuple(places) == DEFAULT_HEADER
    if len(cells) < 3 or (plain and len(cells) > len(DEFAULT_HEADER)):
        raise Unreadable(
            f"{place}: a line is first,second,result[,opening], got {len(cells)} cells"
        )
    cell = {name: cells[at] if at < len(cells) else "" for name, at in places.items()}
    versions = cell.get("first_version", ""), cell.get("second_version", "")
    first, second = players(cell["first"], cell["second"], place, versions)
    named = cell.get("game", "")
    # A column of numbers counts the games, as in a games.parquet that was saved as CSV.
    game = game_name(named) if named and not named.isdecimal() else UNKNOWN
    opening, start = _opening(file, cell)
    seed, score = seed_in(cell.get("seed", "")), score_of(cell["result"], place)
    line = line_of(cell["moves"].split(), start, seed) if "moves" in cell else None
    return GivenGame(
        game, first, second, score, opening, line, seed=seed,
        pairing=pairing_of(cell.get("run", ""), cell.get("pair", "")),
        fault=fault_of(cell.get("termination", ""), score),
        mover=_mover(place, cell, (first, second)), stopped=bool(cell.get("stop_rule")),
    )  # fmt: skip


def _opening(file: Path, cell: Mapping[str, str]) -> tuple[Hashable | None, str]:
    """The opening of a game, and the start of its moves if they may not begin at the usual one."""
    if "opening_moves" in cell:  # which its moves include; none are an opening too
        return cell["opening_moves"], ""
    opening = cell.get("opening", "")
    if opening.isdecimal():
        return (str(file.resolve()), opening), opening  # a number means something in its file only
    return opening or None, opening


def _mover(
    place: str, cell: Mapping[str, str], players: tuple[NamedAgent, NamedAgent]
) -> int | None:
    """Return which agent was to move after the opening: `first`, unless a cell says otherwise."""
    if "first_mover" in cell:
        return mover_named(cell["first_mover"], players, place)
    side = fen_side(cell.get("opening", ""))
    if "white" in cell and side is not None:
        return int((cell["white"] == players[0].name) != (side == "w"))
    # After the moves of an opening either agent may be to move.
    return None if cell.get("opening_moves") else 0


def text(each: TextTable) -> str:
    """One table; what is missing is empty."""
    lines = io.StringIO()
    rows = csv.writer(lines, lineterminator="\n")
    rows.writerow(each.head)
    rows.writerows(["" if cell is None else cell for cell in row] for row in each.rows)
    return lines.getvalue()
