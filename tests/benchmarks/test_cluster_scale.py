"""The simulated cluster obeys its costs, and the page says what was simulated."""

from xml.etree import ElementTree

import pytest

from benchmarks import cluster_scale, cluster_simulation
from benchmarks.cluster_costs import Costs, Match
from benchmarks.cluster_picture import picture
from benchmarks.cluster_scale import EVIDENCE, PLACE, SLOTS, Measurements, lines, section
from benchmarks.cluster_simulation import Work, flow

COSTS = Costs(0.001, 1e-9, 0.002, 1e-9, 0.001, 0.01)
MATCHES = Match("slow", 1e-3, 26.0, 1e-4, 1e-7), Match("quick", 2e-6, 13.0, 1e-4, 2e-7)
OF = Measurements(COSTS, MATCHES, ((8, 0.25, 31.0),), "a machine")


def test_one_worker_does_one_task_after_the_other():
    seen = flow(COSTS, Work(0.099, 0), 1)
    assert seen.batches == pytest.approx(10.0, rel=1e-3)
    assert seen.workers == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize(
    ("work", "limit"),
    [
        (Work(0.01, 0), 1 / COSTS.scheduler_task),
        (Work(0.01, 0, keep_seconds=0.009), 1 / (COSTS.client_task + 0.009)),
        (Work(0.01, 4e6), 1 / (COSTS.scheduler_task + 4e6 * COSTS.scheduler_byte)),
    ],
)
def test_many_workers_wait_for_whoever_is_slowest(work, limit):
    seen = flow(COSTS, work, 64)
    assert seen.batches == pytest.approx(limit, rel=0.01)
    assert seen.workers < 0.5


def test_longer_tasks_and_more_of_them_are_never_slower():
    for seconds in (0.05, 0.25):
        rates = [flow(COSTS, Work(seconds, 100), slots).batches for slots in (1, 4, 16, 64)]
        assert rates == sorted(rates)
    assert flow(COSTS, Work(1.0, 0), 256).workers > flow(COSTS, Work(0.05, 0), 256).workers


@pytest.fixture
def _briefly(monkeypatch):
    """What is told of a flow, not how steady it is."""
    monkeypatch.setattr(cluster_simulation, "BATCHES", 9)


@pytest.mark.usefixtures("_briefly")
def test_the_page_is_made_by_the_command():
    page = (EVIDENCE / "cluster.md").read_text()
    assert PLACE.search(page)[0].count("\n| ") == len(SLOTS) + 2
    made = section(OF)
    assert made.count("\n| ") == len(SLOTS) + 2
    assert "8 workers, tasks of 0.25 s: 31.0 a second, simulated 3" in " ".join(made.split())
    assert "Simulated, not measured" in page
    assert PLACE.sub(lambda _: made, page).count("<!--") == 2


@pytest.mark.usefixtures("_briefly")
def test_the_picture_has_a_line_for_each_length():
    shown = lines(OF)
    root = ElementTree.fromstring(picture(SLOTS, shown))
    drawn = [each for each in root if each.tag.endswith("polyline")]
    assert len(drawn) == len(shown) == len(cluster_scale.LENGTHS) + 1
    assert (EVIDENCE / cluster_scale.PICTURE.name).is_file()
