"""A knockout: who loses a tie is out; a format, not a proof."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from arena.planning.rounds import IN, OUT, Entrants, Meeting, Points, Row, TournamentStanding
from arena.planning.schedules.race import QUARTERS, beaten, everybody, no_faults, out_of
from games.base.schema import Key, KeyValues

KEYS = (Key("knockout", "int", "how many pairings a tie has", 1, low=1, high=10_000),)
WORD = True
EXAMPLES = ('"knockout"',)
NOTE = (
    "a format for fun: the winner of a knockout is not shown to be the best; for that: "
    "schedule = { best = 1 }"
)
MOST_REPLAYS = 10  # of a tie that stays level, before the agent that stands first goes on
faults, matches = no_faults, everybody


@dataclass(frozen=True)
class Tie:
    """Two agents of which one goes on; `counts` are its pairings by the score of `a`."""

    a: int
    b: int
    counts: tuple[int, ...] = (0,) * (QUARTERS + 1)
    replays: int = 0

    @property
    def ahead(self) -> int:
        """Quarter points by which `a` is ahead."""
        return sum(n * (2 * place - QUARTERS) for place, n in enumerate(self.counts))

    @property
    def open(self) -> bool:
        """Whether it has to be played, or once more."""
        return not any(self.counts) or (self.ahead == 0 and self.replays < MOST_REPLAYS)

    def with_points(self, points: Points) -> "Tie":
        """The tie after more pairings."""
        counts = list(self.counts)
        for each in points.tolist():
            counts[each] += 1
        return replace(self, counts=tuple(counts), replays=self.replays + any(self.counts))


@dataclass(frozen=True)
class Knockout:
    """The tournament: the bracket of those who are in, the ties of the round that is played."""

    names: Sequence[str]
    size: int
    bracket: tuple[int | None, ...]  # neighbours meet; nobody: the other one goes on
    ties: tuple[Tie, ...]
    rounds: int = 0  # that are finished
    used: int = 0  # openings
    out: tuple[Row, ...] = ()  # the latest first

    @cached_property
    def meetings(self) -> tuple[Meeting, ...]:
        """All ties of the round, then once more those that are level."""
        return tuple(
            Meeting(tie.a, tie.b, 1 if any(tie.counts) else self.size, self.used)
            for tie in self.ties
            if tie.open
        )

    def after(self, points: Sequence[Points]) -> "Knockout":
        """The tournament after the next meetings."""
        taken = iter(points)
        ties = tuple(tie.with_points(next(taken)) if tie.open else tie for tie in self.ties)
        used = self.used + max(meeting.pairings for meeting in self.meetings)
        played = replace(self, ties=ties, used=used)
        return played if any(tie.open for tie in ties) else played._next_round()

    def _next_round(self) -> "Knockout":
        losers = [self._loser(tie) for tie in self.ties]
        gone = {row.agent for row in losers}
        pairs = zip(self.bracket[0::2], self.bracket[1::2], strict=True)
        bracket = tuple(b if a is None or a in gone else a for a, b in pairs)
        return replace(
            self,
            bracket=bracket,
            ties=ties_of(bracket),
            rounds=self.rounds + 1,
            out=(*losers, *self.out),
        )

    def _loser(self, tie: Tie) -> Row:
        """The row of the agent that is out; of equals the one that stands later in the file."""
        winner, loser = (tie.a, tie.b) if tie.ahead >= 0 else (tie.b, tie.a)
        counts = tie.counts if winner == tie.a else tie.counts[::-1]
        why = beaten(self.names[winner], counts)
        if tie.ahead == 0:
            why += ", and stands before it in the file"
        return Row(loser, OUT, why, None, self.rounds + 1, winner, counts)

    @property
    def standing(self) -> TournamentStanding:
        """Who is in, and by whom the others were beaten."""
        inside = [agent for agent in self.bracket if agent is not None]
        over = len(inside) == 1
        rows = [Row(agent, IN, "") for agent in inside]
        answer = f"{len(inside)} of {len(self.names)} are still in"
        if over:
            rows = [Row(inside[0], "winner", "won all of its ties", 1)]
            answer = f"winner: {self.names[inside[0]]} after {out_of(self.rounds)}"
        return TournamentStanding(
            "knockout", self.rounds, over, (*rows, *self.out), answer, (NOTE,)
        )


def ties_of(bracket: Sequence[int | None]) -> tuple[Tie, ...]:
    """The ties of neighbours."""
    pairs = zip(bracket[0::2], bracket[1::2], strict=False)
    return tuple(Tie(min(a, b), max(a, b)) for a, b in pairs if a is not None and b is not None)


def seeded(agents: int) -> list[int | None]:
    """The usual bracket: the first two of the file meet in the last round at the earliest."""
    order = [0]
    while len(order) < agents:
        whole = 2 * len(order) - 1
        order = [place for seed in order for place in (seed, whole - seed)]
    return [place if place < agents else None for place in order]


def begin(values: KeyValues, entrants: Entrants) -> Knockout:
    """The tournament before its first round."""
    bracket = tuple(seeded(len(entrants.names)))
    size = min(values["knockout"], entrants.limit)
    return Knockout(entrants.names, size, bracket, ties_of(bracket))
