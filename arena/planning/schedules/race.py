"""Parts that the races share: keys, results of a round, texts."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from arena.planning.rounds import OUT, Meeting, Points, StandingRow
from arena.stats.racing import Race, next_pairs, update_race
from games.base.schema import Key

DELTA = Key("delta", "float", "the probability of a wrong answer", 0.05, above=0, high=0.5)
QUARTERS = 4
ORDER_NOTE = "an agent above another one is assumed to be above all agents below that one"


def indifference_key(default: float) -> Key:
    """Return the key for a difference that does not matter."""
    text = "Elo within which two agents need not be separated"
    return Key("indifference", "float", text, default, low=0, high=1000)


def meetings_for(state: Race, pairs: Iterable[tuple[int, int]]) -> tuple[Meeting, ...]:
    """Return the meetings of the agents that have pairs left, each once."""
    once = dict.fromkeys((min(pair), max(pair)) for pair in pairs)
    meetings = (Meeting(a, b, next_pairs(state, a, b)) for a, b in once)
    return tuple(each for each in meetings if each.pairs > 0)


def add_results(state: Race, meetings: Sequence[Meeting], points: Sequence[Points]) -> Race:
    """Return the race after these meetings."""
    counts = (np.bincount(own, minlength=QUARTERS + 1) for own in points)
    return update_race(
        state, ((each.a, each.b, own) for each, own in zip(meetings, counts, strict=True))
    )


def loser_row(state: Race, names: Sequence[str], agent: int, by: int) -> StandingRow:
    """Return the row of an agent that is out because agent `by` is above it."""
    counts = tuple(int(n) for n in state.counts[by, agent])
    capital = round(float(state.log_capital[by, agent]), 6)
    why = score_text(names[by], counts)
    return StandingRow(agent, OUT, why, None, state.rounds, by, counts, capital)


def score_text(winner: str, counts: Sequence[int]) -> str:
    """Return an agent's score against another one and the number of pairs."""
    pairs = sum(counts)
    score = sum(n * place for place, n in enumerate(counts)) / (QUARTERS * max(pairs, 1))
    number = "1 pair" if pairs == 1 else f"{pairs:,} pairs"
    return f"{winner} scored {100 * score:.1f} % against it in {number}"


def agent_names(names: Sequence[str], agents: Iterable[int]) -> str:
    """Return the names of agents, separated by commas."""
    return ", ".join(names[agent] for agent in agents)


def rounds_text(rounds: int) -> str:
    """Return a number of rounds as text."""
    return "1 round" if rounds == 1 else f"{rounds:,} rounds"


def error_text(state: Race, questions: int) -> str:
    """Return after which round a race has its answer, and the probability that it is wrong."""
    wrong = questions * math.exp(-state.level)
    return f"after {rounds_text(state.rounds)} (error at most {100 * wrong:.2g} %)"


def no_openings_text(state: Race) -> str:
    """Return why a race ends without an answer."""
    return "their only opening is used" if state.limit == 1 else f"{state.limit:,} openings used"
