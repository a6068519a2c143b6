"""One run from experiment to tables."""

import contextlib
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from arena.analysis.checks.registry import impossible_checks
from arena.config.command_line import RunOptions, command_text
from arena.config.experiment import Experiment
from arena.config.toml_file import ExperimentError, read
from arena.pipeline.run_notes import (
    load_or_replay_bots,
    note_failure,
    write_run_end,
    write_run_start,
    write_unloadable,
)
from arena.planning.games import GameParts, moves_of_game, pair_points
from arena.planning.schedule import DrawnPlan, RoundTracker, make_schedule
from arena.playing.bot_replays import BotReplays
from arena.playing.bots import (
    contradiction_lines,
    load_reasons,
    unloadable,
    with_deterministic_matches,
    without_copies,
)
from arena.playing.executor import ItemFailed
from arena.playing.forfeits import UselessBots
from arena.playing.play import PlayResult, play_schedule
from arena.playing.worker import play_pair
from arena.storage import provenance
from arena.storage.journal import JOURNAL, RunDirectory, Section
from arena.storage.provenance import RunIdentity
from arena.storage.run_differences import explain_new_run
from arena.storage.run_log import open_run_log
from arena.terminal.next_step import next_step
from arena.terminal.progress import open_displays
from games.base.cli import shell_command
from games.base.errors import Unfinished, UserError, print_error, print_safely, printable
from games.base.files import remove_partial_files, write_text
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
    with name_failed_pair(experiment, options.overrides):
        origin = provenance.identify_run(experiment.name, experiment.plan)
        directory = options.results / experiment.name / origin.digest
        earlier = None if options.quiet else explain_new_run(directory, origin)
        with (
            RunDirectory(directory, origin.digest, options.fresh) as locked,
            open_run_log(directory / "run.log"),
            open_live_view(experiment, options) as live,
            failure_noted(experiment, origin, locked.section(), options),
        ):
            section = locked.section()
            # Bots that stop the run, and a weak sandbox, come before the message about a new run.
            drawn = make_schedule(experiment.plan)
            with open_displays(options.quiet, directory) as show:
                unloadable(drawn, section, options.playing, show)
            drawn = with_deterministic_matches(drawn, section, options.playing)
            write_run_start(experiment, origin, section, drawn, options)
            if earlier:
                print_error(earlier)
            _tell(
                (*contradiction_lines(drawn), *impossible_checks(experiment.checks, drawn)), options
            )
            _tell(provenance.large_directory_lines(experiment.plan), options)
            played = play_experiment(drawn, section, options, live)
            while again := without_copies(played.drawn, section):
                write_run_start(experiment, origin, section, again, options)
                _tell(contradiction_lines(again), options)
                played = play_experiment(again, section, options, live)
            write_unloadable(origin, section, drawn)
            holds, excluded = analyse(experiment, origin, played, section, options)
            write_page_and_print(played.drawn, section, options, excluded)
            if live is not None:
                live.finish(directory / "report.html")
            return holds


@contextlib.contextmanager
def failure_noted(
    experiment: Experiment, origin: RunIdentity, section: Section, options: RunOptions
) -> Iterator[None]:
    """Write into run.json which bots stop the run, for `pitflip runs`."""
    try:
        yield
    except UselessBots as error:
        note_failure(experiment, origin, section, options, str(error))
        raise


def _tell(lines: Iterable[str], options: RunOptions) -> None:
    if not options.quiet:
        for line in lines:
            print_error(line)


def open_live_view(
    experiment: Experiment, options: RunOptions
) -> "contextlib.AbstractContextManager[LiveView | None]":
    """Open the live page of a run, if the options ask for one."""
    if not options.live:
        return contextlib.nullcontext()
    # The server and the page are loaded here: nothing is imported while it serves.
    from arena.report.live import serve_live_page  # noqa: PLC0415  # only if asked for

    return serve_live_page(experiment)


@contextlib.contextmanager
def name_failed_pair(experiment: Experiment, overrides: Sequence[str]) -> Iterator[None]:
    """Name a pair that cannot be played, with the command that plays it alone.

    Bots that stop the run get their lines in the file.
    """
    try:
        yield
    except UselessBots as error:
        raise located(experiment, overrides, error) from None
    except ItemFailed as error:
        alone = "--pairing", str(error.item.start)
        command = command_text(experiment.path, overrides, *alone)
        raise Unfinished(f"{error}. Everything else is kept. To see it happen: {command}") from None


def located(experiment: Experiment, overrides: Sequence[str], error: UselessBots) -> UserError:
    """Return the bots that stop a run, with the line of each in the experiment file."""
    try:
        _, problems = read(experiment.path, overrides)
    except ExperimentError:  # the experiment was not read from a file
        return error
    for name, verdict in error.verdicts.items():
        problems.add(("agents", name), verdict, ("agents", name))
    found = [text for _, text in sorted(problems.found, key=lambda each: each[0])]
    lines = [line for text in found for line in indented(text)]
    return ExperimentError([*lines, WITHOUT_THEM])


def indented(text: str) -> list[str]:
    """The lines of a problem; those that belong to the first one are indented."""
    first, *more = text.splitlines()
    return [first, *(f"  {line}" for line in more)]


def play_experiment(
    drawn: DrawnPlan, section: Section, options: RunOptions, live: "LiveView | None"
) -> PlayResult:
    """Play what the journal does not have."""
    if (before := section.finished()) and not options.quiet:
        of = f"of {2 * drawn.pairings.total:,} games" if drawn.plan.rounds is None else "games"
        print_error(f"continuing: {2 * before:,} {of} were played before")
    pages = [] if live is None else [lambda progress: live.show(progress, drawn, section)]
    with open_displays(options.quiet, section.directory, *pages) as show:
        notify = log.info if options.quiet else print_error
        played = play_schedule(drawn, section, options.playing, show=show, notify=notify)
    options.interrupts.look()
    if played.known and not options.quiet:
        print_error(f"{played.known:,} of {2 * played.drawn.pairings.total:,} games were known.")
    return played


def analyse(
    experiment: Experiment,
    origin: RunIdentity,
    played: PlayResult,
    section: Section,
    options: RunOptions,
) -> "tuple[bool, Sequence[Exclusion]]":
    """Analyse, write, check, print; return whether all checks hold, and excluded bots."""
    # The analysis is loaded after the games: the first game need not wait for it.
    from arena.analysis import summary_file  # noqa: PLC0415
    from arena.analysis.checks import registry  # noqa: PLC0415
    from arena.analysis.run_evidence import evidence_of_run  # noqa: PLC0415

    drawn, directory = played.drawn, section.directory
    progress = quiet if options.quiet else print_error
    finished, parts = section.finished(), section_games(section, drawn)
    evidence = evidence_of_run(
        drawn, parts, finished, directory, options.wall, progress, load_reasons(section)
    )
    remove_partial_files(directory)
    replays = load_or_replay_bots(drawn, section, options)
    source = provenance.table_metadata(drawn.plan, origin)
    summed = write_tables(experiment, played, evidence, parts, source, directory)
    write_search_table(drawn, section, source)
    verdicts = registry.verdicts(experiment.checks, evidence)
    summary = summary_file.summary_text(summed, experiment.checks, verdicts)
    write_text(directory / summary_file.SUMMARY, summary)
    write_run_end(directory, origin, played, evidence, replays, options)
    print_results(experiment, summed, verdicts, replays, options)
    return all(verdict.holds for verdict in verdicts), summed.excluded


def write_page_and_print(
    drawn: DrawnPlan, section: Section, options: RunOptions, excluded: "Sequence[Exclusion]"
) -> None:
    """Write the page, and print where everything is and which bots were excluded.

    The summary is read from the tables again.
    """
    directory = section.directory
    shown = options.tables and not options.json
    answer, page = (
        _answer_and_page(directory, options.page) if shown or options.page else ("", None)
    )
    options.interrupts.finish()
    if not options.quiet and (options.tables or page is not None):
        print_error(f"tables: {printable(str(directory))}")
        if page is not None:
            print_error(f"page: {printable(str(page))}")
        if options.tables:
            print_error(next_step(drawn, directory, section_games(section, drawn)))
    if options.tables:
        _print_excluded(excluded, options.quiet)
    if shown:
        print_safely(lambda: print(printable(answer)))


def _print_excluded(excluded: "Sequence[Exclusion]", quiet: bool) -> None:
    """Name the excluded bots in the last lines, with reasons if these were not printed before."""
    if excluded and not quiet:
        print_error(f"excluded: {listed([each.agent for each in excluded])}")
    elif quiet:
        for each in excluded:
            print_error(each.line)


def section_games(section: Section, drawn: DrawnPlan) -> GameParts:
    """Return a function that reads the games of a section, without search information."""
    return lambda: (
        replace(games, thoughts={}) if games.thoughts else games
        for _, _, games in section.games(drawn.pairings.columns)
    )


def quiet(_: str) -> None:
    """Print nothing."""


def write_tables(
    experiment: Experiment,
    played: PlayResult,
    evidence: "Evidence",
    parts: GameParts,
    source: Mapping[str, object],
    directory: Path,
) -> "Summary":
    """Write the tables of a run; return their summary."""
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
    summed = adapted.interval_kind(summed)
    if summed.points:
        parquet.write_rows(directory / "points.parquet", PointsRow, summed.points, source)
    elo, rates = tables.elo_rows(summed), tables.win_rate_rows(summed)
    parquet.write_rows(directory / "elo.parquet", tables.EloRow, elo, source)
    parquet.write_rows(directory / "win_rates.parquet", tables.WinRateRow, rates, source)
    parquet.write_rows(directory / "timings.parquet", Timing, evidence.timings, source)
    if rows := tables.tournament_rows(summed):
        parquet.write_rows(directory / "tournament.parquet", tables.TournamentRow, rows, source)
    return summed


def write_search_table(drawn: DrawnPlan, section: Section, source: Mapping[str, object]) -> None:
    """Write the table of search information, if the plan keeps it."""
    if not drawn.plan.thoughts:
        return
    from arena.storage.game_table import SEARCH_INFO, write_search_info  # noqa: PLC0415  # as above

    parts = (games for _, _, games in section.games(drawn.pairings.columns))
    write_search_info(section.directory / SEARCH_INFO, parts, drawn.plan.names, source)


def _answer_and_page(directory: Path, page: bool) -> tuple[str, Path | None]:
    """Return the answer of a run from its tables; write its page if asked for, and return where."""
    from arena.report.answer import answer_line  # noqa: PLC0415  # as above
    from arena.report.data import load_report  # noqa: PLC0415

    report = load_report(directory)
    if not page:
        return answer_line(report), None
    from arena.report.page import PAGE, write_page  # noqa: PLC0415

    write_page(report, directory / PAGE)
    return answer_line(report), directory / PAGE


def print_results(
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
        pass  # the caller prints its own answer
    elif options.json:
        print_safely(lambda: print(tables.as_json(summed, verdicts)))
    else:
        again = repeatability(experiment.plan, replays)
        notes = [] if again.certain else [f"can be repeated: {again.words}"]
        print_safely(lambda: tables.print_summary(summed, verdicts, notes))
    if options.junit:
        write_text(options.junit, junit.junit_xml(verdicts, experiment.name))


def play_one_pair(experiment: Experiment, pairing: int, options: RunOptions) -> None:
    """Play one pair in this process, to show what happens."""
    with name_failed_pair(experiment, options.overrides):
        drawn = make_schedule(experiment.plan)
        if drawn.plan.rounds is not None:
            drawn = schedule_with_stored_rounds(experiment, drawn, options.results)
        total = drawn.pairings.total
        if not 0 <= pairing < total:
            later = "" if drawn.plan.rounds is None else "; later rounds follow from results"
            raise UserError(f"pairing must lie from 0 to {total - 1}, got {pairing}{later}")
        games = play_pair(drawn, pairing, {}, options.wall)
    placed = drawn.pairings.columns(pairing, pairing + 1)
    for row in range(2):
        first, second = (drawn.plan.names[placed[seat][row]] for seat in ("first", "second"))
        print(f"{first} against {second}: margin {games.margin[row]:+d}")
        print(
            games.traces.get(row)
            or shell_command(replay_command(drawn.of, moves_of_game(games, row)))
        )


def schedule_with_stored_rounds(
    experiment: Experiment, drawn: DrawnPlan, results: Path
) -> DrawnPlan:
    """Return the schedule with the rounds that its run has come to."""
    origin = provenance.identify_run(experiment.name, experiment.plan)
    directory, course = results / experiment.name / origin.digest, RoundTracker(drawn)
    if (directory / JOURNAL).exists():
        with RunDirectory(directory, origin.digest) as locked:
            for start, _, games in locked.section().games(course.columns):
                course.take(start, pair_points(games))
    return course.drawn
