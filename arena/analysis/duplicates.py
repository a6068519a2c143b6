"""Duplicate games, and agents that play identical games."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import IO, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agents.core import AgentSpec
from agents.registry import is_external, randomness_reason
from arena.planning.games import GameColumn, Games, fair_games
from games import Game
from games.kernels.splitmix import STRIDE, mixed

Flags = NDArray[np.bool_]
Keys = NDArray[np.uint64]
# Keys that are compared at once; more games are compared in shares, one after another.
KEYS_AT_ONCE = 1 << 19
HALF = np.uint64(32)
MIN_EQUAL_GAMES = 40  # equal games; with fewer, two strong agents may agree by chance
Moves = NDArray[np.int16]
# The games of an agent against an opponent by opening and seat.
OwnGames: TypeAlias = dict[tuple[int, int], Moves]
Pieces = Callable[[], Iterable[tuple[Games, Flags]]]


def repeat_keys(games: Games) -> Keys:
    """Return equal numbers for games with the same seats, opening and moves.

    Games with equal moves on two openings, of which one continues the other, are no repeats.
    """
    opening = mixed((games.opening.astype(np.uint64) + np.uint64(1)) * STRIDE)
    keys: Keys = games.game_id + (_seat_words(games.first, games.second) + opening)
    return keys


def duplicate_keys(games: Games) -> Keys:
    """Return equal numbers for duplicates: fair games of one match with the same moves.

    A forfeited game is no duplicate.
    """
    low, high = np.minimum(games.first, games.second), np.maximum(games.first, games.second)
    keys: Keys = games.game_id + _seat_words(low, high)
    unfair = ~fair_games(games)
    number = 2 * games.pair[unfair].astype(np.uint64) + games.leg[unfair].astype(np.uint64)
    keys[unfair] = mixed(mixed((number + np.uint64(1)) * STRIDE))
    return keys


def _seat_words(one: GameColumn, other: GameColumn) -> Keys:
    seats = one.astype(np.uint64) << np.uint64(16) | other.astype(np.uint64)
    return np.asarray((seats + np.uint64(1)) * STRIDE, np.uint64)


def count_distinct(games: Games) -> int:
    """Return the number of games that are no duplicates."""
    return len(np.unique(duplicate_keys(games)))


def flag_repeats(parts: Iterable[Games], keys: Callable[[Games], Keys]) -> Flags:
    """Return which games have the key of an earlier one; `parts` are all in schedule order."""
    with tempfile.SpooledTemporaryFile(max_size=8 * KEYS_AT_ONCE) as file:
        size = 0
        for part in parts:
            file.write(keys(part).tobytes())
            size += len(part)
        found = np.zeros(size, np.bool_)
        shares = -(-size // KEYS_AT_ONCE)
        for share in range(shares):
            _flag_share(file, found, share, shares)
        return found


def _flag_share(file: IO[bytes], found: Flags, share: int, shares: int) -> None:
    """Flag the repeats among the keys of a share, which is chosen by their upper halves."""
    known = np.empty(0, np.uint64)
    file.seek(0)
    for start in range(0, len(found), KEYS_AT_ONCE):
        keys = np.frombuffer(file.read(8 * KEYS_AT_ONCE), np.uint64)
        own = np.flatnonzero((keys >> HALF) * np.uint64(shares) >> HALF == share)
        new, first = np.unique(keys[own], return_index=True)
        seen = _contains(known, new)
        again = np.ones(len(own), np.bool_)
        again[first[~seen]] = False
        found[start + own[again]] = True
        known = np.sort(np.concatenate([known, new[~seen]]), kind="stable")


def _contains(ordered: Keys, keys: Keys) -> Flags:
    """Return which of the keys occur in `ordered`."""
    if not len(ordered):
        return np.zeros(len(keys), np.bool_)
    places = np.minimum(np.searchsorted(ordered, keys), len(ordered) - 1)
    return np.asarray(ordered[places] == keys)


class IdenticalPlay(NamedTuple):
    """Agents, by their places, that played identically in `games` games each.

    These are all fair games against `opponents` of the `common_opponents` of all of them.
    """

    agents: tuple[int, ...]
    games: int
    opponents: int
    common_opponents: int

    def text(self, names: Sequence[str]) -> str:
        """Return the finding and its basis in one line."""
        *others, last = (names[each] for each in self.agents)
        many = f"{self.opponents} opponent{'s' * (self.opponents != 1)}"
        left = self.common_opponents - self.opponents
        verbs = "varies or has" if left == 1 else "vary or have"
        more = f"; {left} more {verbs} no fair game" if left else ""
        return (
            f"{', '.join(others)} and {last} play identically "
            f"(the same moves in all {self.games:,} games of each against {many}{more})"
        )


class DuplicateAgentFinder:
    """Keeps a sum of hashes for every pair of agents: equal games have equal sums.

    A game counts with its opening and seat. Forfeited and unplayed games do not count. Built-in
    agents that use chance are not compared.
    """

    def __init__(self, specs: Sequence[AgentSpec]) -> None:
        self.deterministic = [randomness_reason(spec) is None for spec in specs]
        self.comparable = np.array(
            [sure or is_external(s) for sure, s in zip(self.deterministic, specs, strict=True)]
        )
        self.sums: dict[int, dict[int, tuple[int, int]]] = {}
        self.opponents: dict[int, set[int]] = {}

    def take(self, games: Games, repeat: Flags) -> None:
        """Take more games, of which some repeat earlier ones."""
        for own, other in (("first", "second"), ("second", "first")):
            pairs = games.columns[own].astype(np.int64) << 32 | games.columns[other]
            for pair in np.unique(pairs).tolist():
                self.opponents.setdefault(pair >> 32, set()).add(pair & 0xFFFFFFFF)
        rows = np.flatnonzero(self._is_comparable(games, repeat))
        opening = games.opening[rows].astype(np.uint64)
        for seat, (own, other) in enumerate((("first", "second"), ("second", "first"))):
            words = games.game_id[rows] ^ mixed((opening * np.uint64(2) + np.uint64(seat)) * STRIDE)
            self._add(games.columns[own][rows], games.columns[other][rows], mixed(words))

    def _is_comparable(self, games: Games, repeat: Flags) -> Flags:
        return np.asarray(
            ~repeat
            & fair_games(games)
            & self.comparable[games.first]
            & self.comparable[games.second]
        )

    def _add(self, own: NDArray[np.int16], other: NDArray[np.int16], words: Keys) -> None:
        pairs = own.astype(np.int64) << 32 | other.astype(np.int64)
        met, place, times = np.unique(pairs, return_inverse=True, return_counts=True)
        sums = np.zeros(len(met), np.uint64)
        np.add.at(sums, place.ravel(), words)
        for pair, total, count in zip(met.tolist(), sums.tolist(), times.tolist(), strict=True):
            agent = self.sums.setdefault(pair >> 32, {})
            before, games = agent.get(pair & 0xFFFFFFFF, (0, 0))
            agent[pair & 0xFFFFFFFF] = (before + total) % (1 << 64), games + count

    def identical_agents(self, game: Game, pieces: Pieces) -> tuple[IdenticalPlay, ...]:
        """Return the agents that play identically; `pieces` are all games taken, a second time.

        If moves are stored, the first difference between two games shows which side deviated:
        agents that did so differ, and an opponent that did so uses chance and is left out.
        Otherwise only built-in opponents count, if there are any.
        """
        close = list(self._candidate_pairs())
        if not close:
            return ()
        kept = self._collect_games({agent for pair in close for agent in pair}, pieces)
        equal: dict[tuple[int, int], IdenticalPlay] = {}
        for one, other in close:
            same = self._compare_sums(one, other) if kept is None else self._compare_moves(
                game, kept, one, other
            )  # fmt: skip
            if same is not None:
                equal[one, other] = same
        return tuple(_merge_pairs(equal))

    def _candidate_pairs(self) -> Iterator[tuple[int, int]]:
        """Yield the pairs of agents with equal games against some opponent."""
        for one, other in combinations(sorted(self.sums), 2):
            own, others = self.sums[one], self.sums[other]
            if any(others.get(opponent) == games for opponent, games in own.items()):
                yield one, other

    def _collect_games(
        self, agents: set[int], pieces: Pieces
    ) -> dict[int, dict[int, OwnGames]] | None:
        """Return the games of some agents by opponent; None if moves are not stored."""
        wanted = np.zeros(len(self.comparable), np.bool_)
        wanted[list(agents)] = True
        kept: dict[int, dict[int, OwnGames]] = {agent: {} for agent in agents}
        for games, repeat in pieces():
            if games.moves is None:
                return None
            ends = np.cumsum(games.plies)
            some = self._is_comparable(games, repeat) & (wanted[games.first] | wanted[games.second])
            for row in np.flatnonzero(some).tolist():
                moves = games.moves[ends[row] - games.plies[row] : ends[row]]
                opening, seats = int(games.opening[row]), (games.first[row], games.second[row])
                for seat, agent in enumerate(map(int, seats)):
                    if agent in agents:
                        own = kept[agent].setdefault(int(seats[1 - seat]), {})
                        own[opening, seat] = moves
        return kept

    def _common_opponents(self, one: int, other: int) -> set[int]:
        return (self.opponents[one] & self.opponents[other]) - {one, other}

    def _compare_moves(
        self, game: Game, kept: dict[int, dict[int, OwnGames]], one: int, other: int
    ) -> IdenticalPlay | None:
        """Compare two agents by their moves; None if they differ or have too few games."""
        games = opponents = 0
        for opponent in sorted(kept[one].keys() & kept[other].keys() - {one, other}):
            own, others = kept[one][opponent], kept[other][opponent]
            common = own.keys() & others.keys()
            different = [key for key in sorted(common) if not np.array_equal(own[key], others[key])]
            if not different:
                games, opponents = games + len(common), opponents + bool(common)
            elif any(
                deviating_seat(game, own[key], others[key]) == key[1] for key in different[:1]
            ):
                return None
        enough = games >= MIN_EQUAL_GAMES
        found = IdenticalPlay(
            (one, other), games, opponents, len(self._common_opponents(one, other))
        )
        return found if enough else None

    def _compare_sums(self, one: int, other: int) -> IdenticalPlay | None:
        """Compare two agents by their sums; None if they differ or have too few games."""
        common = sorted(self.sums[one].keys() & self.sums[other].keys() - {one, other})
        against = [each for each in common if self.deterministic[each]] or common
        games = sum(self.sums[one][each][1] for each in against)
        equal = all(self.sums[one][each] == self.sums[other][each] for each in against)
        found = IdenticalPlay(
            (one, other), games, len(against), len(self._common_opponents(one, other))
        )
        return found if equal and games >= MIN_EQUAL_GAMES else None


def deviating_seat(game: Game, one: Moves, other: Moves) -> int:
    """Return the seat that moved, or resigned, at the first difference of two games."""
    length = min(len(one), len(other))
    parted = np.flatnonzero(one[:length] != other[:length])
    position = game.start()
    for move in one[: int(parted[0]) if len(parted) else length].tolist():
        position = game.play(position, move)
    return position.mover


def _merge_pairs(equal: dict[tuple[int, int], IdenticalPlay]) -> Iterator[IdenticalPlay]:
    """Join pairs to groups in which all agents are equal to each other."""
    left = sorted({agent for pair in equal for agent in pair})
    while left:
        group = [left[0]]
        for each in left[1:]:
            if all((one, each) in equal for one in group):
                group.append(each)
        left = [each for each in left if each not in group]
        if len(group) > 1:
            found = [equal[pair] for pair in combinations(group, 2)]
            fewest = min(found, key=lambda each: each.games)
            yield fewest._replace(agents=tuple(group))
