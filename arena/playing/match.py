"""Play one match and return its result."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from arena.planning.games import Games, decode_games, pair_points, take_games
from arena.planning.openings.openings import Openings
from arena.planning.plan import Plan
from arena.planning.schedule import Schedule, make_schedule
from arena.playing.options import PlayOptions
from arena.playing.play import play_schedule
from arena.stats.estimate import Estimate
from arena.stats.sprt import Decision, SprtPlan, SprtState, log_likelihood_ratio
from arena.stats.sprt_estimates import median_unbiased_estimate, naive_estimate
from arena.stats.stopping import WidthState
from arena.storage.journal import Section
from games.base.progress import ShowProgress, ignore_progress


@dataclass(frozen=True, slots=True, eq=False)
class MatchResult:
    """The games of a match, in schedule order, and the state of its test."""

    schedule: Schedule
    all_games: Games  # `games` are those that count
    sprt: SprtState | None
    cached_games: int

    @property
    def games(self) -> Games:
        """The games that count: those up to the pair at which the test stopped."""
        return self.all_games if self.sprt is None else self.first_games(self.sprt.observations)

    def first_games(self, pairs: int) -> Games:
        """Return the games of the first pairs, whether the test counts them or not."""
        rows = np.arange(2 * min(pairs, len(self.all_games) // 2))
        return take_games(self.all_games, rows)

    @property
    def pair_points(self) -> NDArray[np.int8]:
        """The points of the first agent in each pair that counts, in quarters."""
        return pair_points(self.games)

    @property
    def decision(self) -> Decision | None:
        """The decision of the test; None without a test."""
        return None if self.sprt is None else self.sprt.decision

    @property
    def elo(self) -> Estimate:
        """The Elo of the first agent, corrected for the stop rule of the test."""
        test, state = self._test
        return median_unbiased_estimate(test, state)

    @property
    def raw_elo(self) -> Estimate:
        """The Elo of the first agent as if the number of games had been fixed in advance."""
        return naive_estimate(self._test[1])

    @property
    def llr(self) -> NDArray[np.float64]:
        """The log-likelihood ratio of the test after each pair that counts."""
        test, _ = self._test
        counts = np.cumsum(np.eye(5, dtype=np.int64)[self.pair_points], axis=0)
        return log_likelihood_ratio(counts, test.elo0, test.elo1, test.model)

    @property
    def _test(self) -> tuple[SprtPlan, SprtState]:
        assert isinstance(self.schedule.plan.stop, SprtPlan)
        assert self.sprt is not None
        return self.schedule.plan.stop, self.sprt


def play_match(
    plan: Plan,
    section: Section,
    options: PlayOptions,
    *,
    openings: Openings | None = None,
    play_at_least: int = 0,
    show: ShowProgress = ignore_progress,
) -> MatchResult:
    """Play what the section does not have of a match between two agents.

    The first `play_at_least` pairs are played even if the test stops before them.
    """
    schedule = make_schedule(plan, openings)
    cached = 0
    if section.item_count() < play_at_least:
        first = make_schedule(replace(plan, pairs=play_at_least, stop=None), schedule.openings)
        cached = play_schedule(first, section, options, show=show).cached_games
    result = play_schedule(schedule, section, options, show=show)
    columns = schedule.pairs.columns(0, section.item_count())
    games = decode_games((batch.content for batch in section.batches()), columns)
    assert not isinstance(result.stop, WidthState)  # no caller has such a rule
    return MatchResult(schedule, games, result.stop, cached + result.cached_games)
