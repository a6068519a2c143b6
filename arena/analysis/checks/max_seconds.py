"""The claim that no move, turn or game of an agent took longer, or its mean move."""

from typing import NamedTuple

import numpy as np

from agents.registry import users_code
from arena.analysis.checks.claims import ALL, FAILS, HOLDS, VACUOUS, Check, Verdict, make_verdict
from arena.analysis.evidence import SEATS, Evidence
from arena.planning.plan import Plan
from arena.playing.clock import time_control
from games.base.schema import Key
from games.base.text import listed

MEAN = "mean move"
KEYS = (
    Key("max_seconds", "float", "the longest time in seconds that is allowed", above=0),
    Key("per", "text", "the time of what: of every move, turn with its extra turns or game, or "
        "the mean of all moves", "move", choices=("move", "turn", "game", MEAN)),
)  # fmt: skip
COMPARES = False
COLUMNS = {"move": "longest", "turn": "turn", "game": "nanoseconds"}


class Slowest(NamedTuple):
    """The longest of an agent, in seconds, and the row of its game; None if it was not measured."""

    agent: str
    seconds: float
    row: int
    measured: bool


def verdict(check: Check, evidence: Evidence) -> Verdict:
    """Judge the longest time, or the mean; time in which a bot could not run does not count."""
    limit, per = check.values["max_seconds"], check.values["per"]
    if per == MEAN:
        return mean_verdict(check, evidence, limit)
    names = check.about(evidence)
    slowest = [each for name in names if (each := longest(evidence, name, per)) is not None]
    if not slowest:
        return make_verdict(check, VACUOUS, "no move was timed")
    worst = max(slowest, key=lambda each: each.seconds)
    text = f"{worst.agent}: {worst.seconds:.3g} s"
    if worst.seconds <= limit:
        return make_verdict(check, HOLDS, f"the longest {per} took {text}")
    if not worst.measured:
        detail = f"the longest {per} was not measured; a whole game took {text}"
        return make_verdict(check, VACUOUS, detail)
    return make_verdict(
        check,
        FAILS,
        f"the longest {per} took {text}, game {worst.row}",
        evidence.command(worst.row),
    )


def doubt(check: Check, plan: Plan) -> str:
    """Why the longest move may not be known: games of compiled agents are timed as a whole."""
    if check.values["per"] == "game" or plan.thoughts:
        return ""
    whole = {
        name
        for match in plan.matches
        if all(is_timed_as_a_whole(plan, plan.names[place]) for place in match)
        for name in (plan.names[place] for place in match)
        if check.subject in (ALL, name)
    }
    if not whole:
        return ""
    return (
        f"games of {listed([each for each in plan.names if each in whole])} are timed as a whole, "
        "so it holds only if a whole game is as fast; search_info = true times every move"
    )


def is_timed_as_a_whole(plan: Plan, name: str) -> bool:
    """Return whether an agent plays in one compiled call, against another such agent."""
    spec = plan.agents[name]
    return users_code(spec) is None and not time_control(plan, spec).has_shared_clock


def longest(evidence: Evidence, name: str, per: str) -> Slowest | None:
    """The longest of all games of an agent; None if none was timed.

    Games in one compiled call are timed as a whole, which is more than any of their moves.
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
    """Judge the mean time of a move of each agent."""
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
