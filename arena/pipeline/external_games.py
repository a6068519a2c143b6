"""Games from other programs, deduplicated and rated."""

import hashlib
import importlib
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from arena.analysis.standings import (
    BLOCKS,
    GameTally,
    SampleSizes,
    Standings,
    as_raw_ratings,
    in_official_order,
    official_places,
    rank_agents,
)
from arena.analysis.win_rates import WinRate
from arena.formats.game_record import UNKNOWN, GivenGame, NamedAgent, Unreadable
from arena.formats.registry import FORMATS
from arena.stats.match_estimate import (
    MatchEstimate,
    estimate_unpaired_games,
    from_other_side,
    matchup,
)
from arena.stats.rating_data import rating_data
from arena.stats.ratings import RatingPlan
from arena.stats.spread import spread
from arena.stats.text import match_estimate_text
from games.base.text import did_you_mean, listed

VERSIONS_AND_SEED = 3
Details = tuple[Hashable, ...]
Known = tuple[bool, ...]
__all__ = ["ExternalGames", "GivenGame", "RatingPool", "Unreadable", "read_games"]
RUN, GAMES = "run.json", "games.parquet"
POOLED = "all games together"
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def lines_of(games: Sequence[GivenGame]) -> list[Hashable | None]:
    """Return keys for the start and the moves of each game, None where they are unknown.

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
            key = (each.game, each.first, each.second, each.opening, line)
            if key in met:
                continue
            met.add(key)
        kept.append(place)
    return kept


def _pair(each: GivenGame) -> Hashable:
    return each.game, frozenset((each.first, each.second))


class Reader(Protocol):
    """The functions of a format's module."""

    def games_in(self, file: Path) -> Iterator[GivenGame]:
        """The games of a file; Unreadable says which line is wrong."""


@dataclass
class RatingPool:
    """The games that are rated together, as columns; `names` are those of their agents.

    Equal numbers in `openings` are the same opening; `pairings` is None where a game stands
    alone, `faults` is 1 or -1 where `first` or `second` lost by its fault. `movers` has the first
    movers: 0 `first`, 1 `second`, -1 unknown. `stopped` are the agents of games that a sequential
    test ended.
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
    unearned: list[bool] = field(default_factory=list)
    stopped: set[str] = field(default_factory=set)
    _places: dict[Hashable, int] = field(default_factory=dict)

    def add(self, game: GivenGame, names: tuple[str, str]) -> None:
        """Append one game."""
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
        self.unearned.append(game.unearned)
        self.movers.append(-1 if game.mover is None else game.mover)
        if game.stopped:
            self.stopped.update(names)


@dataclass(frozen=True)
class ExternalGames:
    """All games by scale; `notes` say what was left out, and what was kept apart."""

    scales: list[RatingPool]
    notes: list[str]

    @property
    def games(self) -> int:
        """The number of games that count."""
        return sum(len(scale.scores) for scale in self.scales)

    @property
    def names(self) -> list[str]:
        """All agents, by their first game."""
        return list(dict.fromkeys(name for scale in self.scales for name in scale.names))


def read_games(
    files: Sequence[Path], *, pool: bool = False, same: Collection[str] = ()
) -> ExternalGames:
    """The games of files and of run directories; Unreadable says which line of which is wrong.

    `pool` rates different games on one scale, `same` names agents whose versions are one.
    """
    found = list(_games([_file_of(file) for file in files]))
    stopped, read = sorted({at for at, game in found if game.stopped}), [game for _, game in found]
    if not read:
        raise Unreadable("no finished game was found")
    only = _single_game(read)
    games, notes = _counted([game._replace(game=only or game.game) for game in read])
    names = _agent_names(games, same, notes)
    unnamed = sum(game.game == UNKNOWN for game in read)
    if only and unnamed:
        notes.append(f"{unnamed:,} games whose file does not name the game are taken for {only}")
    scales: dict[str, RatingPool] = {}
    for record in games:
        what = POOLED if pool else record.game
        scale = scales.setdefault(what, RatingPool(what))
        scale.add(record, (names[record.first], names[record.second]))
    if len(scales) > 1:
        notes.append(f"rated apart, as different games: {listed(scales)}; --pool: on one scale")
    notes += _stopped(files[at] for at in stopped)
    return ExternalGames(list(scales.values()), [*notes, *_unknown(games)])


def _stopped(files: Iterable[Path]) -> Iterator[str]:
    """A note on each file whose games a sequential test ended, with the result of the test."""
    from arena.analysis.summary_file import load_sprt_result  # noqa: PLC0415  # only for such files

    for file in files:
        directory = file if file.is_dir() else file.parent
        try:
            result = f"; {load_sprt_result(directory)['text']}"
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
            f"the first mover of {unmoved:,} game{'s' * (unmoved != 1)} is unknown: a "
            "first_mover column or a FirstMover tag names the agent to move after the opening"
        )
    if unknown := sum(game.opening is None for game in games):
        yield (
            f"the opening of {unknown:,} game{'s' * (unknown != 1)} is unknown: intervals are too "
            "short if openings repeat"
        )


def _single_game(games: Iterable[GivenGame]) -> str:
    """The one game that files name, for which the others are taken; empty if there are more."""
    known = {game.game for game in games} - {UNKNOWN}
    return known.pop() if len(known) == 1 else ""


def _counted(read: Sequence[GivenGame]) -> tuple[list[GivenGame], list[str]]:
    """Return the games that count, and notes on the others."""
    lines = lines_of(read)
    games = with_known_movers(read, lines)
    distinct = distinct_games(games, lines)
    kept = evidence([games[place] for place in distinct], [lines[place] for place in distinct])
    again = len(games) - len(kept)
    notes = [f"{len(games):,} games, {again:,} of them seen before"] if again else []
    notes += _contradictions(games, lines)
    return [games[distinct[at]] for at in kept], notes


def _contradictions(games: Sequence[GivenGame], lines: Sequence[Hashable | None]) -> Iterator[str]:
    """A note on games of equal moves and agents that files give two results.

    Games that were forfeited may end otherwise after the same moves.
    """
    results: dict[Hashable, float] = {}
    other = 0
    for each, line in zip(games, lines, strict=True):
        if line is not None and not each.fault:
            key = (each.game, each.first.name, each.second.name, each.opening, line)
            other += results.setdefault(key, each.score) != each.score
    if other:
        yield (
            f"{other:,} game{'s have' if other != 1 else ' has'} the moves of an "
            "earlier one but another result: a file is wrong; the first result counts"
        )


def _file_of(path: Path) -> Path:
    """The file that holds the games; a directory must be a run's."""
    if path.is_dir():
        if (path / GAMES).is_file():
            return path / GAMES
        if not (path / RUN).exists():
            raise Unreadable(f"{path}: a directory without games: it is no run's")
        from arena.storage.run_file import NotARunError, games_table  # noqa: PLC0415  # loads Numba

        try:
            return games_table(path)
        except NotARunError as error:
            raise Unreadable(str(error)) from None
    if not path.is_file():
        told = "it is no file" if path.exists() else "there is no such file"
        raise Unreadable(f"{path}: {told}")
    if path.suffix.lower() not in FORMATS:
        near = did_you_mean(path.suffix.lower(), FORMATS)
        raise Unreadable(f"{path}: must end in {listed(FORMATS)}{near}")
    return path


def _games(files: Sequence[Path]) -> Iterator[tuple[int, GivenGame]]:
    """All games with the places of their files; unrecognisable ones once for each content."""
    seen: set[bytes] = set()
    for place, file in enumerate(files):
        reader = cast(Reader, importlib.import_module(FORMATS[file.suffix.lower()]))
        with file.open("rb") as content:
            digest = hashlib.file_digest(content, "blake2b").digest()
        for record in reader.games_in(file):
            if record.line is None and record.game_id is None and digest in seen:
                continue
            yield place, record
        seen.add(digest)


def _agent_names(
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
    unearned: Flags  # games between two excluded bots


def rate_external_games(scale: RatingPool, plan: RatingPlan, method: str) -> Standings:
    """Rate the agents of one scale by a method."""
    if -1 in scale.movers:
        plan = replace(plan, first_move=False)
    games = columns_of(scale)
    agents = len(scale.names)
    results, fair = (
        rating_data(
            games.first[rows], games.second[rows], games.scores[rows],
            games.openings[rows] % BLOCKS, agents,
        )
        for rows in (slice(None), np.flatnonzero(_fair(games)))
    )  # fmt: skip
    rates = [rate for pair in _met(games) for rate in _win_rates(scale, games, *pair)]
    played = [_rating_basis(games, agent) for agent in range(agents)]
    clean = np.concatenate([side[games.faults == 0] for side in (games.first, games.second)])
    faulty = [name for place, name in enumerate(scale.names) if not np.any(clean == place)]
    found = rank_agents(
        results, scale.names, rates, played, plan, fair=fair, faulty=faulty, method=method
    )
    own = {name: _tally(games, agent) for agent, name in enumerate(scale.names)}
    openings = len(np.unique(games.openings))
    found = in_official_order(found, official_places(own, found.agents, openings=openings))
    return as_raw_ratings(found, scale.stopped)


def _fair(games: Columns) -> Flags:
    """Return the games of pairs without a forfeit."""
    forfeited = games.faults != 0
    unfair = np.unique(games.pairing[forfeited & (games.pairing >= 0)])
    return np.asarray(~(forfeited | np.isin(games.pairing, unfair)))


def _tally(games: Columns, agent: int) -> GameTally:
    """The games of an agent; files do not tell the final scores."""
    first, second = games.first == agent, games.second == agent
    scores = np.concatenate([games.scores[first], 1.0 - games.scores[second]])
    scores[np.concatenate([games.unearned[first], games.unearned[second]])] = 0.0
    won, drawn, lost = (int((scores == points).sum()) for points in (1.0, 0.5, 0.0))
    return GameTally(won, drawn, lost)


def columns_of(scale: RatingPool) -> Columns:
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
        unearned=np.array(scale.unearned, np.bool_),
    )


def _met(games: Columns) -> Iterator[tuple[int, int]]:
    """The pairs of agents that met, the lower number first."""
    both = np.stack([np.minimum(games.first, games.second), np.maximum(games.first, games.second)])
    yield from np.unique(both, axis=1).T.tolist()


def _win_rates(scale: RatingPool, games: Columns, one: int, other: int) -> tuple[WinRate, WinRate]:
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
        WinRate(a, b, counted, own, others, row, match_estimate_text(row)),
        WinRate(b, a, counted, others, own, mirrored, match_estimate_text(mirrored)),
    )


def _matchup(games: Columns, as_first: Ints, as_second: Ints) -> MatchEstimate:
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
            fair = (games.faults[one] == 0) & (games.faults[other] == 0)
            return matchup(games.openings[one], *scores, fair=fair)
    rows = np.concatenate([as_first, as_second])
    scored = np.concatenate([games.scores[as_first], 1.0 - games.scores[as_second]])
    return estimate_unpaired_games(games.openings[rows], scored)


def _rating_basis(games: Columns, agent: int) -> SampleSizes:
    """The games behind an agent's rating."""
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
    points = _tally(games, agent).points
    return SampleSizes(len(rows), points, len(rows), openings, effective, int(lost.sum()))
