"""Standings while games are played: each number with an anytime-valid interval."""

import numpy as np
import pytest

from arena.playing.progress import (
    GameProgress,
    anytime_at_level,
    live_agents,
    live_matches,
    standing_lines,
)
from arena.stats.anytime import anytime_estimate, start_anytime, update_anytime

NAMES = ["weak", "middle", "strong"]
SCORES = {(0, 1): 0.25, (0, 2): 0.0, (1, 2): 0.5}  # of the first of each pair


@pytest.fixture(scope="module")
def progress():
    standings = {
        pair: update_anytime(start_anytime(1000, again=False), np.full(200, score))
        for pair, score in SCORES.items()
    }
    return GameProgress(done=600, total=3000, names=NAMES, played=600, standings=standings)


def test_the_score_of_an_agent_is_the_mean_of_its_matches_inside_their_common_interval(progress):
    rows = live_agents(progress, live_matches(progress))
    assert [NAMES[row.agent] for row in rows] == ["strong", "middle", "weak"]
    strong = rows[0]
    assert (strong.games, strong.above, strong.below, strong.open) == (800, 1, 0, 1)
    assert strong.score.value == pytest.approx(0.75)
    # Both matches at 97.5 %: then both are true together with 95 %.
    ends = [anytime_at_level(progress.standings[pair], 0.975) for pair in ((0, 2), (1, 2))]
    highs = [1.0 if end.high is None else end.high for end in ends]
    assert strong.score.low == pytest.approx(1.0 - sum(highs) / 2)
    alone = anytime_estimate(progress.standings[1, 2])
    assert highs[1] > alone.high


def test_the_standings_are_a_table_of_all_agents(progress):
    leader, head, *rows = standing_lines(progress)
    assert leader.startswith("strong leads: 75.0 % [")
    assert head.split() == ["agent", "score", "so", "far", "games", "above", "below", "open"]
    assert [row.split()[:2] for row in rows] == [["1", "strong"], ["2", "middle"], ["3", "weak"]]
    assert rows[-1].split()[-4:] == ["800", "0", "2", "0"]


def test_one_opening_gives_no_interval():
    standings = {(0, 1): update_anytime(start_anytime(1, again=False), [1.0])}
    progress = GameProgress(done=1, total=1, played=1, standings=standings)
    row = live_agents(progress, live_matches(progress))[0]
    assert (row.score.value, row.score.low, row.score.high) == (1.0, None, None)
    assert "opening" in row.score.reason
