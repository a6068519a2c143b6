"""Matches: the same result however often they are interrupted, and pairs beyond the test."""

from dataclasses import replace

import numpy as np
import pytest

from arena.config.experiment import load
from arena.planning.games import pair_points
from arena.playing.match import play_match
from arena.playing.options import Interrupts, PlayOptions
from arena.stats.sprt import Decision, log_likelihood_ratio
from arena.storage.journal import RunDirectory
from games.base.progress import ignore_progress
from tests.arena.running import experiment_file, small

SPRT = "stop = { sprt = { elo0 = 0, elo1 = 200 } }"
OPTIONS = PlayOptions(2, Interrupts())


@pytest.fixture
def plan(tmp_path):
    """A strong agent against random play: the test stops soon."""
    text = small(200, SPRT, plies=8) + '[agents.strong]\nkind = "alphabeta"\ndepth = 3\n'
    return load(experiment_file(tmp_path, text)).plan


@pytest.fixture
def section(tmp_path):
    with RunDirectory(tmp_path / "run", "digest") as run:
        yield run.section("match")


def test_a_match_counts_the_games_up_to_the_stop_of_its_test(plan, section):
    match = play_match(plan, section, OPTIONS)
    pairs = match.sprt.observations
    assert match.decision is Decision.ELO0  # the first agent is random
    assert pairs == section.finished() < 200
    assert len(match.games) == len(match.played) == 2 * pairs
    assert match.pair_points.tolist() == pair_points(match.games).tolist()
    test = plan.stop
    for count in (1, pairs):
        counts = np.bincount(match.pair_points[:count], minlength=5)
        expected = log_likelihood_ratio(counts, test.elo0, test.elo1, test.model)
        assert match.llr[count - 1] == pytest.approx(float(expected))
    assert match.llr[-1] == pytest.approx(match.sprt.llr)
    assert match.elo.value < 0 > match.raw_elo.value


def test_pairs_are_played_beyond_the_stop_and_do_not_count(plan, section, tmp_path):
    with RunDirectory(tmp_path / "other", "digest") as run:
        short = play_match(plan, run.section("match"), OPTIONS)
    match = play_match(plan, section, OPTIONS, play_at_least=60)
    assert section.finished() == len(match.played) // 2 == 60 > match.sprt.observations
    assert len(match.first_games(60)) == 120
    assert match.sprt == short.sprt
    assert match.games.game_id.tolist() == short.games.game_id.tolist()


def test_a_match_that_was_interrupted_ends_the_same(plan, section, tmp_path):
    def stop(progress):
        if progress.done:
            raise KeyboardInterrupt

    plan = replace(plan, stop=None, pairs=60)
    with pytest.raises(KeyboardInterrupt):
        play_match(plan, section, OPTIONS, show=stop)
    assert 0 < section.finished() < 60
    match = play_match(plan, section, OPTIONS, show=ignore_progress)
    with RunDirectory(tmp_path / "other", "digest") as run:
        whole = play_match(plan, run.section("match"), OPTIONS)
    assert match.decision is None
    assert match.games.game_id.tolist() == whole.games.game_id.tolist()
