"""The live page: anytime-valid intervals, and a secret address."""

import http.client
import socket
import threading
from itertools import combinations

import numpy as np
import pytest

from arena.analysis.tables import elo_rows, win_rate_rows
from arena.config.experiment import load_experiment
from arena.planning.games import pair_points
from arena.planning.schedule import RoundTracker, make_schedule
from arena.playing.progress import GameProgress, ProgressCounter
from arena.report import live
from arena.report.live import WAITING, LivePage, LiveServer, live_report, with_anytime_intervals
from arena.report.page import page_html
from arena.stats.anytime import anytime_estimate, start_anytime, update_anytime
from arena.storage.journal import RunDirectory
from arena.storage.provenance import load_run_file
from tests.arena.played import experiment, games_by_hand, summarise_games
from tests.arena.report.pages import Page
from tests.arena.running import experiment_file, only_run, run_experiment_file, small

RACE = (
    'game = "kalah(4,3)"\npairs = 20\nseed = 5\nschedule = { best = 1 }\n'
    "openings = { random_plies = 4 }\n"
    '[agents.random]\nkind = "random"\n[agents.first]\nkind = "first"\n'
    '[agents.greedy]\nkind = "greedy"\n'
)


def test_every_interval_is_anytime_valid_or_missing():
    pairs = [(opening, "WW" if opening % 3 else "LL") for opening in range(30)]
    plan = experiment(["a", "b", "c"]).plan
    summary = summarise_games(
        games_by_hand(*((a, b, pairs) for a, b in combinations(range(3), 2))), plan
    )
    scores = np.array([float(letters == "WW") for _, letters in pairs])
    standing = update_anytime(start_anytime(100, again=False), scores)
    standings = dict.fromkeys([(0, 1), (0, 2)], standing) | {
        (2, 1): update_anytime(start_anytime(100, again=False), 1.0 - scores)
    }
    found = with_anytime_intervals(summary, standings)
    expected = anytime_estimate(standing)
    for row in win_rate_rows(found):
        ahead = row.agent < row.opponent
        ends = (row.score_low, row.score_high) if ahead else (row.score_high, row.score_low)
        assert row.interval == "anytime"
        assert [end if ahead else 1.0 - end for end in ends] == pytest.approx(
            [expected.low, expected.high], abs=1e-6
        )
        assert (row.first_mover_score_low, row.these_score_low, row.superiority) == (None,) * 3
    for row in elo_rows(found):
        assert (row.elo_low, row.elo_high, row.first_move_elo_low, row.interval) == (
            None, None, None, "none",
        )  # fmt: skip
        assert row.elo is not None
    assert found.first_mover.low is None


@pytest.mark.parametrize(
    "text", [small(24) + '[agents.greedy]\nkind = "greedy"\n[[checks]]\nthat = "all"\n'
             "no_forfeits = true\n", RACE],
)  # fmt: skip
def test_the_page_shows_the_games_of_the_journal(tmp_path, text):
    path = experiment_file(tmp_path, text)
    run_experiment_file(path, tmp_path / "results")
    directory = only_run(tmp_path / "results")
    asked = load_experiment(path)
    drawn = make_schedule(asked.plan)
    with RunDirectory(directory, load_run_file(directory)["digest"]) as run:
        section = run.section()
        count = ProgressCounter(RoundTracker(drawn))
        for start, stop, games in section.games(count.rounds.columns):
            count.add(start, stop, pair_points(games))
        progress = count.progress(None, {})
        report = live_report(asked, progress, drawn, section, tmp_path)
    page = Page(page_html(report, "120 games so far", "/* live */"))
    assert page.open == []
    assert len(page.data["n"]) == report.games.size == 2 * count.done
    assert all(page.data["moves"])
    assert ("AT THE END" in page_html(report)) == bool(asked.checks)
    assert {row.interval for row in report.pairs.values()} <= {"anytime", "none"}


@pytest.fixture
def server():
    with LiveServer() as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield serving
        serving.shutdown()


def asked_for(server, path=None, host=None, method="GET"):
    client = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    client.putrequest(method, path or f"/{server.token}/", skip_host=True)
    client.putheader("Host", f"127.0.0.1:{server.server_port}" if host is None else host)
    client.endheaders()
    answer = client.getresponse()
    content = answer.read()
    client.close()
    return answer.status, content


def test_the_page_needs_the_whole_address(server):
    assert asked_for(server) == (200, WAITING)
    assert asked_for(server, method="HEAD") == (200, b"")
    token = server.token
    for path in ("/", "/x/", f"/{token[:-1]}/", f"/{token}x/", f"/{token}", "//", f"/{token}/../"):
        assert asked_for(server, path) == (404, b"")
    assert asked_for(server, method="POST")[0] == 501
    assert server.socket.getsockname()[0] == "127.0.0.1"
    assert len(token) >= 22


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "", "localhost"])
def test_another_host_name_is_refused(server, host):
    assert asked_for(server, host=host) == (403, b"")


def test_idle_connections_do_not_block_others(server):
    idle = [socket.create_connection(("127.0.0.1", server.server_port)) for _ in range(40)]
    assert asked_for(server)[0] == 200
    for client in idle:
        client.close()


def test_the_page_is_rewritten_only_while_it_has_a_reader(server, monkeypatch, tmp_path):
    made = []
    monkeypatch.setattr(live, "live_report", lambda *_: made.append("report"))
    monkeypatch.setattr(live, "page_html", lambda *_: f"page {len(made)}")
    monkeypatch.setattr(live, "SECONDS", 0.0)
    monkeypatch.setattr(live, "SHARE", 1e9)
    view, progress = LivePage(experiment(["a", "b"]), server), GameProgress(done=1, total=9)
    view.show(progress, None, None)
    assert not made
    assert asked_for(server) == (200, WAITING)
    view.show(progress, None, None)
    assert asked_for(server) == (200, b"page 1")
    monkeypatch.setattr(live, "SECONDS", 60.0)
    view.show(progress, None, None)
    view.show(progress, None, None)
    assert asked_for(server) == (200, b"page 2")
    monkeypatch.setattr(live.time, "sleep", lambda _: made.append("wait"))
    (tmp_path / "report.html").write_text("the report")
    view.finish(tmp_path / "report.html")
    assert asked_for(server) == (200, b"the report")
    assert made[-1] == "wait"
