"""The searches of sowing games of up to seven holes, on the rows alone, without the pots."""

import numpy as np

from games.core import Game, Position
from games.kernels.context import RULES, Context
from games.kernels.jit import bound
from games.solving import sowing_search
from games.solving.generic import PlainQuestions, aligned, finished, most_of
from games.solving.solver import Answer, Bounds, Questions, SolverSettings
from games.solving.sowing_database import PACKED, Progress, database
from games.solving.sowing_endgames import (
    BEANS,
    CHILDREN_AT,
    MOST_NODES,
    NODES,
    PENALTY,
    RANKS_AT,
    STOPPED,
    Values,
    positions,
    ranks,
)
from games.solving.sowing_search import BUCKET, PLIES, WIDTH
from games.sowing.rules import MAJORITY, SETTLED, Rows

EXTRA_TURN_LEFT = 6  # found on kalah(6,4), (6,3) and (5,4): half and twice as much are worse
ENTRY = 2  # words
ROOMY = 8  # entries for each position there is: so two hardly ever want the same


class SowingQuestions:
    """Questions about rows without pots: the margin is the pots' difference plus what follows."""

    def __init__(
        self,
        of: Game,
        table_bits: int,
        beans: int | None,
        progress: Progress = lambda _: None,
        seconds: float | None = None,
    ) -> None:
        """`beans` are those of the database, which is built in about so many `seconds`.

        None: as many as are worth it, as long as it takes.
        """
        self.game, self.nodes = of, 0
        self.beans, self.progress, self.seconds = beans, progress, seconds
        self.kernels = bound(PACKED, sowing_search.of_packed)
        self.table = aligned(max(ENTRY << min(table_bits, most_bits(of)), int(BUCKET)))
        self.context = search_context(of)
        self.values: Values | None = None

    def prepare(self) -> None:
        """Open the database, or build it."""
        self.prepared()

    def prepared(self) -> Values:
        """The values of the database, which is opened or built if need be."""
        if self.values is None:
            rules = self.game.rules
            ctx, progress = self.context, self.progress
            self.values = database(ctx, rules, self.beans, progress, self.seconds)
            beans = 0
            while positions(rules.holes, beans) < self.values.size:
                beans += 1
            self.context[BEANS] = beans
        return self.values

    def forget(self) -> None:
        """Empty the table."""
        self.table.fill(0)

    def limits(self, position: Position) -> Bounds:
        """The pots' difference, with all beans left going to one side or the other."""
        if self.game.over(position):
            return finished(self.game, position)
        rows = self.game.plain(position)
        left, banked = sum(rows.own) + sum(rows.other), rows.own_pot - rows.other_pot
        return Bounds(banked - left, banked + left)

    def ask(self, position: Position, bound: int, nodes: int) -> Answer:
        """Look it up in the database, or search, starting from what the table knows."""
        values, ctx = self.prepared(), self.context
        rows: Rows = self.game.plain(position)
        banked = rows.own_pot - rows.other_pot
        own, other = self.game.family.pack(rows._replace(own_pot=0, other_pot=0))[:2]
        if sum(rows.own) + sum(rows.other) <= ctx[BEANS]:
            self.nodes += 1
            return banked + int(values[self.kernels.rank(ctx, own, other)])
        ctx[NODES], ctx[MOST_NODES], ctx[STOPPED] = 0, nodes, 0
        value = self.kernels.at_least(ctx, self.table, values, own, other, bound - banked, 0)
        self.nodes += int(ctx[NODES])
        return None if ctx[STOPPED] else banked + int(value)


def most_bits(of: Game) -> int:
    """How large a table may be useful: a small board's is filled with zeros in no time."""
    rules = of.rules
    return (ROOMY * positions(rules.holes, 2 * rules.holes * rules.beans)).bit_length()


def search_context(of: Game) -> Context:
    """The rules without a majority that ends the game, the ranks, and the lists of moves."""
    rules, counts = of.context, ranks(of.rules.holes)
    ctx = np.zeros(len(rules) + len(counts) + int(WIDTH) * PLIES, np.int64)
    ctx[: len(rules)] = rules
    ctx[RULES + MAJORITY] = 0
    ctx[RANKS_AT] = len(rules)
    ctx[len(rules) : len(rules) + len(counts)] = counts
    ctx[CHILDREN_AT] = len(rules) + len(counts)
    ctx[PENALTY] = 0 if of.rules.extra_turn == "no" else EXTRA_TURN_LEFT
    return ctx


class MajorityQuestions:
    """Games that end when a pot holds more than half: who wins is the same without that rule.

    The margin is not: it depends on the pots, so only a search on whole states finds it.
    """

    def __init__(self, of: Game, without: Questions, table_bits: int) -> None:
        """`without` are the questions of the same game without that rule."""
        self.without, self.plain = without, PlainQuestions(of, table_bits)

    @property
    def nodes(self) -> int:
        """The nodes of both searches."""
        return self.without.nodes + self.plain.nodes

    def prepare(self) -> None:
        """Open or build the database."""
        self.without.prepare()

    def forget(self) -> None:
        """Empty the table."""
        self.without.forget()
        self.plain.forget()

    def limits(self, position: Position) -> Bounds:
        """All beans."""
        return self.plain.limits(position)

    def ask(self, position: Position, bound: int, nodes: int) -> Answer:
        """Who wins, by the game without the rule; any other margin by a search on whole states."""
        if bound not in (0, 1):
            return self.plain.ask(position, bound, nodes)
        answer = self.without.ask(position, bound, nodes)
        return None if answer is None else max(-1, min(1, answer))


class PhasedQuestions:
    """Games whose first turn has its own rules; other questions answer for what follows."""

    def __init__(self, of: Game, settled: Questions) -> None:
        """`settled` are the questions of positions whose phase is over."""
        self.game, self.settled, self._nodes = of, settled, 0

    @property
    def nodes(self) -> int:
        """The nodes of both, including the first turn."""
        return self.settled.nodes + self._nodes

    def prepare(self) -> None:
        """Open or build the database."""
        self.settled.prepare()

    def forget(self) -> None:
        """Empty the table."""
        self.settled.forget()

    def limits(self, position: Position) -> Bounds:
        """All beans."""
        return self.settled.limits(position)

    def ask(self, position: Position, bound: int, nodes: int) -> Answer:
        """Play every move of the first turn and ask what follows."""
        of, best = self.game, -most_of(self.game, position)
        if int(position.state.phase) == SETTLED and not of.over(position):
            return self.settled.ask(position, bound, nodes)
        if of.over(position):
            return finished(of, position).low
        self._nodes += 1
        last = self.nodes + nodes - 1
        for move in of.legal(position):
            child = of.play(position, move)
            same = child.mover == position.mover
            answer = self.ask(child, bound if same else 1 - bound, last - self.nodes)
            if answer is None:
                return None
            best = max(best, answer if same else -answer)
            if best >= bound:
                break
        return best


def sowing_questions(of: Game, settings: SolverSettings, progress: Progress) -> Questions:
    """The questions that fit the rules of a game of up to seven holes."""
    bits, beans, seconds = settings.table_bits, settings.database_beans, settings.database_seconds
    questions: Questions = SowingQuestions(of, bits, beans, progress, seconds)
    if of.rules.majority_ends == "yes":
        questions = MajorityQuestions(of, questions, bits)
    return PhasedQuestions(of, questions) if of.rules.phased else questions
