"""Games from other programs, deduplicated and rated."""

import ast
import hashlib
import importlib
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from arena.analysis.standings import (
    BLOCKS,
    GameTally,
    RatingBasis,
    Standings,
    as_raw_ratings,
    in_official_order,
    official_places,
    ranked_agents,
)
from arena.analysis.win_rates import WinRate
from arena.formats.registry import READERS
from arena.planning.games import Termination
from arena.reading.row_filter import rows_where
from arena.stats.match_estimate import Matchup, from_other_side, matchup, matchup_of_games
from arena.stats.rating_data import gather
from arena.stats.ratings import RatingPlan
from arena.stats.spread import spread
from arena.stats.text import matchup_text
from games import FILE, GameError, game
from games.base.errors import Mistake
from games.base.text import did_you_mean, listed, quoted

UNKNOWN = "unknown"  # the game that a file does not name
LONGEST_NAME = 200
MOST_BYTES = 1 << 30
MOST_DIGITS = 20  # of a number of 64 bits
SCORES = {
    "1": 1.0, "1.0": 1.0, "1-0": 1.0, "win": 1.0, "w": 1.0,
    "0.5": 0.5, ".5": 0.5, "1/2": 0.5, "1/2-1/2": 0.5, "0.5-0.5": 0.5, "½": 0.5, "½-½": 0.5,
    "draw": 0.5, "d": 0.5, "=": 0.5,
    "0": 0.0, "0.0": 0.0, "0-1": 0.0, "loss": 0.0, "l": 0.0,
}  # fmt: skip
KNOWN = "1, 1/2, 0, 1-0, 1/2-1/2, 0-1, win, draw or loss"
VERSIONS_AND_SEED = 3
Details = tuple[Hashable, ...]
Known = tuple[bool, ...]
__all__ = ["GivenGame", "GivenGames", "GivenScale", "Unreadable", "read_games"]
RUN, GAMES = "run.json", "games.parquet"
POOLED = "all games together"
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Unreadable(Mistake, ValueError):  # noqa: N818  # the glossary's word for a file nobody can read
    """A file without results we understand; one line with its place."""


class NamedAgent(NamedTuple):
    """An agent as a file names it; `version` is a fingerprint, empty if there is none."""

    name: str
    version: str = ""


class GivenGame(NamedTuple):
    """One game: its agents, the score of `first` from 0 to 1, and what else is known of it.

    `first` and `second` are the sides 0 and 1. `mover` is the first mover, the agent to move after
    the opening: 0 `first`, 1 `second`, None if the file does not say.
    `opening` is shared by games that are not independent, None if it is not known. `line` stands
    for the start and all moves (`line_of`), `game_id` for the moves in a table of ours, which may
    not keep them. `seed` tells equal games of agents that use chance apart, None if it is not
    known. `pairing` is shared by the two games of a pairing. `fault`: 0 ended without one, 1 lost
    by `first`, -1 by `second`. `row` is its place in the table of a run, None in other files.
    `stopped` is whether a sequential test decided how many games the run has.
    `arena.analysis.external_games` says which games are the same.
    """

    game: str
    first: NamedAgent
    second: NamedAgent
    score: float
    opening: Hashable | None = None
    line: int | None = None
    game_id: int | None = None
    seed: int | None = None
    pairing: Hashable | None = None
    fault: int = 0
    row: int | None = None
    mover: int | None = 0
    stopped: bool = False


def fen_side(start: str) -> str | None:
    """Return the side to move in a FEN, "w" or "b"; None if the text is not a FEN."""
    fields = start.split()
    return fields[1] if len(fields) > 1 and "/" in fields[0] and fields[1] in "wb" else None


def mover_named(name: str, players: Sequence[NamedAgent], place: str) -> int | None:
    """Return which of both players a file names as first mover; None if it names nobody."""
    names = [player.name for player in players]
    if name and name not in names:
        both = " or ".join(map(quoted, names))
        raise Unreadable(f"{place}: the first mover must be {both}, got {quoted(name)}")
    return names.index(name) if name else None


def line_of(words: Iterable[str], start: str = "", seed: int | None = None) -> int | None:
    """A number for the moves of a game from a start; None if they are too few to recognise it.

    `start` is empty for the position before the first move. Games with a seed need no moves.
    """
    moves = list(words)
    if len(moves) < 2 and seed is None:
        return None
    text = "\n".join((start, *moves))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


@cache
def game_name(text: str) -> str:
    """The name by which games are kept apart: ours as we write it, any other as it is."""
    if FILE.search(text):
        return text  # a user's file, which is not run only because a table names it
    try:
        return game(text).name
    except GameError:
        return text


def pairing_of(run: str, pair: str, first: int = 0) -> Hashable | None:
    """A pairing by its run and its number, counted from `first`; None if either is unknown."""
    number = _whole_number(pair)
    return None if not run or number is None else (run, number - first)


def seed_in(text: str) -> int | None:
    """The seed that a file gives for a game; None if it gives none."""
    return _whole_number(text)


def _whole_number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None


def fault_of(termination: str, score: float) -> int:
    """1 if `first` lost by its fault, -1 if `second` did, else 0."""
    how = Termination.__members__.get(termination.upper())
    if how is None or how.fair or score == 0.5:
        return 0
    return 1 if score == 0.0 else -1


def score_of(word: str, place: str) -> float:
    """The score of `first` that a word means; Unreadable if it means none."""
    score = SCORES.get(word.strip().lower())
    if score is None:
        raise Unreadable(f"{place}: the first mover's result must be {KNOWN}, got {quoted(word)}")
    return score


def players(
    first: str, second: str, place: str, versions: tuple[str, str] = ("", "")
) -> tuple[NamedAgent, NamedAgent]:
    """Two agents of different names; Unreadable if the names are not."""
    if not first or not second or first == second:
        both = f"{quoted(first)} and {quoted(second)}"
        raise Unreadable(f"{place}: a game needs two different names, got {both}")
    for name in (first, second):
        if len(name) > LONGEST_NAME:
            found = f"one of {len(name):,}"
            raise Unreadable(f"{place}: a name has at most {LONGEST_NAME} letters, got {found}")
    return NamedAgent(first, versions[0]), NamedAgent(second, versions[1])


def text_of(file: Path) -> str:
    """A whole text, UTF-8 or, where it is not that, Latin-1; Unreadable if it is too long."""
    if (size := file.stat().st_size) > MOST_BYTES:
        raise Unreadable(f"{file}: a file has at most {MOST_BYTES:,} bytes, got {size:,}")
    content = file.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def lines_of(games: Sequence[GivenGame]) -> list[Hashable | None]:
    """What stands for the start and the moves of each game, None where they are unknown.

    A table without moves has their hash; another table that has both tells the moves.
    """
    by_id = {each.game_id: each.line for each in games if each.line is not None}

    def line(each: GivenGame) -> Hashable | None:
        if each.line is not None or each.game_id is None:
            return each.line
        return by_id.get(each.game_id, ("game_id", each.game_id))

    return [line(each) for each in games]


def with_known_movers(
    games: Sequence[GivenGame], lines: Sequence[Hashable | None]
) -> list[GivenGame]:
    """Return the games, with the first movers that only other files name.

    Games of the same moves from the same opening have the same side to move after it.
    """
    keys = [(each.game, line, each.opening) for each, line in zip(games, lines, strict=True)]
    known = {
        key: each.mover
        for key, each in zip(keys, games, strict=True)
        if each.mover is not None and None not in key
    }
    return [
        each._replace(mover=known.get(key)) if each.mover is None else each
        for key, each in zip(keys, games, strict=True)
    ]


def distinct_games(games: Sequence[GivenGame], lines: Sequence[Hashable | None]) -> list[int]:
    """The places of the games that are no other one again, in the order of the files.

    Of equal games the one about which most is known stays. Games of unknown moves all stay.
    """
    details = [(each.first.version, each.second.version, each.seed) for each in games]
    known = [tuple(value not in ("", None) for value in each) for each in details]
    masks = sorted(set(known), key=sum, reverse=True)
    order = sorted(
        range(len(games)), key=lambda place: (-sum(known[place]), games[place].row is None)
    )
    seen: set[Hashable] = set()
    kept = []
    for place in order:
        each, line = games[place], lines[place]
        if line is None:
            kept.append(place)
            continue
        same = (each.game, each.first.name, each.second.name, each.score, line)
        own = known[place]
        if any((mask, same, *_common(details[place], own, mask)) in seen for mask in masks):
            continue
        seen.update((own, same, *_common(details[place], own, mask)) for mask in masks)
        kept.append(place)
    return sorted(kept)


def _common(details: Details, own: Known, other: Known) -> Iterator[Hashable]:
    """The details that both of two games know, each with its place."""
    for place in range(VERSIONS_AND_SEED):
        if own[place] and other[place]:
            yield place, details[place]


def evidence(games: Sequence[GivenGame], lines: Sequence[Hashable | None]) -> list[int]:
    """The places of the games that are evidence.

    Two agents that ever played one opening in two ways leave something to chance: all their games
    count. Otherwise a game played again says nothing new.
    """
    first_lines: dict[Hashable, Hashable] = {}
    varied: set[Hashable] = set()
    for each, line in zip(games, lines, strict=True):
        if line is not None and each.opening is not None:
            seats = (each.game, each.first, each.second, each.opening)
            if first_lines.setdefault(seats, line) != line:
                varied.add(_pair(each))
    kept, met = [], set[Hashable]()
    for place, (each, line) in enumerate(zip(games, lines, strict=True)):
        if line is not None and _pair(each) not in varied:
            key = (each.game, each.first, each.second, line)
            if key in met:
                continue
            met.add(key)
        kept.append(place)
    return kept


def _pair(each: GivenGame) -> Hashable:
    return each.game, frozenset((each.first, each.second))


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
    `stopped` are the agents of games that a sequential test ended.
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
    stopped: set[str] = field(default_factory=set)
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
        if game.stopped:
            self.stopped.update(names)


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
    read = list(_games([_file_of(file) for file in files], where))
    if not read:
        which = "" if where is None else f" with {ast.unparse(where)}"
        raise Unreadable(f"no finished game was found{which}")
    only = _only_game(game for _, game in read)
    kept, notes = _counted([(place, game._replace(game=only or game.game)) for place, game in read])
    games = [game for _, game in kept]
    names = _names(games, same, notes)
    unnamed = sum(game.game == UNKNOWN for _, game in read)
    if only and unnamed:
        notes.append(f"{unnamed:,} games whose file does not name the game are taken for {only}")
    scales: dict[str, GivenScale] = {}
    for file, game in kept:
        what = POOLED if pool else game.game
        scale = scales.setdefault(what, GivenScale(what))
        scale.add(game, (names[game.first], names[game.second]), file)
    if len(scales) > 1:
        notes.append(f"rated apart, as different games: {listed(scales)}; --pool: on one scale")
    notes += _stopped(files[at] for at in sorted({at for at, game in kept if game.stopped}))
    return GivenGames(list(scales.values()), [*notes, *_unknown(games)])


def _stopped(files: Iterable[Path]) -> Iterator[str]:
    """A note on each file whose games a sequential test ended, with the result of the test."""
    from arena.analysis.summary_file import stored_test  # noqa: PLC0415  # only for such files

    for file in files:
        directory = file if file.is_dir() else file.parent
        try:
            result = f"; {stored_test(directory)['text']}"
        except (OSError, ValueError, KeyError, TypeError):
            result = ""  # a table alone
        yield (
            f"{file}: a sequential test ended these games: intervals here are raw, they ignore "
            f"the stopping rule{result}"
        )


def _unknown(games: Sequence[GivenGame]) -> Iterator[str]:
    """A note on each fact that is not known of all games."""
    if unmoved := sum(game.mover is None for game in games):
        yield (
            f"the first mover of {unmoved:,} games is unknown: a first_mover column or a "
            "FirstMover tag names the agent to move after the opening"
        )
    if unknown := sum(game.opening is None for game in games):
        yield (
            f"the openings of {unknown:,} games are unknown: intervals are too short if they repeat"
        )


def _only_game(games: Iterable[GivenGame]) -> str:
    """The one game that files name, for which the others are taken; empty if there are more."""
    known = {game.game for game in games} - {UNKNOWN}
    return known.pop() if len(known) == 1 else ""


def _counted(
    read: Sequence[tuple[int, GivenGame]],
) -> tuple[list[tuple[int, GivenGame]], list[str]]:
    """The games that count, each with its file's place, and what is said of the others."""
    games = [game for _, game in read]
    lines = lines_of(games)
    games = with_known_movers(games, lines)
    distinct = distinct_games(games, lines)
    kept = evidence([games[place] for place in distinct], [lines[place] for place in distinct])
    again = len(games) - len(kept)
    notes = [f"{len(games):,} games, {again:,} of them seen before"] if again else []
    return [(read[place][0], games[place]) for place in (distinct[at] for at in kept)], notes


def _file_of(path: Path) -> Path:
    """The file that holds the games; a directory must be a run's."""
    if path.is_dir():
        if (path / GAMES).is_file():
            return path / GAMES
        if not (path / RUN).exists():
            raise Unreadable(f"{path}: a directory without games: it is no run's")
        from arena.storage.run_file import NotARun, games_table  # noqa: PLC0415  # loads Numba

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


def _games(files: Sequence[Path], where: ast.expr | None) -> Iterator[tuple[int, GivenGame]]:
    """All games, each with its file's place; those that cannot be recognised once a content."""
    seen: set[bytes] = set()
    for place, file in enumerate(files):
        reader = cast(Reader, importlib.import_module(READERS[file.suffix.lower()]))
        with file.open("rb") as content:
            digest = hashlib.file_digest(content, "blake2b").digest()
        rows = None if where is None else _rows(where, file)
        for game in reader.games_in(file):
            if rows is not None and game.row is not None and not rows[game.row]:
                continue
            if game.line is None and game.game_id is None and digest in seen:
                continue
            yield place, game
        seen.add(digest)


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


class Columns(NamedTuple):
    """The games of a scale as arrays; `first` are the first movers, as far as they are known."""

    first: Ints
    second: Ints
    scores: Floats
    openings: Ints
    pairing: Ints  # equal numbers are one pairing; -1 stands alone
    faults: Ints


def given_standings(scale: GivenScale, plan: RatingPlan, method: str) -> Standings:
    """Rate the agents of one scale by a method."""
    if -1 in scale.movers:
        plan = replace(plan, first_move=False)
    games = columns_of(scale)
    agents = len(scale.names)
    results = gather(games.first, games.second, games.scores, games.openings % BLOCKS, agents)
    rates = [rate for pair in _met(games) for rate in _rates(scale, games, *pair)]
    played = [_played(games, agent) for agent in range(agents)]
    clean = np.concatenate([side[games.faults == 0] for side in (games.first, games.second)])
    faulty = [name for place, name in enumerate(scale.names) if not np.any(clean == place)]
    found = ranked_agents(results, scale.names, rates, played, plan, faulty=faulty, method=method)
    own = {name: _tally(games, agent) for agent, name in enumerate(scale.names)}
    ranked = [row.agent for row in found.agents]
    openings = len(np.unique(games.openings))
    found = in_official_order(found, official_places(own, ranked, openings=openings))
    return as_raw_ratings(found, scale.stopped)


def _tally(games: Columns, agent: int) -> GameTally:
    """The games of an agent; files do not tell the final scores."""
    scores = np.concatenate(
        [games.scores[games.first == agent], 1.0 - games.scores[games.second == agent]]
    )
    won, drawn, lost = (int((scores == points).sum()) for points in (1.0, 0.5, 0.0))
    return GameTally(won, drawn, lost)


def columns_of(scale: GivenScale) -> Columns:
    """Return the games of a scale, with the first mover as `first`."""
    numbers: dict[object, int] = {}
    pairing = [
        -1 if each is None else numbers.setdefault(each, len(numbers)) for each in scale.pairings
    ]
    first, second, openings, numbered, faults = (
        np.array(column, np.int64)
        for column in (scale.first, scale.second, scale.openings, pairing, scale.faults)
    )
    scores = np.array(scale.scores, np.float64)
    turned = np.array(scale.movers, np.int64) == 1
    return Columns(
        first=np.where(turned, second, first),
        second=np.where(turned, first, second),
        scores=np.where(turned, 1.0 - scores, scores),
        openings=openings,
        pairing=numbered,
        faults=np.where(turned, -faults, faults),
    )


def _met(games: Columns) -> Iterator[tuple[int, int]]:
    """The pairs of agents that met, the lower number first."""
    both = np.stack([np.minimum(games.first, games.second), np.maximum(games.first, games.second)])
    yield from np.unique(both, axis=1).T.tolist()


def _rates(scale: GivenScale, games: Columns, one: int, other: int) -> tuple[WinRate, WinRate]:
    """One pair of agents from both sides."""
    as_first = np.flatnonzero((games.first == one) & (games.second == other))
    as_second = np.flatnonzero((games.first == other) & (games.second == one))
    row = _matchup(games, as_first, as_second)
    lost = np.concatenate([games.faults[as_first], -games.faults[as_second]])
    own, others = int((lost == 1).sum()), int((lost == -1).sum())
    counted = len(as_first) + len(as_second)
    mirrored = from_other_side(row)
    a, b = scale.names[one], scale.names[other]
    return (
        WinRate(a, b, counted, own, others, row, matchup_text(row)),
        WinRate(b, a, counted, others, own, mirrored, matchup_text(mirrored)),
    )


def _matchup(games: Columns, as_first: Ints, as_second: Ints) -> Matchup:
    """The pair's estimate: of pairings where all games make some, else of single games."""
    for order in (games.pairing, games.openings):
        one, other = (
            rows[np.argsort(order[rows], kind="stable")] for rows in (as_first, as_second)
        )
        whole = len(one) == len(other) and len(one) > 0 and order[one].min() >= 0
        alike = whole and np.array_equal(order[one], order[other])
        if alike and np.array_equal(games.openings[one], games.openings[other]):
            # In the order of the games, as a run has them.
            again = np.argsort(np.minimum(one, other), kind="stable")
            one, other = one[again], other[again]
            scores = games.scores[one], 1.0 - games.scores[other]
            return matchup(games.openings[one], *scores)
    rows = np.concatenate([as_first, as_second])
    scored = np.concatenate([games.scores[as_first], 1.0 - games.scores[as_second]])
    return matchup_of_games(games.openings[rows], scored)


def _played(games: Columns, agent: int) -> RatingBasis:
    """What an agent's rating rests on."""
    as_first, as_second = games.first == agent, games.second == agent
    rows = np.flatnonzero(as_first | as_second)
    scores = np.where(as_first[rows], games.scores[rows], 1.0 - games.scores[rows])
    opponents = np.where(as_first[rows], games.second[rows], games.first[rows])
    apart = np.zeros(len(rows))
    # As if all opponents were as strong: the law of errors is left.
    for opponent in np.unique(opponents):
        met = opponents == opponent
        apart[met] = 0.5 + (scores[met] - scores[met].mean()) / 2.0
    # Both games of a pairing are one observation.
    alone = games.pairing[rows] < 0
    unit = np.where(alone, -1 - np.arange(len(rows)), games.pairing[rows])
    _, place, observed = np.unique(unit, return_index=True, return_inverse=True)
    observed = observed.ravel()
    mean = np.bincount(observed, apart) / np.bincount(observed)
    effective = spread(games.openings[rows][place], mean).effective_pairings
    lost = np.where(as_first[rows], games.faults[rows], -games.faults[rows]) == 1
    openings = len(np.unique(games.openings[rows]))
    points = float(scores.sum())
    return RatingBasis(len(rows), points, len(rows), openings, effective, int(lost.sum()))
