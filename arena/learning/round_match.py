"""The match of a round: new weights against those before, on openings that no round has seen."""

from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.core import AgentSpec
from arena.learning.config import LearnConfig
from arena.planning.openings.openings import Openings
from arena.planning.openings.registry import way
from arena.planning.plan import Plan
from arena.planning.seeds import hash64
from arena.playing.match import play_match
from arena.playing.options import PlayOptions
from arena.stats.estimate import Estimate
from arena.stats.sprt import Decision, SprtPlan
from arena.stats.text import elo_text, sprt_text
from arena.storage.journal import Section
from games.base.progress import ShowProgress

LEARNED, BEFORE = "learned", "before"
SPARE = 50  # openings drawn beside, in place of those that a round has seen


class MatchVerdict(StrEnum):
    """What became of the weights of a round; only better ones go on."""

    BETTER = "better"
    NOT_BETTER = "not better"
    UNDECIDED = "undecided"


VERDICTS = {Decision.ELO1: MatchVerdict.BETTER, Decision.ELO0: MatchVerdict.NOT_BETTER}


class RoundMatch(NamedTuple):
    """A finished match."""

    verdict: MatchVerdict
    elo: Estimate
    games: int
    text: str
    ratios: tuple[float, ...] = ()  # the log-likelihood ratio after each pairing of a test
    bounds: tuple[float, float] = (0.0, 0.0)

    def to_json(self) -> dict[str, object]:
        """The verdict as JSON holds it."""
        said: dict[str, object] = {
            "verdict": str(self.verdict),
            "elo": [self.elo.value, self.elo.low, self.elo.high],
            "games": self.games,
            "text": self.text,
        }
        if not self.ratios:
            return said
        ratios = [round(each, 3) for each in self.ratios]
        return {**said, "ratios": ratios, "bounds": list(self.bounds)}


def spec_for(learning: LearnConfig, teacher: AgentSpec) -> AgentSpec:
    """The agent of a match: the teacher with as many positions a move as the file says."""
    if learning.match.nodes is None:
        return teacher
    return teacher.replace(nodes=learning.match.nodes, depth=None, seconds=None)


def match_of(
    learning: LearnConfig,
    agents: dict[str, AgentSpec],
    seen: NDArray[np.uint64],
    name: str,
    stop: SprtPlan | None,
) -> tuple[Plan, Openings]:
    """The match of two agents, without openings whose positions are in `seen`."""
    seed = int(hash64(name, learning.plan.seed)) >> 1
    spec, pairs = learning.plan.openings, learning.match.pairs
    drawn = way(spec.way).openings(learning.of, spec, pairs + SPARE, seed)
    fresh = np.flatnonzero(~np.isin(drawn.keys, seen))[:pairs]
    openings = Openings(drawn.slots[fresh], drawn.keys[fresh], finite=False)
    plan = replace(
        learning.plan, agents=agents, matches=((0, 1),), pairs=len(openings), seed=seed, stop=stop
    )
    return plan, openings


def round_match(
    learning: LearnConfig,
    agents: tuple[AgentSpec, AgentSpec],
    seen: NDArray[np.uint64],
    section: Section,
    options: PlayOptions,
    show: ShowProgress,
) -> RoundMatch:
    """Play what is left of a match of the first agent against the second.

    The name of the section decides the openings.
    """
    own, other = (spec_for(learning, each) for each in agents)
    test = learning.match.plan()
    plan, openings = match_of(learning, {LEARNED: own, BEFORE: other}, seen, section.name, test)
    match = play_match(plan, section, options, openings=openings, show=show)
    state = match.sprt
    assert state is not None  # the plan has a test
    verdict = VERDICTS.get(state.decision, MatchVerdict.UNDECIDED)
    text = f"{verdict}: {sprt_text(test, state)}; {elo_text(match.elo)}"
    ratios, bounds = tuple(match.llr.tolist()), (state.lower, state.upper)
    return RoundMatch(verdict, match.elo, len(match.played), text, ratios, bounds)
