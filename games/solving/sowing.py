"""Searches for sowing games of up to seven holes, one for each kind of rules."""

import numpy as np

from games.core import Game, Position
from games.kernels.context import RULES, Context
from games.kernels.jit import family_kernels
from games.solving import sowing_search
from games.solving.generic import cache_line_zeros, final_bounds, generic_search, max_margin
from games.solving.solver import Answer, Bounds, Search, SolverSettings
from games.solving.sowing_database import (
    BEANS,
    CHILDREN_AT,
    MOST_NODES,
    NODES,
    PACKED,
    PENALTY,
    RANKS_AT,
    STOPPED,
    Progress,
    Values,
    load_or_build,
    position_count,
    rank_table,
)
from games.solving.sowing_search import BUCKET, PLIES, WIDTH
from games.sowing.rules import MAJORITY, SETTLED, Rows

EXTRA_TURN_LEFT = 6  # tuned on kalah(6,4), (6,3) and (5,4): half and twice as much are worse
ENTRY = 2  # words
ENTRIES_PER_POSITION = 8  # table entries per possible position, so that collisions are rare


class SowingSearch:
    """A search that ignores the pots: a margin is their difference plus the future gain."""

    def __init__(
        self,
        game: Game,
        table_bits: int,
        beans: int | None,
        progress: Progress = lambda _: None,
        seconds: float | None = None,
    ) -> None:
        """Use a database of `beans` beans, built in about `seconds`.

        None means the best size, and no limit of time.
        """
        self.game, self.nodes = game, 0
        self.beans, self.progress, self.seconds = beans, progress, seconds
        self.kernels = family_kernels(PACKED, sowing_search.bind_search)
        self.table = cache_line_zeros(
            max(ENTRY << min(table_bits, max_table_bits(game)), int(BUCKET))
        )
        self.context = search_context(game)
        self.values: Values | None = None

    def prepare(self) -> None:
        """Open or build the database."""
        self.load_values()

    def load_values(self) -> Values:
        """Return the values of the database; open or build it at the first call."""
        if self.values is None:
            rules = self.game.rules
            ctx, progress = self.context, self.progress
            self.values = load_or_build(ctx, rules, self.beans, progress, self.seconds)
            beans = 0
            while position_count(rules.holes, beans) < self.values.size:
                beans += 1
            self.context[BEANS] = beans
        return self.values

    def clear(self) -> None:
        """Empty the table."""
        self.table.fill(0)

    def limits(self, position: Position) -> Bounds:
        """Return the margins at which all beans in play go to the opponent or to the mover."""
        if self.game.over(position):
            return final_bounds(self.game, position)
        rows = self.game.plain(position)
        left, banked = sum(rows.own) + sum(rows.other), rows.own_pot - rows.other_pot
        return Bounds(banked - left, banked + left)

    def bound_margin(self, position: Position, bound: int, nodes: int) -> Answer:
        """Look the position up in the database, or search with the results in the table."""
        values, ctx = self.load_values(), self.context
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


def max_table_bits(game: Game) -> int:
    """Return the largest useful table size, so that tables of small boards are fast to clear."""
    rules = game.rules
    return (
        ENTRIES_PER_POSITION * position_count(rules.holes, 2 * rules.holes * rules.beans)
    ).bit_length()


def search_context(game: Game) -> Context:
    """Return the rules without the majority rule, the ranks, and space for move lists."""
    rules, counts = game.context, rank_table(game.rules.holes)
    ctx = np.zeros(len(rules) + len(counts) + int(WIDTH) * PLIES, np.int64)
    ctx[: len(rules)] = rules
    ctx[RULES + MAJORITY] = 0
    ctx[RANKS_AT] = len(rules)
    ctx[len(rules) : len(rules) + len(counts)] = counts
    ctx[CHILDREN_AT] = len(rules) + len(counts)
    ctx[PENALTY] = 0 if game.rules.extra_turn == "no" else EXTRA_TURN_LEFT
    return ctx


class WrappedSearch:
    """A search that delegates to another search."""

    def __init__(self, game: Game, inner: Search) -> None:
        self.game, self.inner, self.more_nodes = game, inner, 0

    @property
    def nodes(self) -> int:
        """Return the nodes of both searches."""
        return self.inner.nodes + self.more_nodes

    def prepare(self) -> None:
        """Open or build the database."""
        self.inner.prepare()

    def clear(self) -> None:
        """Empty the table."""
        self.inner.clear()

    def limits(self, position: Position) -> Bounds:
        """Return the limits of the inner search."""
        return self.inner.limits(position)


class MajoritySearch(WrappedSearch):
    """A search for games that end when a pot holds more than half of the beans.

    The rule does not change the winner, so the search without it decides outcomes. It changes
    margins, because they depend on the pots; those need a search of whole states.
    """

    def __init__(self, game: Game, inner: Search, table_bits: int) -> None:
        super().__init__(game, inner)
        self.plain = generic_search(game, table_bits)

    def clear(self) -> None:
        """Empty the tables."""
        super().clear()
        self.plain.clear()

    def limits(self, position: Position) -> Bounds:
        """Return bounds from all beans."""
        return self.plain.limits(position)

    def bound_margin(self, position: Position, bound: int, nodes: int) -> Answer:
        """Decide win and draw without the rule; search whole states for other margins."""
        if bound not in (0, 1):
            before = self.plain.nodes
            answer = self.plain.bound_margin(position, bound, nodes)
            self.more_nodes += self.plain.nodes - before
            return answer
        answer = self.inner.bound_margin(position, bound, nodes)
        return None if answer is None else max(-1, min(1, answer))


class PhasedSearch(WrappedSearch):
    """A search for games with a special first turn; the inner search continues after it."""

    def bound_margin(self, position: Position, bound: int, nodes: int) -> Answer:
        """Play every move of the first turn and search the positions after it."""
        game, best = self.game, -max_margin(self.game, position)
        if int(position.state.phase) == SETTLED and not game.over(position):
            return self.inner.bound_margin(position, bound, nodes)
        if game.over(position):
            return final_bounds(game, position).low
        self.more_nodes += 1
        last = self.nodes + nodes - 1
        for move in game.legal(position):
            child = game.play(position, move)
            same = child.mover == position.mover
            answer = self.bound_margin(child, bound if same else 1 - bound, last - self.nodes)
            if answer is None:
                return None
            best = max(best, answer if same else -answer)
            if best >= bound:
                break
        return best


def create_sowing_search(game: Game, settings: SolverSettings, progress: Progress) -> Search:
    """Return the search that fits the rules of a game of up to seven holes."""
    bits, beans, seconds = settings.table_bits, settings.database_beans, settings.database_seconds
    search: Search = SowingSearch(game, bits, beans, progress, seconds)
    if game.rules.majority_ends == "yes":
        search = MajoritySearch(game, search, bits)
    return PhasedSearch(game, search) if game.rules.has_phases else search
