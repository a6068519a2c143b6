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
    RatingBasis,
    Standings,
    as_raw_ratings,
    official_places,
    rank_agents,
    sort_by_place,
)
from arena.analysis.win_rates import WinRate
from arena.config.experiment import AnchorError, parse_anchor
from arena.formats.records import UNKNOWN, ExternalGame, FormatError, NamedAgent
from arena.formats.registry import FORMATS
from arena.stats.match_estimate import (
    MatchEstimate,
    estimate_match,
    estimate_unpaired_games,
    mirror_estimate,
)
from arena.stats.rating_data import rating_data
from arena.stats.ratings import MIN_DRAWS, RatingPlan
from arena.stats.spread import spread
from arena.stats.text import match_estimate_text
from games.base.errors import UserError
from games.base.text import did_you_mean, join_names

MOST_DRAWS = 100_000  # of the bootstrap
VERSIONS_AND_SEED = 3
Details = tuple[Hashable, ...]
Known = tuple[bool, ...]
__all__ = ["ExternalGame", "ExternalGames", "FormatError", "RatingPool", "read_games"]
RUN, GAMES = "run.json", "games.parquet"
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def game_lines(games: Sequence[ExternalGame]) -> list[Hashable | None]:
    """Return a key for the start and the moves of each game, None where they are unknown.

    Tables without moves have only a `game_id`. If another game has the same id and moves, the hash
    of its moves is the key.
    """
    by_id = {game.game_id: game.moves_hash for game in games if game.moves_hash is not None}

    def line(game: ExternalGame) -> Hashable | None:
        if game.moves_hash is not None or game.game_id is None:
            return game.moves_hash
        return by_id.get(game.game_id, ("game_id", game.game_id))

    return [line(game) for game in games]


def with_known_movers(
    games: Sequence[ExternalGame], lines: Sequence[Hashable | None]
) -> list[ExternalGame]:
    """Return the games, with unknown first movers taken from equal games in other files.

    If the opening and the moves are equal, the first mover is equal, too.
    """
    keys = [(each.game, line, each.opening) for each, line in zip(games, lines, strict=True)]
    known = {
        key: each.first_mover
        for key, each in zip(keys, games, strict=True)
        if each.first_mover is not None and None not in key
    }
    return [
        each._replace(first_mover=known.get(key)) if each.first_mover is None else each
        for key, each in zip(keys, games, strict=True)
    ]


def distinct_games(games: Sequence[ExternalGame], lines: Sequence[Hashable | None]) -> list[int]:
    """Return the indices of distinct games, in the order of the files.

    Of equal games, the one with the most details is kept. Games without moves are all kept.
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
        if any((mask, same, *_shared_details(details[place], own, mask)) in seen for mask in masks):
            continue
        seen.update((own, same, *_shared_details(details[place], own, mask)) for mask in masks)
        kept.append(place)
    return sorted(kept)


def _shared_details(details: Details, own: Known, other: Known) -> Iterator[Hashable]:
    """Yield the details that both games have, each with its place."""
    for place in range(VERSIONS_AND_SEED):
        if own[place] and other[place]:
            yield place, details[place]


def independent_games(games: Sequence[ExternalGame], lines: Sequence[Hashable | None]) -> list[int]:
    """Return the indices of the games that are evidence.

    If two agents played one opening in different ways, they use chance and all their games count.
    Otherwise a duplicate game adds no evidence.
    """
    first_lines: dict[Hashable, Hashable] = {}
    varied: set[Hashable] = set()
    for each, line in zip(games, lines, strict=True):
        if line is not None and each.opening is not None:
            seats = (each.game, each.first, each.second, each.opening)
            if first_lines.setdefault(seats, line) != line:
                varied.add(_match_key(each))
    kept, met = [], set[Hashable]()
    for place, (each, line) in enumerate(zip(games, lines, strict=True)):
        if line is not None and _match_key(each) not in varied:
            key = (each.game, each.first, each.second, each.opening, line)
            if key in met:
                continue
            met.add(key)
        kept.append(place)
    return kept


def _match_key(each: ExternalGame) -> Hashable:
    return each.game, frozenset((each.first, each.second))


class Reader(Protocol):
    """A module that reads a format."""

    def read_games(self, file: Path) -> Iterator[ExternalGame]:
        """Yield the games of a file; a FormatError names the wrong line."""


@dataclass
class RatingPool:
    """The games that are rated together, as columns; `first` and `second` are indices of `names`.

    Games with equal numbers in `openings` have the same opening. `pairs` identifies the pair of
    a game, None for a single game. `faults` is 1 if `first` forfeited the game and -1 if `second`
    did. `movers` has the first movers: 0 `first`, 1 `second`, -1 unknown. `unearned` games are
    those of two excluded bots. `stopped` has the agents whose games a sequential test ended.
    """

    game: str
    names: list[str] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    second: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    openings: list[int] = field(default_factory=list)
    pairs: list[Hashable | None] = field(default_factory=list)
    faults: list[int] = field(default_factory=list)
    movers: list[int] = field(default_factory=list)
    unearned: list[bool] = field(default_factory=list)
    stopped: set[str] = field(default_factory=set)
    _places: dict[Hashable, int] = field(default_factory=dict)

    def add(self, game: ExternalGame, names: tuple[str, str]) -> None:
        """Append one game."""
        for column, name in zip((self.first, self.second), names, strict=True):
            place = self._places.setdefault(("agent", name), len(self.names))
            if place == len(self.names):
                self.names.append(name)
            column.append(place)
        opening = ("game", len(self.scores)) if game.opening is None else ("of", game.opening)
        self.openings.append(self._places.setdefault(opening, len(self._places)))
        self.scores.append(game.score)
        self.pairs.append(game.pair)
        self.faults.append(game.fault)
        self.unearned.append(game.both_excluded)
        self.movers.append(-1 if game.first_mover is None else game.first_mover)
        if game.has_stop_rule:
            self.stopped.update(names)


@dataclass(frozen=True)
class ExternalGames:
    """All games by scale; `notes` explain left-out games and separate scales."""

    scales: list[RatingPool]
    notes: list[str]

    @property
    def games(self) -> int:
        """The number of games that count as evidence."""
        return sum(len(scale.scores) for scale in self.scales)

    @property
    def names(self) -> list[str]:
        """All agents in the order of their first games."""
        return list(dict.fromkeys(name for scale in self.scales for name in scale.names))


def read_games(files: Sequence[Path], *, same: Collection[str] = ()) -> ExternalGames:
    """Read the games of files and run directories; a FormatError names a wrong file and line.

    The versions of an agent in `same` are one agent.
    """
    numbered = list(_read_all([_games_file(file) for file in files]))
    stopped = sorted({number for number, game in numbered if game.has_stop_rule})
    read = [game for _, game in numbered]
    if not read:
        raise FormatError("no finished game was found")
    only = _single_game(read)
    games, notes = _select_games([game._replace(game=only or game.game) for game in read])
    names = _agent_names(games, same, notes)
    unnamed = sum(game.game == UNKNOWN for game in read)
    if only and unnamed:
        notes.append(f"{unnamed:,} games whose file does not name the game count as {only}")
    scales: dict[str, RatingPool] = {}
    for record in games:
        what = record.game
        scale = scales.setdefault(what, RatingPool(what))
        scale.add(record, (names[record.first], names[record.second]))
    if len(scales) > 1:
        notes.append(f"rated separately, as different games: {join_names(scales)}")
    notes += _stop_rule_notes(files[number] for number in stopped)
    return ExternalGames(list(scales.values()), [*notes, *_missing_fact_notes(games)])


def _stop_rule_notes(files: Iterable[Path]) -> Iterator[str]:
    """Yield a note on each file whose games a stop rule ended."""
    from arena.analysis.summary_file import load_stop_result  # noqa: PLC0415  # only for such files

    for file in files:
        directory = file if file.is_dir() else file.parent
        try:
            result = f"; {load_stop_result(directory)['text']}"
        except (OSError, ValueError, KeyError, TypeError):
            result = ""  # a table alone
        yield (
            f"{file}: a stop rule ended these games; the intervals here are raw, because "
            f"they ignore the stopping rule{result}"
        )


def _missing_fact_notes(games: Sequence[ExternalGame]) -> Iterator[str]:
    """Yield notes on first movers and openings that files do not name."""
    if unknown := sum(game.first_mover is None for game in games):
        yield (
            f"the first mover of {unknown:,} game{'s' * (unknown != 1)} is unknown: a "
            "first_mover column or a FirstMover tag names the agent to move after the opening"
        )
    if unknown := sum(game.opening is None for game in games):
        yield (
            f"the opening of {unknown:,} game{'s' * (unknown != 1)} is unknown: intervals are too "
            "narrow if openings repeat"
        )


def _single_game(games: Iterable[ExternalGame]) -> str:
    """Return the only game that the files name; empty if they name several."""
    known = {game.game for game in games} - {UNKNOWN}
    return known.pop() if len(known) == 1 else ""


def _select_games(read: Sequence[ExternalGame]) -> tuple[list[ExternalGame], list[str]]:
    """Return the games that are evidence, and notes on the others."""
    lines = game_lines(read)
    games = with_known_movers(read, lines)
    distinct = distinct_games(games, lines)
    kept = independent_games(
        [games[place] for place in distinct], [lines[place] for place in distinct]
    )
    again = len(games) - len(kept)
    notes = [f"{len(games):,} games, {again:,} of them duplicates"] if again else []
    notes += _contradiction_notes(games, lines)
    return [games[distinct[at]] for at in kept], notes


def _contradiction_notes(
    games: Sequence[ExternalGame], lines: Sequence[Hashable | None]
) -> Iterator[str]:
    """Yield a note if games of equal moves and agents have different results.

    Forfeits are exempt: such games may end differently after the same moves.
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


def _games_file(path: Path) -> Path:
    """Return the file with the games of a path, which may be the directory of a run."""
    if path.is_dir():
        if (path / GAMES).is_file():
            return path / GAMES
        if not (path / RUN).exists():
            raise FormatError(f"{path}: this directory has no games: expected that of a run")
        from arena.storage.run_file import NotARunError, games_table_path  # noqa: PLC0415  # loads Numba

        try:
            return games_table_path(path)
        except NotARunError as error:
            raise FormatError(str(error)) from None
    if not path.is_file():
        problem = "it is not a file" if path.exists() else "there is no such file"
        raise FormatError(f"{path}: {problem}")
    if path.suffix.lower() not in FORMATS:
        near = did_you_mean(path.suffix.lower(), FORMATS)
        raise FormatError(f"{path}: must end in {join_names(FORMATS)}{near}")
    return path


def _read_all(files: Sequence[Path]) -> Iterator[tuple[int, ExternalGame]]:
    """Yield all games with the indices of their files.

    A file with the same content as an earlier one adds only games that have moves or a `game_id`.
    """
    seen: set[bytes] = set()
    for place, file in enumerate(files):
        reader = cast(Reader, importlib.import_module(FORMATS[file.suffix.lower()]))
        with file.open("rb") as content:
            digest = hashlib.file_digest(content, "blake2b").digest()
        for record in reader.read_games(file):
            if record.moves_hash is None and record.game_id is None and digest in seen:
                continue
            yield place, record
        seen.add(digest)


def _agent_names(
    games: Sequence[ExternalGame], same: Collection[str], notes: list[str]
) -> dict[NamedAgent, str]:
    """Return the names of all agents; those of several versions get `@VERSION`."""
    met = Counter(player for game in games for player in (game.first, game.second))
    versions: dict[str, list[str]] = {}
    for player in met:
        own = versions.setdefault(player.name, [])
        if player.version:
            own.append(player.version)
    for name in same:
        if name not in versions:
            near = did_you_mean(name, versions)
            raise FormatError(f"--same must name an agent, got {name!r}{near}")
    for name, own in versions.items():
        if len(own) > 1 and name not in same:
            marked = join_names(f"{name}@{version}" for version in own)
            notes.append(
                f"{name} is {len(own)} agents with different options or files: {marked}; "
                f"--same {name} rates them as one"
            )
    return {
        player: f"{player.name}@{player.version}"
        if player.version and len(versions[player.name]) > 1 and player.name not in same
        else player.name
        for player in met
    }


class PoolColumns(NamedTuple):
    """The games of a scale as arrays; `first` are the first movers where they are known."""

    first: Ints
    second: Ints
    scores: Floats
    openings: Ints
    pair: Ints  # equal numbers are one pair; -1: a single game
    faults: Ints
    unearned: Flags  # games between two excluded bots


def rate_external_games(scale: RatingPool, plan: RatingPlan) -> Standings:
    """Rate the agents of one scale."""
    if -1 in scale.movers:
        plan = replace(plan, first_move=False)
    games = pool_columns(scale)
    agents = len(scale.names)
    results, fair = (
        rating_data(
            games.first[rows], games.second[rows], games.scores[rows],
            games.openings[rows] % BLOCKS, agents,
        )
        for rows in (slice(None), np.flatnonzero(_fair_games(games)))
    )  # fmt: skip
    rates = [rate for pair in _list_matches(games) for rate in _win_rates(scale, games, *pair)]
    played = [_sample_sizes(games, agent) for agent in range(agents)]
    clean = np.concatenate([side[games.faults == 0] for side in (games.first, games.second)])
    faulty = [name for place, name in enumerate(scale.names) if not np.any(clean == place)]
    found = rank_agents(results, scale.names, rates, played, plan, fair=fair, faulty=faulty)
    own = {name: _tally_games(games, agent) for agent, name in enumerate(scale.names)}
    openings = len(np.unique(games.openings))
    found = sort_by_place(found, official_places(own, found.agents, openings=openings))
    return as_raw_ratings(found, scale.stopped)


def _fair_games(games: PoolColumns) -> Flags:
    """Return the games of pairs without a forfeit."""
    forfeited = games.faults != 0
    unfair = np.unique(games.pair[forfeited & (games.pair >= 0)])
    return np.asarray(~(forfeited | np.isin(games.pair, unfair)))


def _tally_games(games: PoolColumns, agent: int) -> GameTally:
    """Count the results of an agent."""
    first, second = games.first == agent, games.second == agent
    scores = np.concatenate([games.scores[first], 1.0 - games.scores[second]])
    scores[np.concatenate([games.unearned[first], games.unearned[second]])] = 0.0
    won, drawn, lost = (int((scores == points).sum()) for points in (1.0, 0.5, 0.0))
    return GameTally(won, drawn, lost)


def pool_columns(scale: RatingPool) -> PoolColumns:
    """Return the games of a scale, with the first mover as `first`."""
    numbers: dict[object, int] = {}
    pair = [-1 if each is None else numbers.setdefault(each, len(numbers)) for each in scale.pairs]
    first, second, openings, numbered, faults = (
        np.array(column, np.int64)
        for column in (scale.first, scale.second, scale.openings, pair, scale.faults)
    )
    scores = np.array(scale.scores, np.float64)
    turned = np.array(scale.movers, np.int64) == 1
    return PoolColumns(
        first=np.where(turned, second, first),
        second=np.where(turned, first, second),
        scores=np.where(turned, 1.0 - scores, scores),
        openings=openings,
        pair=numbered,
        faults=np.where(turned, -faults, faults),
        unearned=np.array(scale.unearned, np.bool_),
    )


def _list_matches(games: PoolColumns) -> Iterator[tuple[int, int]]:
    """Yield the matches as pairs of agents, the lower number first."""
    both = np.stack([np.minimum(games.first, games.second), np.maximum(games.first, games.second)])
    yield from np.unique(both, axis=1).T.tolist()


def _win_rates(
    scale: RatingPool, games: PoolColumns, one: int, other: int
) -> tuple[WinRate, WinRate]:
    """Return the win rates of one pair of agents from both sides."""
    as_first = np.flatnonzero((games.first == one) & (games.second == other))
    as_second = np.flatnonzero((games.first == other) & (games.second == one))
    row = _estimate_match(games, as_first, as_second)
    lost = np.concatenate([games.faults[as_first], -games.faults[as_second]])
    own, others = int((lost == 1).sum()), int((lost == -1).sum())
    counted = len(as_first) + len(as_second)
    mirrored = mirror_estimate(row)
    a, b = scale.names[one], scale.names[other]
    return (
        WinRate(a, b, counted, own, others, row, match_estimate_text(row)),
        WinRate(b, a, counted, others, own, mirrored, match_estimate_text(mirrored)),
    )


def _estimate_match(games: PoolColumns, as_first: Ints, as_second: Ints) -> MatchEstimate:
    """Estimate a match from its pairs if all games belong to pairs, else from single games."""
    for order in (games.pair, games.openings):
        one, other = (
            rows[np.argsort(order[rows], kind="stable")] for rows in (as_first, as_second)
        )
        whole = len(one) == len(other) and len(one) > 0 and order[one].min() >= 0
        alike = whole and np.array_equal(order[one], order[other])
        if alike and np.array_equal(games.openings[one], games.openings[other]):
            # The order of a run, so that the estimate is the same.
            again = np.argsort(np.minimum(one, other), kind="stable")
            one, other = one[again], other[again]
            scores = games.scores[one], 1.0 - games.scores[other]
            fair = (games.faults[one] == 0) & (games.faults[other] == 0)
            return estimate_match(games.openings[one], *scores, fair=fair)
    rows = np.concatenate([as_first, as_second])
    scored = np.concatenate([games.scores[as_first], 1.0 - games.scores[as_second]])
    return estimate_unpaired_games(games.openings[rows], scored)


def _sample_sizes(games: PoolColumns, agent: int) -> RatingBasis:
    """Return the sample sizes behind the rating of an agent."""
    as_first, as_second = games.first == agent, games.second == agent
    rows = np.flatnonzero(as_first | as_second)
    scores = np.where(as_first[rows], games.scores[rows], 1.0 - games.scores[rows])
    opponents = np.where(as_first[rows], games.second[rows], games.first[rows])
    apart = np.zeros(len(rows))
    # Remove differences between opponents, so that only the random error remains.
    for opponent in np.unique(opponents):
        met = opponents == opponent
        apart[met] = 0.5 + (scores[met] - scores[met].mean()) / 2.0
    # Both games of a pair are one observation.
    alone = games.pair[rows] < 0
    unit = np.where(alone, -1 - np.arange(len(rows)), games.pair[rows])
    _, place, observed = np.unique(unit, return_index=True, return_inverse=True)
    observed = observed.ravel()
    mean = np.bincount(observed, apart) / np.bincount(observed)
    effective = spread(games.openings[rows][place], mean).effective_pairs
    lost = np.where(as_first[rows], games.faults[rows], -games.faults[rows]) == 1
    openings = len(np.unique(games.openings[rows]))
    points = _tally_games(games, agent).points
    return RatingBasis(len(rows), points, len(rows), openings, effective, int(lost.sum()))


def rate_files(
    files: Sequence[Path],
    *,
    anchor: str | None = None,
    same: Sequence[str] = (),
    bootstrap: int = 200,
    seed: int = 0,
) -> tuple[ExternalGames, list[tuple[RatingPool, Standings]]]:
    """Read the files and rate the agents on each scale; the arguments are those of `rate`."""
    if bootstrap and not MIN_DRAWS <= bootstrap <= MOST_DRAWS:
        span = f"0 or from {MIN_DRAWS} to {MOST_DRAWS}"
        raise UserError(f"--bootstrap must be {span}, got {bootstrap}")
    given = read_games(files, same=same)
    try:
        fixed = None if anchor is None else parse_anchor(anchor, given.names)
    except AnchorError as error:
        raise UserError(f"--anchor {error}") from None
    plan, rated = RatingPlan(draws=bootstrap, seed=seed), []
    for scale in given.scales:
        own = plan
        if fixed is not None and fixed.name in scale.names:
            place = scale.names.index(fixed.name)
            own = replace(plan, anchor=place, anchor_elo=fixed.elo)
        rated.append((scale, rate_external_games(scale, own)))
    return given, rated
