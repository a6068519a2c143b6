"""One run from experiment to tables."""

import contextlib
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from arena.analysis.checks.registry import hopeless_lines
from arena.config.command_line import RunOptions, run_command
from arena.config.experiment import Experiment
from arena.config.toml_file import ExperimentError, read
from arena.pipeline.run_notes import (
    note_begin,
    note_end,
    note_failure,
    note_unloadable,
    tested_bots,
)
from arena.planning.games import Parts, moves_of, pair_points
from arena.planning.round_tracker import Course
from arena.planning.schedule import DrawnPlan, draw
from arena.playing.bot_replays import BotReplays
from arena.playing.bots import contradicted, determined, unloadable, without_copies
from arena.playing.forfeits import UselessBots
from arena.playing.play import Played, Tick, play
from arena.playing.worker import RunFailed, played_here
from arena.storage import provenance
from arena.storage.journal import JOURNAL, Journal
from arena.storage.provenance import Origin
from arena.storage.run_differences import why_new
from arena.storage.run_log import RunLog
from arena.terminal.next_step import next_step
from arena.terminal.progress_line import LiveLine, run_shown
from games.base.cli import here
from games.base.errors import Mistake, Unfinished, printable, printed, say
from games.base.files import remove_unfinished, write_text
from games.base.text import listed
from games.transcripts import replay_command

if TYPE_CHECKING:
    from arena.analysis.checks.claims import Verdict
    from arena.analysis.evidence import Evidence
    from arena.analysis.exclusions import Exclusion
    from arena.analysis.summary import Summary
    from arena.report.live import LiveView

log = logging.getLogger(__name__)
WITHOUT_THEM = 'set unloadable = "forfeit" to play without them'


def run(experiment: Experiment, options: RunOptions) -> bool:
    """Play what is left, write and print the tables; whether all checks hold."""
    with pairing_named(experiment, options.overrides):
        origin = provenance.origin_of(experiment.name, experiment.plan)
        directory = options.results / experiment.name / origin.digest
        earlier = None if options.quiet else why_new(directory, origin)
        with (
            Journal(directory, origin.digest, options.fresh) as journal,
            RunLog(directory / "run.log"),
            _seen(experiment, options) as live,
            failure_noted(experiment, origin, journal, options),
        ):
            # What refuses a run comes before a new one is spoken of: bots that stop it, walls.
            drawn = draw(experiment.plan)
            unloadable(drawn, journal, options.playing, log.info if options.quiet else say)
            drawn = determined(drawn, journal, options.playing)
            note_begin(experiment, origin, journal, drawn, options)
            if earlier:
                say(earlier)
            _tell((*contradicted(drawn), *hopeless_lines(experiment.checks, drawn)), options)
            _tell(provenance.large_directory_lines(experiment.plan), options)
            played = _played(drawn, journal, options, live)
            while again := without_copies(played.drawn, journal):
                note_begin(experiment, origin, journal, again, options)
                _tell(contradicted(again), options)
                played = _played(again, journal, options, live)
            note_unloadable(origin, journal, drawn)
            holds, excluded = _concluded(experiment, origin, played, journal, options)
            _finish(played.drawn, journal, options, excluded)
            if live is not None:
                live.finish(directory / "report.html")
            return holds


@contextlib.contextmanager
def failure_noted(
    experiment: Experiment, origin: Origin, journal: Journal, options: RunOptions
) -> Iterator[None]:
    """Note in run.json which bots stop the run, for those who ask later what became of it."""
    try:
        yield
    except UselessBots as error:
        note_failure(experiment, origin, journal, options, str(error))
        raise


def _tell(lines: Iterable[str], options: RunOptions) -> None:
    if not options.quiet:
        for line in lines:
            say(line)


def _seen(
    experiment: Experiment, options: RunOptions
) -> "contextlib.AbstractContextManager[LiveView | None]":
    """The live page of a run, if the options ask for one."""
    if not options.live:
        return contextlib.nullcontext()
    # The server and the page are loaded here: nothing is imported while it serves.
    from arena.report.live import live_view  # noqa: PLC0415  # only if asked for

    return live_view(experiment)


@contextlib.contextmanager
def pairing_named(experiment: Experiment, overrides: Sequence[str]) -> Iterator[None]:
    """Name a pairing that cannot be played with the command that plays it alone.

    Bots that stop the run are named with their lines in the file.
    """
    try:
        yield
    except UselessBots as error:
        raise located(experiment, overrides, error) from None
    except RunFailed as error:
        alone = "--pairing", str(error.pairing)
        command = run_command(experiment.path, overrides, *alone)
        raise Unfinished(f"{error}. Everything else is kept. To see it happen: {command}") from None


def located(experiment: Experiment, overrides: Sequence[str], error: UselessBots) -> Mistake:
    """The bots that stop a run, with the line of each in the experiment file."""
    try:
        _, problems = read(experiment.path, overrides)
    except ExperimentError:  # the experiment was not read from a file
        return error
    for name, verdict in error.verdicts.items():
        problems.say(("agents", name), verdict, ("agents", name))
    found = [text for _, text in sorted(problems.found, key=lambda each: each[0])]
    lines = [line for text in found for line in indented(text)]
    return ExperimentError([*lines, WITHOUT_THEM])


def indented(text: str) -> list[str]:
    """The lines of a problem; those that belong to the first one are indented."""
    first, *more = text.splitlines()
    return [first, *(f"  {line}" for line in more)]


def _played(
    drawn: DrawnPlan, journal: Journal, options: RunOptions, live: "LiveView | None"
) -> Played:
    """Play what is not in the journal; where the run then stands."""
    if (before := journal.finished()) and not options.quiet:
        of = f"of {2 * drawn.pairings.total:,} games" if drawn.plan.rounds is None else "games"
        say(f"continuing: {2 * before:,} {of} were played before")
    with LiveLine(options.quiet, journal.directory) as line:
        on_line = run_shown(line, drawn.plan.names)

        def show(tick: Tick) -> None:
            on_line(tick)
            if live is not None:
                live.show(tick, drawn, journal)

        tell = log.info if options.quiet else say
        played = play(drawn, journal, options.playing, show, tell)
    options.interrupts.look()
    if played.known and not options.quiet:
        say(f"{played.known:,} of {2 * played.drawn.pairings.total:,} games were known.")
    return played


def _concluded(
    experiment: Experiment,
    origin: Origin,
    played: Played,
    journal: Journal,
    options: RunOptions,
) -> "tuple[bool, Sequence[Exclusion]]":
    """Sum up, write the tables, check, print; whether all checks hold, and the excluded bots."""
    # What sums up is loaded after the games: the first game need not wait for it.
    from arena.analysis import summary_file  # noqa: PLC0415
    from arena.analysis.checks import registry  # noqa: PLC0415
    from arena.analysis.run_evidence import evidence_of_run  # noqa: PLC0415

    drawn, directory = played.drawn, journal.directory
    progress = quiet if options.quiet else say
    finished, parts = journal.finished(), journal_parts(journal, drawn)
    evidence = evidence_of_run(
        drawn, parts, finished, directory, options.wall, progress, journal.unloadable() or {}
    )
    remove_unfinished(directory)
    replays = tested_bots(drawn, journal, options)
    source = provenance.table_source(drawn.plan, origin)
    summed = _tabled(experiment, played, evidence, parts, source, directory)
    _keep_thoughts(drawn, journal, source)
    verdicts = registry.verdicts(experiment.checks, evidence)
    summary = summary_file.summary_json(summed, experiment.checks, verdicts)
    write_text(directory / summary_file.SUMMARY, summary)
    note_end(directory, origin, played, evidence, replays, options)
    _show(experiment, summed, verdicts, replays, options)
    return all(verdict.holds for verdict in verdicts), summed.excluded


def _finish(
    drawn: DrawnPlan, journal: Journal, options: RunOptions, excluded: "Sequence[Exclusion]"
) -> None:
    """Write the page, and say where everything is and which bots were excluded.

    What was summed up is forgotten by now.
    """
    directory = journal.directory
    shown = options.tables and not options.json
    answer, page = (
        _answer_and_page(directory, options.page) if shown or options.page else ("", None)
    )
    options.interrupts.finish()
    if not options.quiet and (options.tables or page is not None):
        say(f"tables: {printable(str(directory))}")
        if page is not None:
            say(f"page: {printable(str(page))}")
        if options.tables:
            say(next_step(drawn, directory, journal_parts(journal, drawn)))
    if options.tables:
        _tell_excluded(excluded, options.quiet)
    if shown:
        printed(lambda: print(printable(answer)))


def _tell_excluded(excluded: "Sequence[Exclusion]", quiet: bool) -> None:
    """Name the excluded bots in the last lines; without `quiet` the reasons are said already."""
    if excluded and not quiet:
        say(f"excluded: {listed([each.agent for each in excluded])}")
    elif quiet:
        for each in excluded:
            say(each.line)


def journal_parts(journal: Journal, drawn: DrawnPlan) -> Parts:
    """The games of a journal, read from it whenever they are asked for, without thoughts."""
    return lambda: (
        replace(games, thoughts={}) if games.thoughts else games
        for _, _, games in journal.parts(drawn.pairings.columns)
    )


def quiet(_: str) -> None:
    """Say nothing."""


def _tabled(
    experiment: Experiment,
    played: Played,
    evidence: "Evidence",
    parts: Parts,
    source: Mapping[str, object],
    directory: Path,
) -> "Summary":
    """Write the tables of a run; what stands in them."""
    from arena.analysis import adapted, summary, tables  # noqa: PLC0415  # as above
    from arena.analysis.standings import PointsRow  # noqa: PLC0415
    from arena.analysis.timings import Timing  # noqa: PLC0415
    from arena.storage import game_table, parquet  # noqa: PLC0415

    drawn, plan = played.drawn, played.drawn.plan
    game_table.write_games(
        directory / "games.parquet", parts(), evidence.repeat, drawn.of, plan.names,
        drawn.openings, source, moves=evidence.keeps_moves,
    )  # fmt: skip
    test = (plan.stop, played.sprt) if plan.stop and played.sprt else None
    summed = summary.summarise(
        evidence, name=experiment.name, sprt=test, tournament=played.tournament,
        by_points=experiment.standings == "points",
    )  # fmt: skip
    summed = adapted.adapted(summed)
    if summed.points:
        parquet.write_rows(directory / "points.parquet", PointsRow, summed.points, source)
    elo, rates = tables.elo_rows(summed), tables.win_rate_rows(summed)
    parquet.write_rows(directory / "elo.parquet", tables.EloRow, elo, source)
    parquet.write_rows(directory / "win_rates.parquet", tables.WinRateRow, rates, source)
    parquet.write_rows(directory / "timings.parquet", Timing, evidence.timings, source)
    if rows := tables.tournament_rows(summed):
        parquet.write_rows(directory / "tournament.parquet", tables.TournamentRow, rows, source)
    return summed


def _keep_thoughts(drawn: DrawnPlan, journal: Journal, source: Mapping[str, object]) -> None:
    """Write the table of what agents thought of their moves, if the plan asks for it."""
    if not drawn.plan.thoughts:
        return
    from arena.storage.game_table import THOUGHTS, write_thoughts  # noqa: PLC0415  # as above

    parts = (games for _, _, games in journal.parts(drawn.pairings.columns))
    write_thoughts(journal.directory / THOUGHTS, parts, drawn.plan.names, source)


def _answer_and_page(directory: Path, page: bool) -> tuple[str, Path | None]:
    """Return the answer of a run from its tables; write its page if asked for, and return where."""
    from arena.report.answer import answer_line  # noqa: PLC0415  # as above
    from arena.report.data import stored_report  # noqa: PLC0415

    report = stored_report(directory)
    if not page:
        return answer_line(report), None
    from arena.report.page import PAGE, write_page  # noqa: PLC0415

    write_page(report, directory / PAGE)
    return answer_line(report), directory / PAGE


def _show(
    experiment: Experiment,
    summed: "Summary",
    verdicts: "list[Verdict]",
    replays: BotReplays,
    options: RunOptions,
) -> None:
    """Print the results as tables or JSON; write the checks as JUnit if the options say so."""
    from arena.analysis.repeatability import repeatability  # noqa: PLC0415  # not needed to play
    from arena.formats import junit  # noqa: PLC0415
    from arena.terminal import tables  # noqa: PLC0415

    if not options.tables:
        pass  # whoever asked has an answer of its own
    elif options.json:
        printed(lambda: print(tables.as_json(summed, verdicts)))
    else:
        again = repeatability(experiment.plan, replays)
        notes = [] if again.certain else [f"can be repeated: {again.words}"]
        printed(lambda: tables.show(summed, verdicts, notes))
    if options.junit:
        write_text(options.junit, junit.junit(verdicts, experiment.name))


def play_alone(experiment: Experiment, pairing: int, options: RunOptions) -> None:
    """Play one pairing in this process, to see what becomes of it."""
    with pairing_named(experiment, options.overrides):
        drawn = draw(experiment.plan)
        if drawn.plan.rounds is not None:
            drawn = _as_far_as_played(experiment, drawn, options.results)
        total = drawn.pairings.total
        if not 0 <= pairing < total:
            later = "" if drawn.plan.rounds is None else "; later rounds follow from results"
            raise Mistake(f"pairing must lie from 0 to {total - 1}, got {pairing}{later}")
        games = played_here(drawn, pairing, {}, options.wall)
    placed = drawn.pairings.columns(pairing, pairing + 1)
    for row in range(2):
        first, second = (drawn.plan.names[placed[seat][row]] for seat in ("first", "second"))
        print(f"{first} against {second}: margin {games.margin[row]:+d}")
        print(games.traces.get(row) or here(replay_command(drawn.of, moves_of(games, row))))


def _as_far_as_played(experiment: Experiment, drawn: DrawnPlan, results: Path) -> DrawnPlan:
    """The plan with the rounds that its run in `results` has come to."""
    origin = provenance.origin_of(experiment.name, experiment.plan)
    directory, course = results / experiment.name / origin.digest, Course(drawn)
    if (directory / JOURNAL).exists():
        with Journal(directory, origin.digest) as journal:
            for start, _, games in journal.parts(course.columns):
                course.take(start, pair_points(games))
    return course.drawn
