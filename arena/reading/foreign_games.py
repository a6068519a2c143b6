"""Games from anywhere, sorted out: none twice, each game and each version of an agent apart."""

import ast
import hashlib
import importlib
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from arena.reading.formats import READERS
from arena.reading.given_game import UNKNOWN, GivenGame, NamedAgent, Unreadable
from arena.reading.row_filter import rows_where
from games.names import did_you_mean, listed

__all__ = ["GivenGame", "GivenGames", "GivenScale", "Unreadable", "read_games"]

RUN, GAMES = "run.json", "games.parquet"
POOLED = "all games together"


class Reader(Protocol):
    """What the module of a format defines."""

    def games_in(self, file: Path) -> Iterator[GivenGame]:
        """The games of a file; Unreadable says which line is wrong."""


@dataclass
class GivenScale:
    """The games that are rated together, as columns; `names` are those of their agents.

    Equal numbers in `openings` are the same opening; `pairings` is None where a game stands
    alone, `places` has the file and the row of a game of ours, `faults` is 1 or -1 where `first`
    or `second` lost by its fault. `movers` has the first movers: 0 `first`, 1 `second`, -1 unknown.
    """

    game: str
    names: list[str] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    second: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    openings: list[int] = field(default_factory=list)
    pairings: list[Hashable | None] = field(default_factory=list)
    faults: list[int] = field(default_factory=list)
    movers: list[int] = field(default_factory=list)
    places: list[tuple[int, int] | None] = field(default_factory=list)
    _places: dict[Hashable, int] = field(default_factory=dict)

    def add(self, game: GivenGame, names: tuple[str, str], file: int) -> None:
        """Append one game of this file."""
        for column, name in zip((self.first, self.second), names, strict=True):
            place = self._places.setdefault(("agent", name), len(self.names))
            if place == len(self.names):
                self.names.append(name)
            column.append(place)
        opening = ("game", len(self.scores)) if game.opening is None else ("of", game.opening)
        self.openings.append(self._places.setdefault(opening, len(self._places)))
        self.scores.append(game.score)
        self.pairings.append(game.pairing)
        self.faults.append(game.fault)
        self.movers.append(-1 if game.mover is None else game.mover)
        self.places.append(None if game.row is None else (file, game.row))


@dataclass(frozen=True)
class GivenGames:
    """All games by scale; `notes` say what was left out, and what was kept apart."""

    scales: list[GivenScale]
    notes: list[str]

    @property
    def games(self) -> int:
        """How many games count."""
        return sum(len(scale.scores) for scale in self.scales)

    @property
    def names(self) -> list[str]:
        """All agents, by their first game."""
        return list(dict.fromkeys(name for scale in self.scales for name in scale.names))


def read_games(
    files: Sequence[Path],
    *,
    pool: bool = False,
    same: Collection[str] = (),
    where: ast.expr | None = None,
) -> GivenGames:
    """The games of files and of run directories; Unreadable says which line of which is wrong.

    `pool` rates different games on one scale, `same` names agents whose versions are one, `where`
    which rows of our own tables count.
    """
    kept, read = _new_games([_file_of(file) for file in files], where)
    if not kept:
        which = "" if where is None else f" with {ast.unparse(where)}"
        raise Unreadable(f"no finished game was found{which}")
    notes = (
        [f"{read:,} games, {read - len(kept):,} of them seen before"] if read > len(kept) else []
    )
    games = [game for _, game in kept]
    names, only = _names(games, same, notes), _only_game(games, notes)
    scales: dict[str, GivenScale] = {}
    for file, game in kept:
        what = POOLED if pool else only or game.game
        scale = scales.setdefault(what, GivenScale(what))
        scale.add(game, (names[game.first], names[game.second]), file)
    if len(scales) > 1:
        notes.append(f"rated apart, as different games: {listed(scales)}; --pool: on one scale")
    unmoved = sum(game.mover is None for game in games)
    if unmoved:
        notes.append(
            f"the first mover of {unmoved:,} games is unknown: a first_mover column or a "
            "FirstMover tag names the agent to move after the opening"
        )
    unknown = sum(game.opening is None for game in games)
    if unknown:
        notes.append(
            f"the openings of {unknown:,} games are unknown: intervals are too short if they repeat"
        )
    return GivenGames(list(scales.values()), notes)


def _only_game(games: Sequence[GivenGame], notes: list[str]) -> str:
    """The one game that files name, for which the others are taken; empty if there are more."""
    known = {game.game for game in games} - {UNKNOWN}
    unnamed = sum(game.game == UNKNOWN for game in games)
    if len(known) != 1 or not unnamed:
        return ""
    (only,) = known
    notes.append(f"{unnamed:,} games whose file does not name the game are taken for {only}")
    return only


def _file_of(path: Path) -> Path:
    """The file that holds the games; a directory must be a run's."""
    if path.is_dir():
        if (path / GAMES).is_file():
            return path / GAMES
        if not (path / RUN).exists():
            raise Unreadable(f"{path}: a directory without games: it is no run's")
        from arena.keeping.run_directory import NotARun, games_table  # noqa: PLC0415  # loads Numba

        try:
            return games_table(path)
        except NotARun as error:
            raise Unreadable(str(error)) from None
    if not path.is_file():
        told = "it is no file" if path.exists() else "there is no such file"
        raise Unreadable(f"{path}: {told}")
    if path.suffix.lower() not in READERS:
        near = did_you_mean(path.suffix.lower(), READERS)
        raise Unreadable(f"{path}: must end in {listed(READERS)}{near}")
    return path


def _new_games(
    files: Sequence[Path], where: ast.expr | None
) -> tuple[list[tuple[int, GivenGame]], int]:
    """The games that were not seen before, each with its file's place, and how many were read."""
    kept: list[tuple[int, GivenGame]] = []
    seen: set[Hashable] = set()
    read = 0
    for place, file in enumerate(files):
        reader = cast(Reader, importlib.import_module(READERS[file.suffix.lower()]))
        with file.open("rb") as content:
            digest = hashlib.file_digest(content, "blake2b").digest()
        again = digest in seen
        rows = None if where is None else _rows(where, file)
        for game in reader.games_in(file):
            if rows is not None and game.row is not None and not rows[game.row]:
                continue
            read += 1
            if game.key in seen or (game.key is None and again):
                continue
            if game.key is not None:
                seen.add(game.key)
            kept.append((place, game))
        seen.add(digest)
    return kept, read


def _rows(where: ast.expr, file: Path) -> NDArray[np.bool_]:
    """Which rows of a table of ours count."""
    if file.suffix.lower() != ".parquet":
        raise Unreadable(f"{file}: --where asks columns of games.parquet, which it does not have")
    return rows_where(where, file)


def _names(
    games: Sequence[GivenGame], same: Collection[str], notes: list[str]
) -> dict[NamedAgent, str]:
    """The name of every version of an agent: its own, marked where there are several."""
    met = Counter(player for game in games for player in (game.first, game.second))
    versions: dict[str, list[str]] = {}
    for player in met:
        own = versions.setdefault(player.name, [])
        if player.version:
            own.append(player.version)
    for name in same:
        if name not in versions:
            near = did_you_mean(name, versions)
            raise Unreadable(f"--same must name an agent, got {name!r}{near}")
    for name, own in versions.items():
        if len(own) > 1 and name not in same:
            marked = listed(f"{name}@{version}" for version in own)
            notes.append(
                f"{name} is {len(own)} agents, of other options or files: {marked}; "
                f"--same {name}: one agent"
            )
    return {
        player: f"{player.name}@{player.version}"
        if player.version and len(versions[player.name]) > 1 and player.name not in same
        else player.name
        for player in met
    }
