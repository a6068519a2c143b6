"""The claim that no move, turn or game of an agent took longer, or its mean move."""

from typing import NamedTuple

import numpy as np

from agents.registry import user_code_reason
from arena.analysis.checks.registry import (
    ALL,
    FAILS,
    HOLDS,
    VACUOUS,
    Check,
    CheckKind,
    Verdict,
    make_verdict,
)
from arena.analysis.evidence import SEATS, Evidence
from arena.planning.plan import Plan
from arena.playing.clock import time_control
from games.base.schema import Key
from games.base.text import join_names

MEAN = "mean move"
KEYS = (
    Key("max_seconds", "float", "the longest time in seconds that is allowed", above=0),
    Key("per", "text", "the time of what: of every move, turn with its extra turns or game, or "
        "the mean of all moves", "move", choices=("move", "turn", "game", MEAN)),
)  # fmt: skip
COLUMNS = {"move": "longest", "turn": "turn", "game": "nanoseconds"}


class Slowest(NamedTuple):
    """The longest time of an agent and the row of its game; not exact if only games were timed."""

    agent: str
    seconds: float
    row: int
    is_exact: bool


def verdict(check: Check, evidence: Evidence) -> Verdict:
    """Check the longest or mean time; time in which a bot could not run does not count."""
    limit, per = check.values["max_seconds"], check.values["per"]
    if per == MEAN:
        return mean_verdict(check, evidence, limit)
    names = check.about(evidence)
    slowest = [each for name in names if (each := slowest_of(evidence, name, per)) is not None]
    if not slowest:
        return make_verdict(check, VACUOUS, "no move was timed")
    worst = max(slowest, key=lambda each: each.seconds)
    text = f"{worst.agent}: {worst.seconds:.3g} s"
    if worst.seconds <= limit:
        return make_verdict(check, HOLDS, f"the longest {per} took {text}")
    if not worst.is_exact:
        detail = f"the longest {per} was not measured; a whole game took {text}"
        return make_verdict(check, VACUOUS, detail)
    return make_verdict(
        check,
        FAILS,
        f"the longest {per} took {text}, game {worst.row}",
        evidence.command_of(worst.row),
    )


def why_doubtful(check: Check, plan: Plan) -> str:
    """Return why the longest move may be unknown: compiled games are timed as a whole."""
    if check.values["per"] == "game" or plan.keep_search_info:
        return ""
    whole = {
        name
        for match in plan.matches
        if all(is_timed_by_game(plan, plan.names[place]) for place in match)
        for name in (plan.names[place] for place in match)
        if check.subject in (ALL, name)
    }
    if not whole:
        return ""
    names = join_names([each for each in plan.names if each in whole])
    return (
        f"games of {names} are timed as a whole, "
        "so it holds only if a whole game is as fast; search_info = true times every move"
    )


def is_timed_by_game(plan: Plan, name: str) -> bool:
    """Return whether an agent plays in one compiled call, against another such agent."""
    spec = plan.agents[name]
    return user_code_reason(spec) is None and not time_control(plan, spec).has_shared_clock


def slowest_of(evidence: Evidence, name: str, per: str) -> Slowest | None:
    """Return the longest time in all games of an agent; None if none was timed.

    The time of a whole game replaces that of its moves if they were not timed.
    """
    place, found = evidence.plan.names.index(name), dict[str, Slowest]()
    for start, games in evidence.pieces():
        for seat in SEATS:
            rows = np.flatnonzero(games.columns[seat] == place)
            whole = games.columns[f"{seat}_nanoseconds"][rows]
            exact = games.columns[f"{seat}_{COLUMNS[per]}"][rows]
            taken = np.where(exact > 0, exact, whole)
            longest_yet = found[seat].seconds if seat in found else 0.0
            if len(taken) and float(taken.max()) / 1e9 > longest_yet:
                at = int(taken.argmax())
                seconds = float(taken[at]) / 1e9
                found[seat] = Slowest(name, seconds, start + int(rows[at]), bool(exact[at] > 0))
    ordered = (found[seat] for seat in SEATS if seat in found)
    return max(ordered, key=lambda each: each.seconds, default=None)


def mean_verdict(check: Check, evidence: Evidence, limit: float) -> Verdict:
    """Check the mean time of a move of each agent."""
    words, status = [], HOLDS
    for name in check.about(evidence):
        own = [each for each in evidence.timings if each.agent == name]
        moves = sum(each.moves for each in own)
        if not moves:
            return make_verdict(check, VACUOUS, f"{name} chose no move")
        mean = sum(each.seconds for each in own) / moves
        words.append(f"{name} {mean:.3g} s a move")
        status = status if mean <= limit else FAILS
    return make_verdict(check, status, f"at most {limit:g} s wanted; {', '.join(words)}")


KIND = CheckKind(
    keys=KEYS,
    compares=False,
    verdict=verdict,
    why_doubtful=why_doubtful,
)
