"""Rewrite and serve the page while games are played."""

import contextlib
import secrets
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from arena.analysis.adapted import interval_kind
from arena.analysis.checks.claims import Verdict
from arena.analysis.evidence import Evidence, evidence_of
from arena.analysis.summary import Summary, summarise
from arena.analysis.summary_file import summary_values
from arena.analysis.tables import elo_rows, win_rate_rows
from arena.analysis.win_rates import ONLY_FORFEITS, WinRate, WinRates
from arena.config.experiment import Experiment
from arena.planning.games import Games, pair_points
from arena.planning.schedule import DrawnPlan, RoundTracker
from arena.playing.progress import GameProgress
from arena.report.data import ReportData, load_game_table
from arena.report.page import page_of
from arena.stats.anytime import AnytimeScore, anytime_estimate
from arena.stats.elo import elo_estimate
from arena.stats.estimate import Estimate, negate, no_estimate, transform
from arena.stats.match_estimate import MatchEstimate
from arena.stats.text import match_estimate_text, rating_text
from arena.storage.game_table import write_games
from arena.storage.journal import Section
from arena.storage.provenance import read_run
from games.base.errors import print_error
from games.base.progress import Progress

SECONDS = 3.0  # between two versions of the page; live.js reloads as often
SHARE = 0.03  # of the time may be spent on the page: that of 100,000 games takes a second
WATCHED_SECONDS = 15.0  # after the last request the page is not made anew
EVERY_LOOK = "The intervals of matches hold at every look, and are wider for it."
LATER = "its interval comes at the end"
LIVE = Path(__file__).with_name("live.js")
WAITING = (
    f'<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="{SECONDS:g}">'
    "<title>Live</title><p>Waiting for the first games.</p>"
).encode()
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class LiveServer(ThreadingHTTPServer):
    """Serves one page on this machine, at an address with a random token."""

    daemon_threads = True

    def __init__(self) -> None:
        """Listen; nobody is answered before `serve_forever`."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.token, self.page = secrets.token_urlsafe(18), WAITING
        self.hosts = {f"{name}:{self.server_port}" for name in ("127.0.0.1", "localhost")}
        self.asked = -WATCHED_SECONDS  # when the page was last read

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self.server_port}/{self.token}/"

    @property
    def watched(self) -> bool:
        """Whether somebody has the page open."""
        return time.monotonic() < self.asked + WATCHED_SECONDS

    def handle_error(self, request: object, client_address: object) -> None:
        """Readers may hang up at any moment."""


class _Handler(BaseHTTPRequestHandler):
    server: LiveServer
    timeout = 5.0  # seconds, for a request to arrive and for its answer to be taken

    def do_GET(self) -> None:
        self._answer(self.server.page)

    def do_HEAD(self) -> None:
        self._answer(b"")

    def _answer(self, content: bytes) -> None:
        path = f"/{self.server.token}/"
        # A page of another site may have its name point here: it does not know this one.
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self.server.hosts:
            status, content = 403, b""
        elif not secrets.compare_digest(self.path.encode(), path.encode()):
            status, content = 404, b""
        else:
            status, self.server.asked = 200, time.monotonic()
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Requests are not logged: the terminal has the progress line."""


class LiveView:
    """Makes the page anew while somebody reads it, and ends with the report."""

    def __init__(self, experiment: Experiment, server: LiveServer) -> None:
        """Show nothing yet."""
        self.experiment, self.server = experiment, server
        self.begun, self.due = time.monotonic(), 0.0
        self.spent = self.last = 0.0  # seconds of this thread on all pages, and on the last one

    def show(self, progress: Progress, drawn: DrawnPlan, section: Section) -> None:
        """Rewrite the page if it is due."""
        if not isinstance(progress, GameProgress):
            return  # no games yet
        now = time.monotonic()
        # The next page takes longer than the last one, for there are more games.
        costly = self.spent + 2.0 * self.last > SHARE * (now - self.begun)
        if now < self.due or costly or not progress.done or not self.server.watched:
            return
        begun = time.thread_time()
        with tempfile.TemporaryDirectory() as scratch:
            report = live_report(self.experiment, progress, drawn, section, Path(scratch))
            so_far = f"{2 * progress.done:,} games so far. {EVERY_LOOK}"
            self.server.page = page_of(report, so_far, LIVE.read_text()).encode()
        self.last = time.thread_time() - begun
        self.spent += self.last
        self.due = time.monotonic() + SECONDS

    def finish(self, report: Path) -> None:
        """Show the page of the run, until open pages have loaded it."""
        if report.exists():
            self.server.page = report.read_bytes()
            if self.server.watched:
                time.sleep(SECONDS + 1.0)


@contextlib.contextmanager
def serve_live_page(experiment: Experiment) -> Iterator[LiveView]:
    """Serve the page of a run until it ends; its address is printed."""
    with LiveServer() as server:
        threading.Thread(target=server.serve_forever, name="live page", daemon=True).start()
        print_error(f"live: {server.address}")
        try:
            yield LiveView(experiment, server)
        finally:
            server.shutdown()


def live_report(
    experiment: Experiment,
    progress: GameProgress,
    drawn: DrawnPlan,
    section: Section,
    scratch: Path,
) -> ReportData:
    """Return the report of the games in the journal, with anytime-valid intervals."""
    course = RoundTracker(drawn)
    if drawn.plan.rounds is not None:  # the results of a round decide the next one
        for start, _, games in section.games(course.columns):
            course.take(start, pair_points(games))
    drawn, plan = course.drawn, course.drawn.plan

    def parts() -> Iterator[Games]:
        for _, _, games in section.games(drawn.pairings.columns):
            yield replace(games, thoughts={})

    evidence = evidence_of(plan, parts, opening_plies=drawn.openings.plies)
    summary = _summary(experiment, progress, evidence)
    table = scratch / "games.parquet"
    write_games(
        table, parts(), evidence.repeat, drawn.of, plan.names, drawn.openings, {},
        moves=evidence.keeps_moves,
    )  # fmt: skip
    later = [
        Verdict(check.that, check.test, "at the end", "decided at the end")
        for check in experiment.checks
    ]
    return ReportData(
        plan=plan,
        run=read_run(section.directory),
        summary=summary_values(summary, experiment.checks, later),
        ratings=tuple(elo_rows(summary)),
        pairs={(row.agent, row.opponent): row for row in win_rate_rows(summary)},
        timings=evidence.timings,
        games=load_game_table(table, plan.names),
        points=summary.points,
    )


def _summary(experiment: Experiment, progress: GameProgress, evidence: Evidence) -> Summary:
    by_points = experiment.standings == "points"
    summary = summarise(
        evidence, name=experiment.name, tournament=progress.tournament, by_points=by_points, draws=0
    )
    return interval_kind(anytime(summary, progress.standings))


def anytime(summary: Summary, standings: Mapping[tuple[int, int], AnytimeScore]) -> Summary:
    """Replace the intervals of matches by anytime-valid ones, and leave out all others."""
    place = {name: number for number, name in enumerate(summary.agents)}

    def changed(rate: WinRate) -> WinRate:
        a, b = place[rate.agent], place[rate.opponent]
        row = _anytime_row(rate.row, _score(standings, a, b))
        return replace(rate, row=row, text=match_estimate_text(row))

    def without_interval(estimate: Estimate) -> Estimate:
        return no_estimate(LATER, estimate.value, estimate.level)

    ratings = [(row, without_interval(row.elo)) for row in summary.ratings]
    return replace(
        summary,
        first_mover=without_interval(summary.first_mover),
        ratings=tuple(replace(row, elo=elo, text=rating_text(elo)) for row, elo in ratings),
        groups=tuple(
            replace(group, first_move=without_interval(group.first_move), text="")
            for group in summary.groups
        ),
        win_rates=WinRates(map(changed, summary.win_rates.own), match_estimate_text),
    )


def _score(standings: Mapping[tuple[int, int], AnytimeScore], a: int, b: int) -> Estimate:
    """The score of `a` against `b`."""
    if (a, b) in standings:
        return anytime_estimate(standings[a, b])
    return transform(negate(anytime_estimate(standings[b, a])), lambda score: 1.0 + score)


def _anytime_row(row: MatchEstimate, score: Estimate) -> MatchEstimate:
    if row.score.reason == ONLY_FORFEITS:
        score = row.score
    normalized = no_estimate(LATER, level=score.level)
    like = replace(row.like, score=score, elo=elo_estimate(score), normalized=normalized)
    first_mover = no_estimate(LATER, row.first_mover.value, row.first_mover.level)
    return replace(row, like=like, these=None, first_mover=first_mover, superiority=None)
