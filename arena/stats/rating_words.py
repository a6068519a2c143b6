"""A rating table in words, including the groups that cannot be compared."""

from collections.abc import Sequence

from arena.stats.connected import FirstMove
from arena.stats.estimate import Estimate, EstimateKind
from arena.stats.pool_gaps import Bridge
from arena.stats.ratings import AgentRating, Pool, Ratings
from arena.stats.words import NO_ANSWER, bound_text, range_text, signed


def rating_text(rating: Estimate) -> str:
    """A rating with its error in one phrase."""
    if rating.value is None:
        return bound_text(rating) or NO_ANSWER
    if rating.two_sided:
        return range_text(rating)
    bound = bound_text(rating)
    if bound:
        return f"{_value_text(rating.value)}, {bound}"
    why = f" ({rating.reason})" if rating.reason else ""
    return f"{_value_text(rating.value)}{why}"


def _value_text(value: float) -> str:
    return signed(value, 1 if 0.0 < abs(value) < 1.0 else 0)


def first_move_text(pool: Pool, games: int) -> str:
    """The value of the first move in a pool, or why it is unknown."""
    if pool.first_move is FirstMove.FITTED:
        fitted = pool.advantage
        if fitted.value is None or bound_text(fitted) or fitted.two_sided or not fitted.reason:
            return f"first move {rating_text(fitted)} Elo"
        return f"first move {_value_text(fitted.value)} Elo ({fitted.reason})"
    without = "ratings without first-move term"
    worth = bound_text(pool.advantage)
    worth = f", worth {worth} Elo" if worth else ""
    if pool.first_move is FirstMove.ALWAYS_WINS:
        return f"first mover won all {games}{worth}; {without}"
    if pool.first_move is FirstMove.ALWAYS_LOSES:
        return f"second mover won all {games}{worth}; {without}"
    return f"{pool.first_move}; {without}"


def bridge_text(bridge: Bridge, ratings: Ratings, names: Sequence[str]) -> str:
    """How far one group is above another that it never lost a point to."""
    above = _names(ratings.pools[bridge.above], names)
    below = _names(ratings.pools[bridge.below], names)
    group = "the group" if len(ratings.pools[bridge.below].members) > 1 else below
    if len(ratings.pools) > 2:
        group = below
    lead = f"{above} above {group}: won {bridge.games}/{bridge.games}"
    if bridge.at_least is None:
        return f"{lead}, no bound: one opening"
    one_sided = Estimate(None, bridge.at_least, None, bridge.level, EstimateKind.FIXED)
    bound = f"{bound_text(one_sided)} Elo ({100 * bridge.level:g} %)"
    return f"{lead}, {bound}, K = {bridge.openings}"


def ratings_lines(ratings: Ratings, bridges: Sequence[Bridge], names: Sequence[str]) -> list[str]:
    """The whole table as lines: one for each group, then how groups compare."""
    lines: list[str] = []
    islands = len({pool.island for pool in ratings.pools})
    for number, pool in enumerate(ratings.pools):
        if number:
            lines.append("")
        rows = [row for row in ratings.agents if row.pool == number]
        if len(ratings.pools) > 1:
            lines.append(f"group {number + 1} of {len(ratings.pools)}: {_names(pool, names)}")
        lines.extend(_row_text(row, names) for row in sorted(rows, key=_strength))
        if len(pool.members) > 1:
            lines.append(first_move_text(pool, sum(row.games for row in rows) // 2))
    lines.extend(bridge_text(bridge, ratings, names) for bridge in bridges)
    if islands > 1:
        lines.append(f"{islands} groups that never met: not comparable")
    return lines


def _row_text(row: AgentRating, names: Sequence[str]) -> str:
    sizes = f"n={row.games}, K = {row.openings}"
    return f"{names[row.agent]}  {rating_text(row.rating)}  {row.points:g}/{row.games}  {sizes}"


def _strength(row: AgentRating) -> tuple[float, int]:
    return (0.0 - (row.rating.value or 0.0), row.agent)


def _names(pool: Pool, names: Sequence[str]) -> str:
    return ", ".join(names[member] for member in pool.members)
