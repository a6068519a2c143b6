"""Which agents play the same games against the same opponents: one player under two names."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents import AgentSpec, outside, varies
from arena.planning.records import Games
from games.kernels.splitmix import STRIDE, mixed

FEWEST = 40  # equal games: below that two players may agree by playing well
Words = NDArray[np.uint64]


class SamePlayers(NamedTuple):
    """Agents, by their places, all of whose games against so many opponents are equal."""

    agents: tuple[int, ...]
    games: int
    opponents: int

    def text(self, names: Sequence[str]) -> str:
        """The finding in one line."""
        *others, last = (names[each] for each in self.agents)
        own = f"{', '.join(others)} and {last}"
        many = f"{self.opponents} opponent{'s' * (self.opponents != 1)}"
        return f"{own}: the same player (all {self.games:,} games of each against {many} are equal)"


class SameGames:
    """Takes games and keeps a sum for every pair of agents: equal games have equal sums.

    A game counts with its opening and seat. Who leaves something to chance is not compared, nor
    compared with: equal games would be luck, others no proof.
    """

    def __init__(self, specs: Sequence[AgentSpec]) -> None:
        """No games yet."""
        self.sure = [varies(spec) is None for spec in specs]
        self.may = np.array([sure or outside(s) for sure, s in zip(self.sure, specs, strict=True)])
        self.sums: dict[int, dict[int, tuple[int, int]]] = {}

    def take(self, games: Games, repeat: NDArray[np.bool_]) -> None:
        """Take more games, of which some repeat earlier ones."""
        rows = np.flatnonzero(~repeat & self.may[games.first] & self.may[games.second])
        opening = games.opening[rows].astype(np.uint64)
        for seat, (own, other) in enumerate((("first", "second"), ("second", "first"))):
            words = games.game_id[rows] ^ mixed((opening * np.uint64(2) + np.uint64(seat)) * STRIDE)
            self._add(games.columns[own][rows], games.columns[other][rows], mixed(words))

    def _add(self, own: NDArray[np.int16], other: NDArray[np.int16], words: Words) -> None:
        pairs = own.astype(np.int64) << 32 | other.astype(np.int64)
        met, place, times = np.unique(pairs, return_inverse=True, return_counts=True)
        sums = np.zeros(len(met), np.uint64)
        np.add.at(sums, place.ravel(), words)
        for pair, total, count in zip(met.tolist(), sums.tolist(), times.tolist(), strict=True):
            agent = self.sums.setdefault(pair >> 32, {})
            before, games = agent.get(pair & 0xFFFFFFFF, (0, 0))
            agent[pair & 0xFFFFFFFF] = (before + total) % (1 << 64), games + count

    def found(self) -> tuple[SamePlayers, ...]:
        """The agents that are one player, two or more of them together."""
        leader: dict[int, SamePlayers] = {}
        for first, second in self._alike():
            if same := self._compared(first, second):
                before = leader.get(first, SamePlayers((first,), same.games, same.opponents))
                merged = tuple(sorted({*before.agents, second}))
                both = before._replace(
                    agents=merged,
                    games=min(before.games, same.games),
                    opponents=min(before.opponents, same.opponents),
                )
                leader |= dict.fromkeys(merged, both)
        return tuple(dict.fromkeys(leader[each] for each in sorted(leader)))

    def _alike(self) -> Iterator[tuple[int, int]]:
        """Pairs of agents with equal games against some opponent, each with the first of them."""
        first: dict[tuple[int, tuple[int, int]], int] = {}
        seen: set[tuple[int, int]] = set()
        for agent in sorted(self.sums):
            for opponent, games in self.sums[agent].items():
                pair = first.setdefault((opponent, games), agent), agent
                if pair[0] != agent and pair not in seen:
                    seen.add(pair)
                    yield pair

    def _compared(self, one: int, other: int) -> SamePlayers | None:
        """The finding about two agents; None if they differ or have too few games in common."""
        met = self.sums[one].keys() & self.sums[other].keys()
        common = sorted(met - {one, other})
        against = [each for each in common if self.sure[each]] or common
        games = sum(self.sums[one][each][1] for each in against)
        equal = all(self.sums[one][each] == self.sums[other][each] for each in against)
        return SamePlayers((one, other), games, len(against)) if equal and games >= FEWEST else None


def same_players(found: Sequence[SamePlayers], names: Sequence[str]) -> tuple[str, ...]:
    """A line for each player with several names."""
    return tuple(each.text(names) for each in found)
