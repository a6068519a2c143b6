"""Rewrite and serve the page while games are played."""

import contextlib
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from arena.analysis.checks.registry import Verdict
from arena.analysis.evidence import Evidence, evidence_of, section_games
from arena.analysis.summary import Summary, relabel_intervals, summarise
from arena.analysis.summary_file import summary_json
from arena.analysis.tables import elo_rows, win_rate_rows
from arena.analysis.win_rates import ONLY_FORFEITS, WinRate, WinRates
from arena.config.experiment import Experiment
from arena.planning.games import pair_points
from arena.planning.schedule import RoundTracker, Schedule
from arena.playing.progress import GameProgress
from arena.report.data import ReportData, load_game_table
from arena.report.local_server import LocalHandler, LocalServer
from arena.report.page import page_html
from arena.stats.anytime import AnytimeScore, anytime_estimate
from arena.stats.elo import elo_estimate
from arena.stats.estimate import Estimate, negate, no_estimate, transform
from arena.stats.match_estimate import MatchEstimate
from arena.stats.text import match_estimate_text, rating_text
from arena.storage.game_table import write_games
from arena.storage.journal import Section
from arena.storage.provenance import load_run_file
from games.base.errors import print_error
from games.base.progress import Progress

SECONDS = 3.0  # between two versions of the page, as in live.js
SHARE = 0.03  # of the time that pages may take: a page of 100,000 games takes a second
READER_SECONDS = 15.0  # after the last request, during which the page is rewritten
ANYTIME = "The intervals of matches are anytime-valid, and so wider than those at the end."
LATER = "its interval comes at the end"
LIVE = Path(__file__).with_name("live.js")
WAITING = (
    f'<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="{SECONDS:g}">'
    "<title>Live</title><p>Waiting for the first games.</p>"
).encode()


class LiveServer(LocalServer):
    """Serves one page, which is replaced while games are played."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.page = WAITING
        self.last_request = -READER_SECONDS

    @property
    def has_reader(self) -> bool:
        """Return whether a reader has the page open."""
        return time.monotonic() < self.last_request + READER_SECONDS


class _Handler(LocalHandler):
    server: LiveServer

    def do_GET(self) -> None:
        name = self.requested_name()
        if name is None:
            return
        if name:
            self.reply(404)
        else:
            self.server.last_request = time.monotonic()
            self.reply(200, self.server.page)

    do_HEAD = do_GET


class LivePage:
    """Rewrites the page while it has a reader, and ends with the report."""

    def __init__(self, experiment: Experiment, server: LiveServer) -> None:
        self.experiment, self.server = experiment, server
        self.due = 0.0

    def show(self, progress: Progress, schedule: Schedule, section: Section) -> None:
        """Rewrite the page if it is due."""
        if not isinstance(progress, GameProgress):
            return  # no games yet
        if time.monotonic() < self.due or not progress.done or not self.server.has_reader:
            return
        begun = time.thread_time()
        with tempfile.TemporaryDirectory() as scratch:
            report = live_report(self.experiment, progress, schedule, section, Path(scratch))
            so_far = f"{2 * progress.done:,} games so far. {ANYTIME}"
            self.server.page = page_html(report, so_far, LIVE.read_text()).encode()
        self.due = time.monotonic() + max(SECONDS, (time.thread_time() - begun) / SHARE)

    def finish(self, report: Path) -> None:
        """Show the page of the finished run until open pages have loaded it."""
        if report.exists():
            self.server.page = report.read_bytes()
            if self.server.has_reader:
                time.sleep(SECONDS + 1.0)


@contextlib.contextmanager
def serve_live_page(experiment: Experiment) -> Iterator[LivePage]:
    """Serve the page of a run until it ends, and print its address."""
    with LiveServer() as server:
        threading.Thread(target=server.serve_forever, name="live page", daemon=True).start()
        print_error(f"live: {server.address}")
        try:
            yield LivePage(experiment, server)
        finally:
            server.shutdown()


def live_report(
    experiment: Experiment,
    progress: GameProgress,
    schedule: Schedule,
    section: Section,
    scratch: Path,
) -> ReportData:
    """Return the report of the games in the journal, with anytime-valid intervals."""
    schedule = schedule_so_far(schedule, section)
    plan, parts = schedule.plan, section_games(section, schedule)

    evidence = evidence_of(plan, parts, opening_plies=schedule.openings.plies)
    summary = _anytime_summary(experiment, progress, evidence)
    table = scratch / "games.parquet"
    write_games(
        table, parts(), evidence.repeat, schedule.game, plan.names, schedule.openings, {},
        moves=evidence.keeps_moves,
    )  # fmt: skip
    later = [
        Verdict(check.that, check.test, "at the end", "decided at the end")
        for check in experiment.checks
    ]
    return ReportData(
        plan=plan,
        run=load_run_file(section.directory),
        summary=summary_json(summary, experiment.checks, later),
        ratings=tuple(elo_rows(summary)),
        pairs={(row.agent, row.opponent): row for row in win_rate_rows(summary)},
        timings=evidence.timings,
        games=load_game_table(table, plan.names),
        points=summary.points,
    )


def schedule_so_far(schedule: Schedule, section: Section) -> Schedule:
    """Return the schedule with the rounds that the results in the journal decide."""
    tracker = RoundTracker(schedule)
    if schedule.plan.rounds is not None:
        for start, _, games in section.games(tracker.columns):
            tracker.add_points(start, pair_points(games))
    return tracker.schedule


def _anytime_summary(experiment: Experiment, progress: GameProgress, evidence: Evidence) -> Summary:
    by_points = experiment.standings == "points"
    summary = summarise(
        evidence, name=experiment.name, tournament=progress.tournament, by_points=by_points, draws=0
    )
    return relabel_intervals(with_anytime_intervals(summary, progress.standings))


def with_anytime_intervals(
    summary: Summary, standings: Mapping[tuple[int, int], AnytimeScore]
) -> Summary:
    """Replace the intervals of matches by anytime-valid ones, and remove all others."""
    place = {name: number for number, name in enumerate(summary.agents)}

    def with_anytime_row(rate: WinRate) -> WinRate:
        a, b = place[rate.agent], place[rate.opponent]
        row = _anytime_row(rate.row, _anytime_score(standings, a, b))
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
        win_rates=WinRates(
            tuple(map(with_anytime_row, summary.win_rates.own)), match_estimate_text
        ),
    )


def _anytime_score(standings: Mapping[tuple[int, int], AnytimeScore], a: int, b: int) -> Estimate:
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
