"""Stop rules, matches, finished journals, and the time left."""

from dataclasses import replace

import numpy as np
import pytest

from arena.config.experiment import load_experiment
from arena.planning.games import decode_games, pair_points
from arena.planning.openings.openings import first_openings
from arena.planning.schedule import RoundTracker, make_schedule
from arena.planning.tasks import Task
from arena.playing import play as play_module
from arena.playing.match import play_match
from arena.playing.options import Interrupts, PlayOptions
from arena.playing.play import StopRule, play_schedule
from arena.playing.progress import GameProgress, ProgressCounter
from arena.playing.worker import Worker
from arena.stats.sprt import Decision, log_likelihood_ratio
from arena.storage.journal import RunDirectory
from tests.arena.running import experiment_file, small

SPRT = "stop = { sprt = { elo0 = 0, elo1 = 200 } }"
STRONG = '[agents.strong]\nkind = "alphabeta"\ndepth = 3\n'
OPTIONS = PlayOptions(2, Interrupts())


@pytest.fixture
def plan(tmp_path):
    """A strong agent against random play: the test stops soon."""
    return load_experiment(experiment_file(tmp_path, small(200, SPRT, plies=8) + STRONG)).plan


@pytest.fixture
def section(tmp_path):
    with RunDirectory(tmp_path / "run", "digest") as run:
        yield run.section("match")


def stop_in_batches(schedule, sizes):
    """The pair at which the rule stops when batches have these sizes."""
    stop, at, worker = StopRule(schedule), 0, Worker(schedule)
    while not stop.should_stop:
        batch = worker.play_batch(Task(at, at + sizes[at % len(sizes)], {}))
        counted = stop.truncate_batch(batch)
        columns = schedule.pairs.columns(counted.start, counted.stop)
        games = decode_games([counted.blob], columns)
        assert len(games) == 2 * len(counted.points) == 2 * (counted.stop - counted.start)
        assert games.plies.sum() == len(games.moves)
        at = batch.stop
    return counted.stop


def test_stop_rule_does_not_depend_on_batches(plan):
    schedule = make_schedule(plan)
    one = stop_in_batches(schedule, [1])
    assert 1 < one < 200
    for sizes in ([7], [50], [200], [3, 20, 1]):
        assert stop_in_batches(schedule, sizes) == one


def test_repeated_openings_are_no_evidence(plan):
    few = make_schedule(replace(plan, pairs=5), first_openings(make_schedule(plan).openings, 5))
    rule = StopRule(few)
    for start in (0, 300):
        rule.add_points(start, np.zeros(300, np.int8))
        assert rule.state.observations == 5


def test_finished_journal_plays_nothing(plan, section, monkeypatch):
    schedule, shown = make_schedule(plan), []
    first = play_schedule(schedule, section, OPTIONS, show=shown.append)
    assert shown[-1].done == section.item_count()
    monkeypatch.setattr(play_module, "GameJob", None)
    assert play_schedule(schedule, section, OPTIONS, show=shown.append) == first


def test_match_counts_the_games_up_to_the_stop_of_its_test(plan, section):
    match = play_match(plan, section, OPTIONS)
    pairs = match.sprt.observations
    assert match.decision is Decision.ELO0  # the first agent is random
    assert pairs == section.item_count() < 200
    assert len(match.games) == len(match.all_games) == 2 * pairs
    assert match.pair_points.tolist() == pair_points(match.games).tolist()
    test = plan.stop
    for count in (1, pairs):
        counts = np.bincount(match.pair_points[:count], minlength=5)
        expected = log_likelihood_ratio(counts, test.elo0, test.elo1, test.model)
        assert match.llr[count - 1] == pytest.approx(float(expected))
    assert match.llr[-1] == pytest.approx(match.sprt.llr)
    assert match.elo.value < 0 > match.raw_elo.value


def test_pairs_beyond_the_stop_are_played_and_do_not_count(plan, section, tmp_path):
    with RunDirectory(tmp_path / "other", "digest") as run:
        short = play_match(plan, run.section("match"), OPTIONS)
    match = play_match(plan, section, OPTIONS, play_at_least=60)
    assert section.item_count() == len(match.all_games) // 2 == 60 > match.sprt.observations
    assert len(match.first_games(60)) == 120
    assert match.sprt == short.sprt
    assert match.games.game_id.tolist() == short.games.game_id.tolist()


def test_interrupted_match_ends_the_same(plan, section, tmp_path):
    def stop(progress):
        if progress.done:
            raise KeyboardInterrupt

    plan = replace(plan, stop=None, pairs=60)
    with pytest.raises(KeyboardInterrupt):
        play_match(plan, section, OPTIONS, show=stop)
    assert 0 < section.item_count() < 60
    match = play_match(plan, section, OPTIONS)
    with RunDirectory(tmp_path / "other", "digest") as run:
        whole = play_match(plan, run.section("match"), OPTIONS)
    assert match.decision is None
    assert match.games.game_id.tolist() == whole.games.game_id.tolist()


def test_time_left_leaves_out_pairs_that_are_forfeited_unplayed(tmp_path):
    three = '[agents.first]\nkind = "first"\n[agents.last]\nkind = "last"\n'
    schedule = make_schedule(load_experiment(experiment_file(tmp_path, small(100) + three)).plan)
    disqualified = set()
    count = ProgressCounter(RoundTracker(schedule), disqualified)
    count.add(0, 40, np.full(40, 2, np.int8))
    assert count.progress(None, {}).unplayed == 0
    disqualified.add(0)  # it has 60 and 100 pairs left
    progress = count.progress(None, {})
    assert (progress.done, progress.total, progress.unplayed) == (40, 300, 160)
    count.add(40, 200, np.full(160, 2, np.int8))  # forfeits do not count as played
    progress = count.progress(None, {})
    assert (progress.unplayed, count.forfeited) == (0, 160)
    line = GameProgress(done=40, total=300, pairs_played=40, rate=2.0, unplayed=160).lines(1.0)[0]
    assert "100 s left" in line
