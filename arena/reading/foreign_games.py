"""Results from outside as columns: from our parquet, from CSV, from the tags of PGN."""

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from games.terminal import Mistake

SCORES = {
    "1": 1.0, "1-0": 1.0, "win": 1.0, "w": 1.0,
    "0.5": 0.5, "1/2": 0.5, "1/2-1/2": 0.5, "½": 0.5, "½-½": 0.5, "draw": 0.5, "d": 0.5,
    "0": 0.0, "0-1": 0.0, "loss": 0.0, "l": 0.0,
}  # fmt: skip
UNFINISHED = "*"
TAG = re.compile(r'\[(\w+)\s+"((?:[^"\\]|\\.)*)"\]')
HEADER = ("first", "second", "result")


class Unreadable(Mistake, ValueError):  # noqa: N818  # the glossary's word for a file nobody can read
    """A file without results we understand; one line with its place."""


class Result(NamedTuple):
    """One game: who moved first, its score from 0 to 1, and the opening if it is known."""

    first: str
    second: str
    score: float
    opening: str | None


@dataclass
class GivenGames:
    """All games as columns; a game without a known opening has one of its own."""

    names: list[str] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    second: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    openings: list[str] = field(default_factory=list)
    _places: dict[str, int] = field(default_factory=dict)

    def add(self, game: Result, file: Path) -> None:
        """Append one game."""
        self.first.append(self._place(game.first))
        self.second.append(self._place(game.second))
        self.scores.append(game.score)
        own = f"game {len(self.scores)}"
        self.openings.append(own if game.opening is None else f"{file.parent}: {game.opening}")

    def _place(self, name: str) -> int:
        if name not in self._places:
            self._places[name] = len(self.names)
            self.names.append(name)
        return self._places[name]


def read_games(files: Sequence[Path]) -> GivenGames:
    """The games of all files; Unreadable says which line of which file is wrong."""
    given = GivenGames()
    for file in files:
        for game in _reader(file)(file):
            given.add(game, file)
    if not given.scores:
        raise Unreadable("no finished game was found")
    return given


def _reader(file: Path) -> Callable[[Path], Iterator[Result]]:
    readers: Mapping[str, Callable[[Path], Iterator[Result]]]
    readers = {".parquet": from_parquet, ".csv": from_csv, ".pgn": from_pgn}
    if not file.is_file():
        raise Unreadable(f"{file}: there is no such file")
    if file.suffix.lower() not in readers:
        raise Unreadable(f"{file}: must end in .parquet, .csv or .pgn")
    return readers[file.suffix.lower()]


def from_parquet(file: Path) -> Iterator[Result]:
    """Our games.parquet; repeats of a game are not evidence and are left out."""
    from arena.keeping.parquet import TableError, read_columns  # noqa: PLC0415  # heavy

    try:
        columns = read_columns(file, ("first", "second", "result", "opening", "repeat"))
    except TableError as error:
        raise Unreadable(f"{file}: is not a games.parquet of pitflip: {error}") from None
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    for first, second, result, opening, repeat in rows:
        if not repeat:
            yield Result(first, second, result, str(opening))


def from_csv(file: Path) -> Iterator[Result]:
    """Lines of first,second,result and, if known, opening; a header is optional."""
    with file.open(newline="", encoding="utf-8-sig") as lines:
        for number, row in enumerate(csv.reader(lines), 1):
            cells = [cell.strip() for cell in row]
            if not any(cells) or (number == 1 and tuple(c.lower() for c in cells[:3]) == HEADER):
                continue
            if len(cells) not in (3, 4):
                raise Unreadable(
                    f"{file}:{number}: a line is first,second,result[,opening], got {len(cells)} "
                    f"cells"
                )
            yield _result(f"{file}:{number}", *cells)


def _result(place: str, first: str, second: str, word: str, opening: str = "") -> Result:
    score = SCORES.get(word.lower())
    if score is None:
        known = "1, 1/2, 0, 1-0, 1/2-1/2, 0-1, win, draw or loss"
        raise Unreadable(f"{place}: the first mover's result must be {known}, got {word!r}")
    if not first or not second or first == second:
        raise Unreadable(f"{place}: a game needs two different names, got {first!r} and {second!r}")
    return Result(first, second, score, opening or None)


def from_pgn(file: Path) -> Iterator[Result]:
    """The White, Black and Result tags of each game; unfinished ones are left out."""
    tags: dict[str, str] = {}
    text = file.read_text(encoding="utf-8", errors="replace")
    for number, line in enumerate([*text.splitlines(), '[Event ""]'], 1):
        for name, value in TAG.findall(line):
            # Every game begins with its Event; those without one begin with White again.
            if name in ("Event", "White") and "White" in tags and "Result" in tags:
                yield from _pgn_game(f"{file}:{number}", tags)
                tags = {}
            tags[name] = value
    if "White" in tags and "Result" in tags:
        yield from _pgn_game(str(file), tags)


def _pgn_game(place: str, tags: dict[str, str]) -> Iterator[Result]:
    missing = [name for name in ("White", "Black", "Result") if name not in tags]
    if missing:
        raise Unreadable(f"{place}: the game before this line has no {missing[0]} tag")
    if tags["Result"] != UNFINISHED:
        opening = tags.get("FEN") or tags.get("Opening") or ""
        yield _result(place, tags["White"], tags["Black"], tags["Result"], opening)
