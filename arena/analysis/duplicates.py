"""Duplicate games, and agents that play identical games."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import IO, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agents.core import AgentSpec
from agents.registry import is_external, varies
from arena.planning.games import GameColumn, Games, fair_games
from games import Game
from games.kernels.splitmix import STRIDE, mixed

Flags = NDArray[np.bool_]
Words = NDArray[np.uint64]
# Numbers that are compared at once; more games are looked at in shares, one after another.
AT_ONCE = 1 << 19
HALF = np.uint64(32)
FEWEST = 40  # equal games: below that two agents may agree by playing well
Moves = NDArray[np.int16]
# The games of an agent against an opponent by opening and seat.
OwnGames: TypeAlias = dict[tuple[int, int], Moves]
Pieces = Callable[[], Iterable[tuple[Games, Flags]]]


def repeat_keys(games: Games) -> Words:
    """Return equal numbers for an opening that the same seats played again with the same moves.

    Games of equal moves on two openings, of which one continues the other, are no repeats.
    """
    opening = mixed((games.opening.astype(np.uint64) + np.uint64(1)) * STRIDE)
    keys: Words = games.game_id + (_seats(games.first, games.second) + opening)
    return keys


def duplicate_keys(games: Games) -> Words:
    """Return equal numbers for duplicates: fair games of one match with the same moves.

    A forfeited game is equal to no other.
    """
    low, high = np.minimum(games.first, games.second), np.maximum(games.first, games.second)
    keys: Words = games.game_id + _seats(low, high)
    unfair = ~fair_games(games)
    number = 2 * games.pair[unfair].astype(np.uint64) + games.leg[unfair].astype(np.uint64)
    keys[unfair] = mixed(mixed((number + np.uint64(1)) * STRIDE))
    return keys


def _seats(one: GameColumn, other: GameColumn) -> Words:
    seats = one.astype(np.uint64) << np.uint64(16) | other.astype(np.uint64)
    return np.asarray((seats + np.uint64(1)) * STRIDE, np.uint64)


def count_distinct(games: Games) -> int:
    """Return the number of games that are no duplicates."""
    return len(np.unique(duplicate_keys(games)))


def flag_known(parts: Iterable[Games], keys: Callable[[Games], Words]) -> Flags:
    """Return which games have the key of an earlier one; `parts` are all in schedule order."""
    with tempfile.SpooledTemporaryFile(max_size=8 * AT_ONCE) as file:
        size = 0
        for part in parts:
            file.write(keys(part).tobytes())
            size += len(part)
        found = np.zeros(size, np.bool_)
        shares = -(-size // AT_ONCE)
        for share in range(shares):
            _mark(file, found, share, shares)
        return found


def _mark(file: IO[bytes], found: Flags, share: int, shares: int) -> None:
    """Mark the repeats among the keys of a share, which is chosen by their upper halves."""
    known = np.empty(0, np.uint64)
    file.seek(0)
    for start in range(0, len(found), AT_ONCE):
        keys = np.frombuffer(file.read(8 * AT_ONCE), np.uint64)
        own = np.flatnonzero((keys >> HALF) * np.uint64(shares) >> HALF == share)
        new, first = np.unique(keys[own], return_index=True)
        seen = _among(known, new)
        again = np.ones(len(own), np.bool_)
        again[first[~seen]] = False
        found[start + own[again]] = True
        known = np.sort(np.concatenate([known, new[~seen]]), kind="stable")


def _among(ordered: Words, keys: Words) -> Flags:
    """Which of the keys are among these."""
    if not len(ordered):
        return np.zeros(len(keys), np.bool_)
    places = np.minimum(np.searchsorted(ordered, keys), len(ordered) - 1)
    return np.asarray(ordered[places] == keys)


class IdenticalPlay(NamedTuple):
    """Agents, by their places, that played identically in `games` games each.

    These are all fair games against so many `opponents`, of those whom all of them `met`.
    """

    agents: tuple[int, ...]
    games: int
    opponents: int
    met: int

    def text(self, names: Sequence[str]) -> str:
        """The finding in one line, and what it rests on."""
        *others, last = (names[each] for each in self.agents)
        many = f"{self.opponents} opponent{'s' * (self.opponents != 1)}"
        left = self.met - self.opponents
        verbs = "varies or has" if left == 1 else "vary or have"
        more = f"; {left} more {verbs} no fair game" if left else ""
        return (
            f"{', '.join(others)} and {last} play identically "
            f"(the same moves in all {self.games:,} games of each against {many}{more})"
        )


class DuplicateAgentFinder:
    """Takes games and keeps a sum for every pair of agents: equal games have equal sums.

    A game counts with its opening and seat. Forfeited games, and those that were never played,
    do not count. Agents of ours that vary are not compared, nor compared with.
    """

    def __init__(self, specs: Sequence[AgentSpec]) -> None:
        """No games yet."""
        self.sure = [varies(spec) is None for spec in specs]
        self.may = np.array(
            [sure or is_external(s) for sure, s in zip(self.sure, specs, strict=True)]
        )
        self.sums: dict[int, dict[int, tuple[int, int]]] = {}
        self.opponents: dict[int, set[int]] = {}

    def take(self, games: Games, repeat: Flags) -> None:
        """Take more games, of which some repeat earlier ones."""
        for own, other in (("first", "second"), ("second", "first")):
            pairs = games.columns[own].astype(np.int64) << 32 | games.columns[other]
            for pair in np.unique(pairs).tolist():
                self.opponents.setdefault(pair >> 32, set()).add(pair & 0xFFFFFFFF)
        rows = np.flatnonzero(self._counts(games, repeat))
        opening = games.opening[rows].astype(np.uint64)
        for seat, (own, other) in enumerate((("first", "second"), ("second", "first"))):
            words = games.game_id[rows] ^ mixed((opening * np.uint64(2) + np.uint64(seat)) * STRIDE)
            self._add(games.columns[own][rows], games.columns[other][rows], mixed(words))

    def _counts(self, games: Games, repeat: Flags) -> Flags:
        """Which games are compared."""
        return np.asarray(
            ~repeat & fair_games(games) & self.may[games.first] & self.may[games.second]
        )

    def _add(self, own: NDArray[np.int16], other: NDArray[np.int16], words: Words) -> None:
        pairs = own.astype(np.int64) << 32 | other.astype(np.int64)
        met, place, times = np.unique(pairs, return_inverse=True, return_counts=True)
        sums = np.zeros(len(met), np.uint64)
        np.add.at(sums, place.ravel(), words)
        for pair, total, count in zip(met.tolist(), sums.tolist(), times.tolist(), strict=True):
            agent = self.sums.setdefault(pair >> 32, {})
            before, games = agent.get(pair & 0xFFFFFFFF, (0, 0))
            agent[pair & 0xFFFFFFFF] = (before + total) % (1 << 64), games + count

    def found(self, of: Game, pieces: Pieces) -> tuple[IdenticalPlay, ...]:
        """The agents that play identically; `pieces` are all games that were taken, once more.

        Where moves were kept, two games that differ show which side changed: agents that did
        so differ, and an opponent that did so varies and is left out. Else opponents are left
        out unless they are ours, if there are such.
        """
        close = list(self._close())
        if not close:
            return ()
        kept = self._games_of({agent for pair in close for agent in pair}, pieces)
        equal: dict[tuple[int, int], IdenticalPlay] = {}
        for one, other in close:
            same = self._by_sums(one, other) if kept is None else self._by_moves(
                of, kept, one, other
            )  # fmt: skip
            if same is not None:
                equal[one, other] = same
        return tuple(_together(equal))

    def _close(self) -> Iterator[tuple[int, int]]:
        """Pairs of agents with equal games against some opponent."""
        for one, other in combinations(sorted(self.sums), 2):
            own, others = self.sums[one], self.sums[other]
            if any(others.get(opponent) == games for opponent, games in own.items()):
                yield one, other

    def _games_of(self, agents: set[int], pieces: Pieces) -> dict[int, dict[int, OwnGames]] | None:
        """The games of some agents by opponent; None if moves were not kept."""
        wanted = np.zeros(len(self.may), np.bool_)
        wanted[list(agents)] = True
        kept: dict[int, dict[int, OwnGames]] = {agent: {} for agent in agents}
        for games, repeat in pieces():
            if games.moves is None:
                return None
            ends = np.cumsum(games.plies)
            some = self._counts(games, repeat) & (wanted[games.first] | wanted[games.second])
            for row in np.flatnonzero(some).tolist():
                moves = games.moves[ends[row] - games.plies[row] : ends[row]]
                opening, seats = int(games.opening[row]), (games.first[row], games.second[row])
                for seat, agent in enumerate(map(int, seats)):
                    if agent in agents:
                        own = kept[agent].setdefault(int(seats[1 - seat]), {})
                        own[opening, seat] = moves
        return kept

    def _met(self, one: int, other: int) -> set[int]:
        """The opponents of both."""
        return (self.opponents[one] & self.opponents[other]) - {one, other}

    def _by_moves(
        self, of: Game, kept: dict[int, dict[int, OwnGames]], one: int, other: int
    ) -> IdenticalPlay | None:
        """The finding about two agents by their moves; None if they differ or have few games."""
        games = opponents = 0
        for opponent in sorted(kept[one].keys() & kept[other].keys() - {one, other}):
            own, others = kept[one][opponent], kept[other][opponent]
            common = own.keys() & others.keys()
            different = [key for key in sorted(common) if not np.array_equal(own[key], others[key])]
            if not different:
                games, opponents = games + len(common), opponents + bool(common)
            elif any(changed(of, own[key], others[key]) == key[1] for key in different[:1]):
                return None
        enough = games >= FEWEST
        found = IdenticalPlay((one, other), games, opponents, len(self._met(one, other)))
        return found if enough else None

    def _by_sums(self, one: int, other: int) -> IdenticalPlay | None:
        """The same where moves were not kept."""
        common = sorted(self.sums[one].keys() & self.sums[other].keys() - {one, other})
        against = [each for each in common if self.sure[each]] or common
        games = sum(self.sums[one][each][1] for each in against)
        equal = all(self.sums[one][each] == self.sums[other][each] for each in against)
        found = IdenticalPlay((one, other), games, len(against), len(self._met(one, other)))
        return found if equal and games >= FEWEST else None


def changed(of: Game, one: Moves, other: Moves) -> int:
    """The seat that moved, or resigned, where two games with one beginning part."""
    length = min(len(one), len(other))
    parted = np.flatnonzero(one[:length] != other[:length])
    position = of.start()
    for move in one[: int(parted[0]) if len(parted) else length].tolist():
        position = of.play(position, move)
    return position.mover


def _together(equal: dict[tuple[int, int], IdenticalPlay]) -> Iterator[IdenticalPlay]:
    """The pairs joined to groups in which each agent is equal to each other."""
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


def identical_play(found: Sequence[IdenticalPlay], names: Sequence[str]) -> tuple[str, ...]:
    """A line for each group of agents that play identically."""
    return tuple(each.text(names) for each in found)
