"""A plan with its openings drawn: the pairs in order, their seeds, rounds as they become known."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.core import AgentSpec
from arena.planning.games import SCHEDULE_COLUMNS, GameColumn
from arena.planning.openings.openings import Openings, first_sides, moves_of
from arena.planning.openings.registry import make_openings
from arena.planning.plan import Plan
from arena.planning.rounds import Meeting, Participants, Tournament, TournamentStanding
from arena.planning.schedules.registry import start_tournament
from arena.planning.seeds import match_seed, pair_seeds
from games import Game

Matches = frozenset[tuple[int, int]]

# Matches take turns after this many pairs each, so that live standings cover all of them.
TURN_LENGTH = 256


class Block(NamedTuple):
    """A run of pairings of the same two agents on consecutive openings."""

    first: int  # id of its first pairing
    a: int
    b: int
    number: int  # of the match's pairings, the first of this run
    size: int

    def pieces(self, size: int) -> "Iterator[Block]":
        """The block cut into runs of at most `size`."""
        for at in range(0, self.size, size):
            yield self._replace(
                first=self.first + at, number=self.number + at, size=min(size, self.size - at)
            )


class PairOrder(NamedTuple):
    """All pairs of an experiment, numbered from 0 in the order in which they count.

    A pair is two games from one opening, sides swapped: in leg 0 agent `a` has side 0. Rounds
    are in `laid` as far as they are known.
    """

    seed: int
    game: str
    agents: tuple[str, ...]
    matches: tuple[tuple[int, int], ...]
    pairs: int
    keys: NDArray[np.uint64]  # of the openings; they are played in turn
    sides: NDArray[np.int8]  # to move after each opening
    fixed: frozenset[tuple[int, int]] = frozenset()  # matches with one game an opening
    laid: tuple[Block, ...] | None = None  # None: every match plays all its pairs

    @property
    def total(self) -> int:
        """The number of pairings."""
        if self.laid is not None:
            return self.laid[-1].first + self.laid[-1].size if self.laid else 0
        return self.pairs * len(self.matches)

    def with_round(self, meetings: Iterable[Meeting]) -> "PairOrder":
        """The pairings with one more round."""
        laid, at = list(self.laid or ()), self.total
        played: dict[tuple[int, int], int] = defaultdict(int)
        for block in laid:
            played[block.a, block.b] = block.number + block.size
        for a, b, size, opening in meetings:
            number = played[a, b] if opening is None else opening
            laid.append(Block(at, a, b, number, size))
            at += size
        return self._replace(laid=tuple(laid))

    def blocks_for_task(self, start: int, stop: int) -> tuple[Block, ...]:
        """Return the blocks that a task must carry: the plan alone does not have later rounds."""
        return () if self.laid is None else tuple(self.blocks(start, stop))

    def with_blocks(self, blocks: tuple[Block, ...]) -> "PairOrder":
        """The pairings that a task carries, if it carries any."""
        return self._replace(laid=blocks) if blocks else self

    @property
    def turn(self) -> int:
        """The number of consecutive pairs of a match: all, if it is the only match."""
        return TURN_LENGTH if len(self.matches) > 1 else self.pairs

    def blocks(self, start: int, stop: int) -> Iterator[Block]:
        """The runs that make up pairings `start` to `stop` - 1."""
        if self.laid is not None:
            yield from _between(self.laid, start, stop)
            return
        whole = self.turn * len(self.matches)
        while start < stop:
            match, number = (int(each[0]) for each in self.places(np.array([start])))
            turn = start // whole
            length = min(self.turn, self.pairs - turn * self.turn)
            ends = turn * whole + (match + 1) * length
            size = min(stop, ends) - start
            yield Block(start, *self.matches[match], number, size)
            start += size

    def places(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The match of every pairing, and its number within that match."""
        if self.laid is not None:
            return self._laid_places(self.laid, ids)
        if len(self.matches) == 1:
            return np.zeros_like(ids), ids
        turn, within = np.divmod(ids, self.turn * len(self.matches))
        length = np.minimum(self.turn, self.pairs - turn * self.turn)  # the last may be short
        match, offset = np.divmod(within, length)
        return match, turn * self.turn + offset

    def _laid_places(
        self, laid: tuple[Block, ...], ids: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        if len(ids) == 0:
            return ids, ids
        place = {match: at for at, match in enumerate(self.matches)}
        first = np.array([block.first for block in laid])
        at = np.searchsorted(first, ids, side="right") - 1
        match = np.array([place[block.a, block.b] for block in laid])
        number = np.array([block.number for block in laid])
        return match[at], number[at] + ids - first[at]

    def openings(self, block: Block) -> NDArray[np.int64]:
        """The place of the opening of every pairing of the block."""
        return np.arange(block.number, block.number + block.size) % len(self.keys)

    def repeats(self, block: Block) -> bool:
        """Return whether the block has duplicates of earlier games."""
        last = block.number + block.size
        return (block.a, block.b) in self.fixed and last > len(self.keys)

    def seeds(self, block: Block) -> NDArray[np.uint64]:
        """The seed of every pairing of the block."""
        match = block.a, block.b
        numbers = np.arange(block.number, block.number + block.size)
        return self._seeds(self._base(match), numbers, match in self.fixed)

    def columns(self, start: int, stop: int) -> dict[str, GameColumn]:
        """The schedule's columns for pairings `start` to `stop` - 1, two rows each."""
        ids = np.arange(start, stop)
        match, number = self.places(ids)
        # Of many matches a batch has a few.
        met, place = np.unique(match, return_inverse=True)
        known = [self.matches[each] for each in met.tolist()]
        bases = np.array([self._base(each) for each in known], np.uint64)[place]
        fixed = np.array([each in self.fixed for each in known], np.bool_)[place]
        seats = np.array(known, np.int16).reshape(-1, 2)[place]
        opening = number % len(self.keys)
        once: dict[str, GameColumn] = {
            "pair": ids,
            "opening": opening,
            "first_side": self.sides[opening],
            "seed": self._seeds(bases, number, fixed),
        }
        columns = {
            name: np.repeat(each.astype(SCHEDULE_COLUMNS[name]), 2) for name, each in once.items()
        }
        return columns | {
            "leg": np.tile(np.array([0, 1], np.int8), len(ids)),
            "first": seats.ravel(),
            "second": seats[:, ::-1].ravel(),
        }

    def _base(self, match: tuple[int, int]) -> np.uint64:
        return match_seed(self.seed, self.game, [self.agents[place] for place in match])

    def _seeds(
        self,
        base: np.uint64 | NDArray[np.uint64],
        numbers: NDArray[np.int64],
        fixed: bool | NDArray[np.bool_],
    ) -> NDArray[np.uint64]:
        """A new seed each time an opening is played; always the first where games are `fixed`."""
        turns, places = np.divmod(numbers, len(self.keys))
        return pair_seeds(base, self.keys[places], np.where(fixed, 0, turns))


def _between(laid: tuple[Block, ...], start: int, stop: int) -> Iterator[Block]:
    """The blocks that hold pairings `start` to `stop` - 1, cut to them."""
    at = bisect_right(laid, start, key=lambda block: block.first) - 1
    while start < stop:
        block = laid[at]
        skipped = start - block.first
        size = min(stop - start, block.size - skipped)
        yield block._replace(first=start, number=block.number + skipped, size=size)
        start, at = start + size, at + 1


@dataclass(frozen=True, slots=True, eq=False)
class DrawnPlan:
    """A plan with its openings and pairings: everything a worker needs."""

    plan: Plan
    of: Game
    openings: Openings
    pairings: PairOrder

    @property
    def specs(self) -> tuple[AgentSpec, ...]:
        """The agents' specs, by their places."""
        return tuple(self.plan.agents.values())

    @property
    def starts(self) -> Sequence[Sequence[int]]:
        """The openings in move numbers."""
        return [moves_of(self.of, slots) for slots in self.openings.slots]

    @property
    def census(self) -> list[tuple[str, str]]:
        """The pairs of agents without chance that play all openings there are."""
        pairings = self.pairings
        all_play = pairings.laid is None and pairings.pairs >= len(self.openings)
        if not (self.openings.finite and all_play):
            return []
        return self.without_chance

    @property
    def without_chance(self) -> list[tuple[str, str]]:
        """The pairs of agents known to leave nothing to chance."""
        pairings, names = self.pairings, self.plan.names
        return [(names[a], names[b]) for a, b in pairings.matches if (a, b) in pairings.fixed]


def make_schedule(
    plan: Plan, openings: Openings | None = None, fixed: Matches = frozenset()
) -> DrawnPlan:
    """The plan with its own openings, or with these; OpeningsError if there are too few.

    In `fixed` matches an opening always leads to the same game, whatever the seed. A schedule
    that goes by rounds has no pairing yet, and takes as many openings as there are.
    """
    of = plan.of
    if openings is None:
        spec = plan.openings if plan.rounds is None else replace(plan.openings, repeat=True)
        openings = make_openings(of, spec, plan.pairs, plan.seed)
    laid = None if plan.rounds is None else ()
    sides = first_sides(of, openings)
    pairings = PairOrder(
        plan.seed, of.name, plan.names, plan.matches, plan.pairs, openings.keys, sides, fixed, laid
    )
    return DrawnPlan(plan, of, openings, pairings)


class RoundTracker:
    """Takes results in schedule order, and adds the next round to a schedule by rounds.

    Rounds depend on complete rounds alone, so that batches, workers and interruptions
    do not change them. A schedule without rounds is complete from the start.
    """

    def __init__(self, drawn: DrawnPlan) -> None:
        """Nothing is played yet."""
        self.drawn, plan = drawn, drawn.plan
        self.stage: Tournament | None = None
        self._meetings: tuple[Meeting, ...] = ()
        self._points: list[NDArray[np.int8]] = []  # of the round that is played
        if plan.rounds is not None:
            # On an opening that two agents have played they show nothing new.
            most = min(plan.pairs, len(drawn.openings))
            self.stage = start_tournament(plan.rounds, Participants(plan.names, most))
            self._lay()

    @property
    def standing(self) -> TournamentStanding | None:
        """The standing of a schedule by rounds."""
        return None if self.stage is None else self.stage.standing

    @property
    def total(self) -> int:
        """The pairings that are known to be played."""
        return self.drawn.pairings.total

    def columns(self, start: int, stop: int) -> dict[str, GameColumn]:
        """The columns of the schedule for pairings `start` to `stop` - 1."""
        return self.drawn.pairings.columns(start, stop)

    def take(self, start: int, points: NDArray[np.int8]) -> None:
        """Take the points of the pairings from `start` on."""
        if self.stage is None:
            return
        self._points.append(points)
        if start + len(points) < self.total:
            return
        scores = np.concatenate(self._points)
        ends = np.cumsum([meeting.pairings for meeting in self._meetings])
        assert ends[-1] == len(scores)  # batches end where rounds do
        self.stage = self.stage.after(np.split(scores, ends[:-1]))
        self._lay()

    def follow(self, points: NDArray[np.int8]) -> None:
        """Take the points of all pairings that were played, as far as they make whole rounds."""
        at = 0
        while self.stage is not None and at < self.total <= len(points):
            end = self.total
            self.take(at, points[at:end])
            at = end

    def _lay(self) -> None:
        assert self.stage is not None
        self._meetings, self._points = tuple(self.stage.meetings), []
        pairings = self.drawn.pairings.with_round(self._meetings)
        self.drawn = replace(self.drawn, pairings=pairings)
