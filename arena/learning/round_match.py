"""The match of a round: new weights against those before, on openings that no round has seen."""

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.core import AgentSpec
from arena.learning.config import LearnConfig
from arena.planning.games import pair_points
from arena.planning.openings.openings import Openings
from arena.planning.openings.registry import way
from arena.planning.schedule import DrawnPlan, make_schedule
from arena.planning.seeds import hash64
from arena.playing.options import PlayOptions
from arena.playing.play import play_schedule
from arena.stats.estimate import Estimate
from arena.stats.sprt import Decision, SprtPlan, log_likelihood_ratio
from arena.stats.sprt_estimates import corrected_estimate
from arena.stats.text import elo_text, sprt_text
from arena.storage.journal import Journal
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
) -> DrawnPlan:
    """The match of two agents, without openings whose positions are in `seen`."""
    seed = int(hash64(name, learning.plan.seed)) >> 1
    spec, pairs = learning.plan.openings, learning.match.pairs
    drawn = way(spec.way).openings(learning.of, spec, pairs + SPARE, seed)
    fresh = np.flatnonzero(~np.isin(drawn.keys, seen))[:pairs]
    openings = Openings(drawn.slots[fresh], drawn.keys[fresh], finite=False)
    plan = replace(
        learning.plan, agents=agents, matches=((0, 1),), pairs=len(openings), seed=seed, stop=stop
    )
    return make_schedule(plan, openings)


def round_match(
    learning: LearnConfig,
    agents: tuple[AgentSpec, AgentSpec],
    seen: NDArray[np.uint64],
    name: str,
    directory: Path,
    options: PlayOptions,
    show: ShowProgress,
    digest: str,
) -> RoundMatch:
    """Play what is left of a match of the first agent against the second; what it says."""
    own, other = (spec_for(learning, each) for each in agents)
    test = learning.match.plan()
    drawn = match_of(learning, {LEARNED: own, BEFORE: other}, seen, name, test)
    with Journal(directory / name, f"{digest}-{name}") as journal:
        state = play_schedule(drawn, journal, options, show=show).sprt
        games = journal.games(drawn.pairings)
    assert state is not None  # the plan has a test
    elo = corrected_estimate(test, state)
    verdict = VERDICTS.get(state.decision, MatchVerdict.UNDECIDED)
    text = f"{verdict}: {sprt_text(test, state)}; {elo_text(elo)}"
    ratios = llr_path(test, pair_points(games)[: state.observations])
    return RoundMatch(verdict, elo, len(games), text, ratios, (state.lower, state.upper))


def llr_path(test: SprtPlan, points: NDArray[np.int8]) -> tuple[float, ...]:
    """The log-likelihood ratio after each pairing, by its points from 0 to 4."""
    tables = np.cumsum(np.eye(5, dtype=np.int64)[points], axis=0)
    return tuple(log_likelihood_ratio(tables, test.elo0, test.elo1, test.model).tolist())
