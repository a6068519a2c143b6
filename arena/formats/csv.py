"""CSV: games with a header or as first,second,result lines, and tables."""

import csv
import io
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from arena.formats.records import (
    UNKNOWN,
    ExternalGame,
    FormatError,
    GameRecord,
    NamedAgent,
    TextTable,
    fault_side,
    fen_side,
    first_mover_side,
    game_name,
    hash_moves,
    make_agents,
    pair_key,
    parse_number,
    parse_score,
    read_text,
)
from games.base.text import join_names

# Headers in other programs' files. The first of white and black moves first, unless a FEN or a
# column of first movers says otherwise.
PLAYER_HEADERS = (
    "first", "second", "white", "black", "player1", "player2", "player 1", "player 2", "p1", "p2",
    "agent1", "agent2", "engine1", "engine2", "bot1", "bot2", "agent", "opponent",
)  # fmt: skip
# The columns that `game_text` writes.
COLUMNS = (
    "number", "game", "run", "pair", "leg", "first", "second", "first_mover", "result",
    "margin", "plies", "termination", "opening_moves", "seed", "first_version", "second_version",
    "stop_rule", "moves",
)  # fmt: skip
SYNONYMS: Mapping[str, Sequence[str]] = {
    **{name: (name,) for name in ("opening_moves", "run", "pair", "seed", "termination",
                                  "first_version", "second_version", "stop_rule")},
    "result": ("result", "score", "outcome", "points"),
    "opening": ("opening", "fen", "eco", "start"),
    "game": ("game", "variant", "ruleset", "rules"),
    "moves": ("moves", "movetext", "transcript"),
    "first_mover": ("first_mover", "first mover"),
}  # fmt: skip
DEFAULT_HEADER = ("first", "second", "result", "opening")
MAX_FIELD_BYTES = 1 << 28
SUFFIX, RAW = ".csv", True


def read_games(file: Path) -> Iterator[ExternalGame]:
    """Return one game a line; raise a FormatError that names the line."""
    default_limit = csv.field_size_limit(MAX_FIELD_BYTES)
    try:
        yield from _games(file)
    except csv.Error as error:
        raise FormatError(f"{file}: is not CSV: {error}") from None
    finally:
        csv.field_size_limit(default_limit)


def _games(file: Path) -> Iterator[ExternalGame]:
    columns: dict[str, int] | None = None
    for number, row in enumerate(csv.reader(io.StringIO(read_text(file), newline="")), 1):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if columns is None:
            columns = _header(f"{file}:{number}", cells)
            if columns is not None:
                continue
            columns = {name: at for at, name in enumerate(DEFAULT_HEADER)}
        yield _game(file, number, cells, columns)


def _header(place: str, cells: Sequence[str]) -> dict[str, int] | None:
    """Return the columns of a header by name; None if the line is a game."""
    names = [cell.lower() for cell in cells]
    result = [at for at, name in enumerate(names) if name in SYNONYMS["result"]]
    agents = [at for at, name in enumerate(names) if name in PLAYER_HEADERS]
    if not result and len(agents) < 2:
        return None
    if len(result) != 1 or len(agents) != 2:
        got = join_names([repr(cell) for cell in cells[:20]])
        raise FormatError(
            f"{place}: a header names two players and one result, as in first,second,result, "
            f"got {got}"
        )
    columns = {"first": agents[0], "second": agents[1], "result": result[0]}
    for column, known in SYNONYMS.items():
        if at := [at for at, name in enumerate(names) if name in known]:
            columns[column] = at[0]
    if "white" in names:
        columns["white"] = names.index("white")
    return columns


def _game(
    file: Path, number: int, cells: Sequence[str], columns: Mapping[str, int]
) -> ExternalGame:
    place = f"{file}:{number}"
    plain = tuple(columns) == DEFAULT_HEADER
    if len(cells) < 3 or (plain and len(cells) > len(DEFAULT_HEADER)):
        raise FormatError(
            f"{place}: a line is first,second,result[,opening], got {len(cells)} cells"
        )
    cell = {name: cells[at] if at < len(cells) else "" for name, at in columns.items()}
    versions = cell.get("first_version", ""), cell.get("second_version", "")
    first, second = make_agents(cell["first"], cell["second"], place, versions)
    name = cell.get("game", "")
    # A column of numbers counts the games, as in a games.parquet that was saved as CSV.
    game = game_name(name) if name and not name.isdecimal() else UNKNOWN
    opening, start = _opening(file, cell)
    seed, score = parse_number(cell.get("seed", "")), parse_score(cell["result"], place)
    return ExternalGame(
        game, first, second, score, opening,
        hash_moves(cell["moves"].split(), start, seed) if "moves" in cell else None,
        seed=seed,
        pair=pair_key(cell.get("run", ""), cell.get("pair", "")),
        fault=fault_side(cell.get("termination", ""), score),
        first_mover=_first_mover(place, cell, (first, second)),
        has_stop_rule=bool(cell.get("stop_rule")),
    )  # fmt: skip


def _opening(file: Path, cell: Mapping[str, str]) -> tuple[Hashable | None, str]:
    """Return the opening, and the start of the moves if it may not be the usual start."""
    if "opening_moves" in cell:  # the moves of the game include them; none are an opening, too
        return cell["opening_moves"], ""
    opening = cell.get("opening", "")
    if opening.isdecimal():  # a number identifies an opening only within its file
        return (str(file.resolve()), opening), opening
    return opening or None, opening


def _first_mover(
    place: str, cell: Mapping[str, str], agents: tuple[NamedAgent, NamedAgent]
) -> int | None:
    if "first_mover" in cell:
        return first_mover_side(cell["first_mover"], agents, place)
    side = fen_side(cell.get("opening", ""))
    if "white" in cell and side is not None:
        return int((cell["white"] == agents[0].name) != (side == "w"))
    # After the moves of an opening either agent may be to move.
    return None if cell.get("opening_moves") else 0


def _lines(rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


HEAD = _lines([COLUMNS])


def game_text(record: GameRecord) -> str:
    """Return the line of a game, with all columns by which `pitflip rate` recognises it."""
    return _lines([(
        record.number, record.game.name, record.run, record.pair, record.leg, record.first,
        record.second, record.first_mover, record.result, record.margin, record.plies,
        record.ending, record.opening_moves, record.seed, *record.versions, record.stop_rule,
        " ".join(record.moves),
    )])  # fmt: skip


def table_text(table: TextTable) -> str:
    """Return a table; a missing cell is empty."""
    return _lines([table.head, *table.rows])  # csv writes None as an empty cell
