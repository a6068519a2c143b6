"""A plan with its openings: its pairs in order, their seeds, and rounds as they become known."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.core import AgentSpec
from arena.planning.games import SCHEDULE_COLUMNS, GameColumn
from arena.planning.openings.openings import Openings, first_sides, opening_moves
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
    """Consecutive pairs of the same two agents on consecutive openings."""

    first: int  # id of its first pair
    a: int
    b: int
    number: int  # of its first pair within the match
    size: int

    def split(self, size: int) -> "Iterator[Block]":
        """Yield the block in parts of at most `size` pairs."""
        for at in range(0, self.size, size):
            yield self._replace(
                first=self.first + at, number=self.number + at, size=min(size, self.size - at)
            )


class PairOrder(NamedTuple):
    """All pairs of an experiment, numbered from 0 in the order in which they count.

    A pair is two games from one opening with swapped sides: in leg 0 agent `a` has side 0.
    """

    seed: int
    game: str
    agents: tuple[str, ...]
    matches: tuple[tuple[int, int], ...]
    pairs_per_match: int
    opening_keys: NDArray[np.uint64]  # openings are played in turn
    opening_sides: NDArray[np.int8]  # to move after each opening
    deterministic: Matches = frozenset()  # matches in which an opening leads to one game
    # The blocks of all known rounds; None: every match plays all its pairs.
    round_blocks: tuple[Block, ...] | None = None

    @property
    def total(self) -> int:
        """The number of pairs that are known so far."""
        if self.round_blocks is not None:
            return (
                self.round_blocks[-1].first + self.round_blocks[-1].size if self.round_blocks else 0
            )
        return self.pairs_per_match * len(self.matches)

    def with_round(self, meetings: Iterable[Meeting]) -> "PairOrder":
        """Return the pairs with one more round."""
        blocks, at = list(self.round_blocks or ()), self.total
        next_number = {(block.a, block.b): block.number + block.size for block in blocks}
        for a, b, size, opening in meetings:
            number = next_number.get((a, b), 0) if opening is None else opening
            blocks.append(Block(at, a, b, number, size))
            at += size
        return self._replace(round_blocks=tuple(blocks))

    def blocks_for_task(self, start: int, stop: int) -> tuple[Block, ...]:
        """Return the blocks that a task must carry: the plan alone does not have later rounds."""
        return () if self.round_blocks is None else tuple(self.blocks(start, stop))

    def with_blocks(self, blocks: tuple[Block, ...]) -> "PairOrder":
        """Return the pairs that a task carries, if it carries any."""
        return self._replace(round_blocks=blocks) if blocks else self

    @property
    def turn_length(self) -> int:
        """The number of consecutive pairs of a match: all, if it is the only match."""
        return TURN_LENGTH if len(self.matches) > 1 else self.pairs_per_match

    def blocks(self, start: int, stop: int) -> Iterator[Block]:
        """Yield the blocks that make up pairs `start` to `stop` - 1."""
        if self.round_blocks is not None:
            yield from _slice_blocks(self.round_blocks, start, stop)
            return
        whole = self.turn_length * len(self.matches)
        while start < stop:
            match, number = (int(each[0]) for each in self.locate(np.array([start])))
            turn = start // whole
            length = min(self.turn_length, self.pairs_per_match - turn * self.turn_length)
            end = turn * whole + (match + 1) * length
            size = min(stop, end) - start
            yield Block(start, *self.matches[match], number, size)
            start += size

    def locate(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the match of every pair, and its number within that match."""
        if self.round_blocks is not None:
            return self._locate_in_rounds(self.round_blocks, ids)
        if len(self.matches) == 1:
            return np.zeros_like(ids), ids
        turn, within = np.divmod(ids, self.turn_length * len(self.matches))
        # The last turn may be short.
        length = np.minimum(self.turn_length, self.pairs_per_match - turn * self.turn_length)
        match, offset = np.divmod(within, length)
        return match, turn * self.turn_length + offset

    def _locate_in_rounds(
        self, blocks: tuple[Block, ...], ids: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        if len(ids) == 0:
            return ids, ids
        place = {match: at for at, match in enumerate(self.matches)}
        first = np.array([block.first for block in blocks])
        at = np.searchsorted(first, ids, side="right") - 1
        match = np.array([place[block.a, block.b] for block in blocks])
        number = np.array([block.number for block in blocks])
        return match[at], number[at] + ids - first[at]

    def opening_numbers(self, block: Block) -> NDArray[np.int64]:
        """Return the opening of every pair of the block."""
        return np.arange(block.number, block.number + block.size) % len(self.opening_keys)

    def has_duplicates(self, block: Block) -> bool:
        """Return whether the block has duplicates of earlier games."""
        last = block.number + block.size
        return (block.a, block.b) in self.deterministic and last > len(self.opening_keys)

    def seeds(self, block: Block) -> NDArray[np.uint64]:
        """Return the seed of every pair of the block."""
        match = block.a, block.b
        numbers = np.arange(block.number, block.number + block.size)
        return self._seeds(self._match_seed(match), numbers, match in self.deterministic)

    def columns(self, start: int, stop: int) -> dict[str, GameColumn]:
        """Return the schedule's columns for pairs `start` to `stop` - 1, two rows each."""
        ids = np.arange(start, stop)
        match, number = self.locate(ids)
        # Facts of a match are computed once: a batch has pairs of few matches.
        places, at = np.unique(match, return_inverse=True)
        matches = [self.matches[each] for each in places.tolist()]
        base = np.array([self._match_seed(each) for each in matches], np.uint64)[at]
        deterministic = np.array([each in self.deterministic for each in matches], np.bool_)[at]
        seats = np.array(matches, np.int16).reshape(-1, 2)[at]
        opening = number % len(self.opening_keys)
        once: dict[str, GameColumn] = {
            "pair": ids,
            "opening": opening,
            "first_side": self.opening_sides[opening],
            "seed": self._seeds(base, number, deterministic),
        }
        columns = {
            name: np.repeat(each.astype(SCHEDULE_COLUMNS[name]), 2) for name, each in once.items()
        }
        return columns | {
            "leg": np.tile(np.array([0, 1], np.int8), len(ids)),
            "first": seats.ravel(),
            "second": seats[:, ::-1].ravel(),
        }

    def _match_seed(self, match: tuple[int, int]) -> np.uint64:
        return match_seed(self.seed, self.game, [self.agents[place] for place in match])

    def _seeds(
        self,
        base: np.uint64 | NDArray[np.uint64],
        numbers: NDArray[np.int64],
        deterministic: bool | NDArray[np.bool_],
    ) -> NDArray[np.uint64]:
        """Return a new seed each time an opening is played; always the first if `deterministic`."""
        turns, places = np.divmod(numbers, len(self.opening_keys))
        return pair_seeds(base, self.opening_keys[places], np.where(deterministic, 0, turns))


def _slice_blocks(blocks: tuple[Block, ...], start: int, stop: int) -> Iterator[Block]:
    at = bisect_right(blocks, start, key=lambda block: block.first) - 1
    while start < stop:
        block = blocks[at]
        skipped = start - block.first
        size = min(stop - start, block.size - skipped)
        yield block._replace(first=start, number=block.number + skipped, size=size)
        start, at = start + size, at + 1


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """A plan with its openings and pairs: everything that a worker needs."""

    plan: Plan
    game: Game
    openings: Openings
    pairs: PairOrder

    @property
    def specs(self) -> tuple[AgentSpec, ...]:
        """The agents' specs, by their places."""
        return tuple(self.plan.agents.values())

    @property
    def opening_lines(self) -> Sequence[Sequence[int]]:
        """The openings in move numbers."""
        return [opening_moves(self.game, slots) for slots in self.openings.slots]

    @property
    def census(self) -> list[tuple[str, str]]:
        """The matches without chance that play all openings there are, by the agents' names."""
        pairs = self.pairs
        play_all = pairs.round_blocks is None and pairs.pairs_per_match >= len(self.openings)
        return self.deterministic_matches if self.openings.finite and play_all else []

    @property
    def deterministic_matches(self) -> list[tuple[str, str]]:
        """The matches in which an opening always leads to the same game, by the agents' names."""
        pairs, names = self.pairs, self.plan.names
        return [(names[a], names[b]) for a, b in pairs.matches if (a, b) in pairs.deterministic]


def make_schedule(
    plan: Plan, openings: Openings | None = None, deterministic: Matches = frozenset()
) -> Schedule:
    """Return the plan with its own openings, or with these; OpeningsError if there are too few.

    In `deterministic` matches an opening always leads to the same game, whatever the seed. A
    schedule by rounds has no pairs yet, and takes as many openings as there are.
    """
    game = plan.game
    if openings is None:
        spec = plan.openings if plan.rounds is None else replace(plan.openings, repeat=True)
        openings = make_openings(game, spec, plan.pairs, plan.seed)
    pairs = PairOrder(
        plan.seed,
        game.name,
        plan.names,
        plan.matches,
        plan.pairs,
        openings.keys,
        first_sides(game, openings),
        deterministic,
        None if plan.rounds is None else (),
    )
    return Schedule(plan, game, openings, pairs)


class RoundTracker:
    """Takes results in schedule order, and adds the next round to a schedule by rounds.

    A round depends only on the complete rounds before it, so batches, workers and interruptions do
    not change it. A schedule without rounds is complete from the start.
    """

    def __init__(self, schedule: Schedule) -> None:
        self.schedule, plan = schedule, schedule.plan
        self.tournament: Tournament | None = None
        self._meetings: tuple[Meeting, ...] = ()
        self._points: list[NDArray[np.int8]] = []  # of the current round
        if plan.rounds is not None:
            # Two agents that play an opening again show nothing new.
            most = min(plan.pairs, len(schedule.openings))
            self.tournament = start_tournament(plan.rounds, Participants(plan.names, most))
            self._add_round(self.tournament)

    @property
    def standing(self) -> TournamentStanding | None:
        """The standing of a schedule by rounds."""
        return None if self.tournament is None else self.tournament.standing

    @property
    def total(self) -> int:
        """The number of pairs that are known so far."""
        return self.schedule.pairs.total

    def columns(self, start: int, stop: int) -> dict[str, GameColumn]:
        """Return the schedule's columns for pairs `start` to `stop` - 1."""
        return self.schedule.pairs.columns(start, stop)

    def add_points(self, start: int, points: NDArray[np.int8]) -> None:
        """Add the points of the pairs from `start` on."""
        if self.tournament is None:
            return
        self._points.append(points)
        if start + len(points) < self.total:
            return
        scores = np.concatenate(self._points)
        ends = np.cumsum([meeting.pairs for meeting in self._meetings])
        assert ends[-1] == len(scores)  # batches end where rounds do
        self.tournament = self.tournament.after_round(np.split(scores, ends[:-1]))
        self._add_round(self.tournament)

    def add_all_points(self, points: NDArray[np.int8]) -> None:
        """Add the points of all pairs that were played, as far as they make complete rounds."""
        at = 0
        while self.tournament is not None and at < self.total <= len(points):
            end = self.total
            self.add_points(at, points[at:end])
            at = end

    def _add_round(self, tournament: Tournament) -> None:
        self._meetings, self._points = tuple(tournament.meetings), []
        pairs = self.schedule.pairs.with_round(self._meetings)
        self.schedule = replace(self.schedule, pairs=pairs)
