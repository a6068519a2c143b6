"""Parts shared by races."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np

from arena.planning.rounds import OUT, Meeting, Points, StandingRow
from arena.planning.schedules.registry import Matches
from arena.stats.racing import Race, after_round, next_pairings
from games.base.schema import Fault, Key, KeyValues

DELTA = Key(
    "delta", "float", "the chance that any of its answers is wrong", 0.05, above=0, high=0.5
)
QUARTERS = 4


def indifference(default: float) -> Key:
    """The key for a difference that does not matter."""
    words = "Elo within which two agents need not be told apart"
    return Key("indifference", "float", words, default, low=0, high=1000)


def all_matches(_: KeyValues, names: Sequence[str]) -> Matches:
    """Every pair may meet."""
    return tuple(combinations(range(len(names)), 2))


def no_problems(_: KeyValues, __: Sequence[str]) -> Iterator[Fault]:
    """Nothing: it fits any agents."""
    yield from ()


def meetings_for(state: Race, pairs: Iterable[tuple[int, int]]) -> tuple[Meeting, ...]:
    """The meetings of these pairs that have pairings left, each pair once."""
    once = dict.fromkeys((min(pair), max(pair)) for pair in pairs)
    sized = (Meeting(a, b, next_pairings(state, a, b)) for a, b in once)
    return tuple(each for each in sized if each.pairings > 0)


def add_results(state: Race, meetings: Sequence[Meeting], points: Sequence[Points]) -> Race:
    """The race after these meetings."""
    return after_round(
        state,
        (
            (each.a, each.b, np.bincount(own, minlength=QUARTERS + 1))
            for each, own in zip(meetings, points, strict=True)
        ),
    )


def eliminated_row(state: Race, names: Sequence[str], agent: int, by: int) -> StandingRow:
    """An agent that is out because another one is above it."""
    counts = tuple(int(n) for n in state.counts[by, agent])
    earned = round(float(state.earned[by, agent]), 6)
    return StandingRow(
        agent, OUT, beaten(names[by], counts), None, state.rounds, by, counts, earned
    )


def beaten(winner: str, counts: Sequence[int]) -> str:
    """Return an agent's score and its number of pairs."""
    pairings = sum(counts)
    score = sum(n * place for place, n in enumerate(counts)) / (QUARTERS * max(pairings, 1))
    words = "1 pairing" if pairings == 1 else f"{pairings:,} pairings"
    return f"{winner} scored {100 * score:.1f} % against it in {words}"


def named(names: Sequence[str], agents: Iterable[int]) -> str:
    """Agents by name."""
    return ", ".join(names[agent] for agent in agents)


def rounds_text(rounds: int) -> str:
    """A number of rounds in words."""
    return "1 round" if rounds == 1 else f"{rounds:,} rounds"


def error_text(state: Race, questions: int) -> str:
    """After how many rounds a race has its answer, and how often such an answer is wrong."""
    wrong = questions * math.exp(-state.level)
    return f"after {rounds_text(state.rounds)} (error at most {100 * wrong:.2g} %)"


def exhausted_text(state: Race) -> str:
    """Return why a race ends without an answer."""
    return "their only opening is used" if state.limit == 1 else f"{state.limit:,} openings used"
