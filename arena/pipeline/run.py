"""One run, from the experiment to its tables."""

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from agents.fault_text import fault_line
from agents.registry import user_code_reason
from agents.sandbox.isolation import IsolationLevel
from arena.analysis.checks.registry import doubtful_checks, impossible_checks
from arena.analysis.evidence import exclusion_rows, section_games
from arena.analysis.repeatability import KEY, Repeatability, repeatability
from arena.config.experiment import Experiment
from arena.config.run_options import RunOptions, command_text
from arena.config.toml_file import ExperimentError, read_experiment_file
from arena.planning.games import LOSS, GameParts, Termination, moves_of_game, pair_points
from arena.planning.plan import Plan
from arena.planning.scale import SCALE, require_current_scale
from arena.planning.schedule import RoundTracker, Schedule, make_schedule
from arena.playing.bots import find_unloadable, load_reasons
from arena.playing.cached_pairs import CachedPairs
from arena.playing.determinism import (
    FIXED,
    BotReplays,
    contradiction_lines,
    remove_contradictions,
    replay_bots,
    with_deterministic_matches,
)
from arena.playing.executor import ItemFailed
from arena.playing.forfeits import UselessBots
from arena.playing.play import PlayResult, play_schedule
from arena.playing.process_pool import enough_cores, pinning_text
from arena.playing.progress import GameProgress
from arena.playing.worker import play_pair
from arena.stats.text import stop_text
from arena.storage import provenance
from arena.storage.game_table import SEARCH_INFO
from arena.storage.journal import JOURNAL, RunDirectory, Section
from arena.storage.provenance import RunIdentity
from arena.storage.run_file import (
    EXPERIMENT,
    TABLES,
    explain_new_run,
    renew_checksums,
    write_checksums,
)
from arena.storage.run_log import BOT_LOGS, BOT_OUTPUT, open_run_log, write_bot_logs
from arena.storage.versions import (
    SourceEdited,
    SourceWatch,
    copy_sources,
    forget_after_edit,
    playable_copies,
)
from arena.terminal.next_step import next_step
from arena.terminal.progress import open_displays, show_output
from games.base.cli import shell_command
from games.base.errors import Unfinished, UserError
from games.base.files import remove_partial_files, write_text
from games.base.progress import Progress
from games.base.schema import KeyValues
from games.base.text import join_names
from games.transcripts import replay_command

if TYPE_CHECKING:  # loaded after the games, so that the first game starts sooner
    from arena.analysis.checks.registry import Verdict
    from arena.analysis.evidence import Evidence
    from arena.analysis.summary import Summary
    from arena.pipeline.class_of_bots import ClassSite
    from arena.report.data import ReportData
    from arena.report.live import LivePage

    LiveView: TypeAlias = LivePage | ClassSite

MAX_FAULTS = 100  # different faults in run.json
# The files and directories that every session of a run writes.
WRITTEN = (
    *TABLES, "timings.parquet", SEARCH_INFO, "summary.json", "report.html", provenance.RUN,
    BOT_LOGS,
)  # fmt: skip
CORRECT_OR_REMOVE = (
    "correct or remove it; in a [roster] a bot that fails is excluded, the others play"
)


@dataclass(frozen=True)
class ActiveRun:
    """A run whose directory this process has locked."""

    experiment: Experiment
    options: RunOptions
    origin: RunIdentity
    section: Section

    @property
    def directory(self) -> Path:
        """The directory of the run."""
        return self.section.directory

    @property
    def file_content(self) -> KeyValues:
        """The content of run.json."""
        return provenance.load_run_file(self.directory)

    def write(self, content: Mapping[str, object]) -> None:
        """Write run.json."""
        provenance.write_run_file(self.directory, self.origin, content)


@dataclass(frozen=True)
class RunResult:
    """A finished run; `next_step` is a line for the user."""

    directory: Path
    summary: "Summary"
    verdicts: "list[Verdict]"
    repeatability: Repeatability
    next_step: str
    page: Path | None = None
    move_losses: str = ""  # a line about the newcomer of a placement

    @property
    def checks_hold(self) -> bool:
        """Return whether all checks hold."""
        return all(verdict.holds for verdict in self.verdicts)

    @cached_property
    def report(self) -> "ReportData":
        """The tables of the run, read again."""
        from arena.report.data import load_report

        return load_report(self.directory)


def run_experiment(experiment: Experiment, options: RunOptions) -> RunResult:
    """Play the remaining games of an experiment and write its tables."""
    with name_failed_pair(experiment, options.overrides):
        origin = provenance.identify_run(experiment.name, experiment.plan)
        directory = options.results / experiment.name / origin.digest
        is_expected = options.quiet or options.site is not None
        difference = None if is_expected else explain_new_run(directory, origin)
        with (
            RunDirectory(directory, origin.digest, options.fresh) as locked,
            open_run_log(directory / "run.log"),
            open_live_page(experiment, options) as live,
            keep_output(directory / BOT_OUTPUT, options),
        ):
            run = ActiveRun(experiment, options, origin, locked.section())
            with record_failure(run):
                played = play_run(run, live, difference)
                result = analyse_run(run, played)
            if live is not None:
                live.finish(directory / "report.html")
        # The judge locks the directory itself.
        return judge_newcomer(result, options) if is_placement(experiment.plan) else result


def is_placement(plan: Plan) -> bool:
    """Return whether a plan places an agent on the scale of its game."""
    return plan.rounds is not None and plan.rounds.method == SCALE


def judge_newcomer(result: RunResult, options: RunOptions) -> RunResult:
    """Judge the last moves of a placement, as `pitflip judge` does; write the page with them."""
    from arena.analysis.move_losses.judge import JudgeSettings, judge_run
    from arena.analysis.move_losses.run_lines import load_run_lines
    from arena.terminal.move_losses import newcomer_line, write_judgement

    options.interrupts.check()
    run = load_run_lines(result.directory)
    with open_displays(options.quiet, None) as show:
        judgement = judge_run(run, JudgeSettings(), options.playing, show, options.notify)
    found, _ = write_judgement(judgement)
    result = replace(result, move_losses=newcomer_line(judgement, found))
    if options.page:
        result = write_run_page(result)
        renew_checksums(result.directory, WRITTEN)
    return result


@contextlib.contextmanager
def keep_output(path: Path, options: RunOptions) -> Iterator[None]:
    """Keep what bots write in a file, and show it if the options ask for it."""
    options.sandbox.keep_output(path)
    with show_output(path) if options.show_output else contextlib.nullcontext():
        yield


def run_directory(experiment: Experiment, results: Path) -> Path:
    """Return the directory of a run."""
    digest = provenance.identify_run(experiment.name, experiment.plan).digest
    return results / experiment.name / digest


@contextlib.contextmanager
def record_failure(run: ActiveRun) -> Iterator[None]:
    """Write into run.json which bots stop the run; the next attempt removes the entry."""
    try:
        yield
    except UselessBots as error:
        begun = run.file_content.get("begun") or provenance.timestamp()
        more = {"begun": begun, "finished": None, "failed": str(error)}
        run.write({**run.file_content, **_origin_fields(run), **more})
        raise


def _origin_fields(run: ActiveRun) -> dict[str, object]:
    path = str(run.experiment.path.absolute())
    return {"path": path, "overrides": list(run.options.overrides)}


def open_live_page(
    experiment: Experiment, options: RunOptions
) -> "contextlib.AbstractContextManager[LiveView | None]":
    """Open the live page of a run or the pages of a class, if the options ask for them."""
    if options.site is not None:
        return options.site.watch(experiment)
    if not options.live:
        return contextlib.nullcontext()
    # The server and the page are loaded here: nothing is imported while it serves.
    from arena.report.live import serve_live_page

    return serve_live_page(experiment)


@contextlib.contextmanager
def name_failed_pair(experiment: Experiment, overrides: Sequence[str]) -> Iterator[None]:
    """Name a pair that cannot be played, with the command that plays it alone.

    Bots that stop the run are named with their lines in the file.
    """
    try:
        yield
    except UselessBots as error:
        raise locate_bots(experiment, overrides, error) from None
    except ItemFailed as error:
        alone = "--pair", str(error.item.start)
        command = command_text(experiment.path, overrides, *alone)
        raise Unfinished(
            f"{error}. All other games are kept. To see it happen: {command}"
        ) from None


def locate_bots(experiment: Experiment, overrides: Sequence[str], error: UselessBots) -> UserError:
    """Return the bots that stop a run, with the line of each in the experiment file."""
    try:
        _, problems = read_experiment_file(experiment.path, overrides)
    except ExperimentError:  # the experiment was not read from a file
        return error
    for name, verdict in error.verdicts.items():
        problems.add(("agents", name), verdict, ("agents", name))
    found = [text for _, text in sorted(problems.found, key=lambda each: each[0])]
    lines = [line for text in found for line in text.replace("\n", "\n  ").splitlines()]
    return ExperimentError([*lines, CORRECT_OR_REMOVE])


def play_run(run: ActiveRun, live: "LiveView | None", difference: str | None) -> PlayResult:
    """Play the remaining games; `difference` says how the run differs from an earlier one."""
    options, section = run.options, run.section
    if is_placement(run.experiment.plan):
        require_current_scale(run.experiment.plan.game)
    # Bots that stop the run and a weak sandbox are reported before the message about a new run.
    plan, watch = plan_of_copies(run)
    schedule = make_schedule(plan)
    with open_displays(options.quiet, run.directory) as show:
        find_unloadable(schedule, section, options.playing, show)
    schedule = with_deterministic_matches(schedule, section, options.playing)
    write_run_start(run, schedule)
    for line in (
        *([difference] if difference else ()),
        *contradiction_lines(schedule),
        *impossible_checks(run.experiment.checks, schedule),
        *doubtful_checks(run.experiment.checks, plan),
        *provenance.large_directory_lines(run.experiment.plan),
    ):
        options.notify(line)
    played = play_games(run, schedule, live, watch)
    while again := remove_contradictions(played.schedule, section):
        write_run_start(run, again)
        for line in contradiction_lines(again):
            options.notify(line)
        played = play_games(run, again, live, watch)
    return played


def plan_of_copies(run: ActiveRun) -> tuple[Plan, SourceWatch]:
    """Return the plan that plays the run's own copies, and a watch on files without a copy.

    The run's digest, its copies and the files that agents load belong to the same content.
    SourceEdited if a file is edited meanwhile.
    """
    plan, origin = run.experiment.plan, run.origin
    copies = playable_copies(plan, copy_sources(run.directory, plan, origin))
    plan_with_copies = plan.with_copies(copies)
    watch = SourceWatch(plan_with_copies, copies)
    now = provenance.identify_run(run.experiment.name, plan)
    if now != origin:
        edited = [name for name in now.files if now.files[name] != origin.files.get(name)]
        raise SourceEdited(
            f"{join_names(edited or ['a file of the run'])} was edited while the run started: "
            "the same command starts it with the file as it is now"
        )
    return plan_with_copies, watch


def play_games(
    run: ActiveRun, schedule: Schedule, live: "LiveView | None", watch: SourceWatch
) -> PlayResult:
    """Play the games that the journal does not have."""
    options, section = run.options, run.section
    if before := section.item_count():
        is_open = schedule.plan.rounds or schedule.plan.stop  # results decide the number of games
        share = "" if is_open else f"of {2 * schedule.pairs.total:,} "
        options.notify(f"continuing: {2 * before:,} {share}games were played before")

    def look(progress: Progress) -> None:
        if isinstance(progress, GameProgress):  # other progress comes from threads
            watch.check()
            if live is not None:
                live.show(progress, schedule, section)

    displays = open_displays(options.quiet, run.directory, look)
    with record_playing_time(run), forget_after_edit(watch, section.run), displays as show:
        played = play_schedule(schedule, section, options.playing, show=show, notify=options.notify)
    options.interrupts.check()
    if cached := played.cached_games:
        total = 2 * section.item_count()
        options.notify(f"{cached:,} of {total:,} games were in the game cache")
    return played


def write_run_start(run: ActiveRun, schedule: Schedule) -> None:
    """Write the start of the run into run.json, unless the run is finished."""
    stored = run.file_content
    fixed = [list(match) for match in sorted(schedule.pairs.deterministic)]
    if run.section.item_count() and stored.get("finished") and stored.get(FIXED, fixed) == fixed:
        return
    write_text(run.directory / EXPERIMENT, run.experiment.text)
    level = isolation_level(schedule, run.options)
    more = {
        KEY: repeatability(run.experiment.plan, None).to_json(None),
        FIXED: fixed,
        "isolation": level and level.name,
        "isolation_found": level and f"{level.measure_names}: {level.description}",
        "pinned": pinning_state(schedule, run.options),
        "begun": stored.get("begun") or provenance.timestamp(),
        "seconds": stored.get("seconds", 0.0),
        "finished": None,
    }
    run.write(_origin_fields(run) | more)


def isolation_level(schedule: Schedule, options: RunOptions) -> IsolationLevel | None:
    """Return the isolation of bots and notify the user; None without bots.

    SandboxUnavailable if the experiment requires more.
    """
    if not any(map(user_code_reason, schedule.specs)) or options.cluster is not None:
        return None
    options.sandbox.required |= schedule.plan.sandbox_required
    level = options.sandbox.level
    options.notify(
        f"bots are isolated at level {level.name} ({level.measure_names}): {level.description}"
    )
    return level


def pinning_state(schedule: Schedule, options: RunOptions) -> bool | None:
    """Return whether workers and their bots keep to cores; None without bots."""
    if not any(map(user_code_reason, schedule.specs)) or options.cluster is not None:
        return None
    keeps = options.pinned and options.workers > 0
    options.notify(pinning_text(options.workers, keeps))
    return keeps and enough_cores(options.workers)


@contextlib.contextmanager
def record_playing_time(run: ActiveRun) -> Iterator[None]:
    """Add the time of the block to that of earlier sessions in run.json, unless it is finished."""
    start = time.monotonic()
    try:
        yield
    finally:
        stored = run.file_content
        if stored and not stored.get("finished"):
            seconds = stored.get("seconds", 0.0) + time.monotonic() - start
            run.write({**stored, "seconds": round(seconds, 2)})


def analyse_run(run: ActiveRun, played: PlayResult) -> RunResult:
    """Analyse the games, write all tables and the page."""
    from arena.analysis import summary_file
    from arena.analysis.checks import registry
    from arena.analysis.run_evidence import load_evidence
    from arena.formats import junit

    options, directory, schedule = run.options, run.directory, played.schedule
    count, parts = run.section.item_count(), section_games(run.section, schedule)
    failures = load_reasons(run.section)
    evidence = load_evidence(
        schedule, parts, count, directory, options.sandbox, options.notify, failures
    )
    remove_partial_files(directory)
    replays = load_or_replay_bots(run, schedule)
    summary = write_tables(run, played, evidence, parts)
    verdicts = registry.verdicts(run.experiment.checks, evidence)
    text = summary_file.summary_text(summary, run.experiment.checks, verdicts)
    write_text(directory / summary_file.SUMMARY, text)
    write_run_end(run, played, evidence, replays)
    if options.junit:
        write_text(options.junit, junit.junit_xml(verdicts, run.experiment.name))
    again = repeatability(run.experiment.plan, replays)
    line = "" if options.quiet else next_step(schedule, directory, parts)
    result = RunResult(directory, summary, verdicts, again, line)
    result = write_run_page(result) if options.page else result
    write_checksums(directory, WRITTEN)
    return result


def write_tables(
    run: ActiveRun, played: PlayResult, evidence: "Evidence", parts: GameParts
) -> "Summary":
    """Write the tables of a run; return their summary."""
    from arena.analysis import summary, tables
    from arena.analysis.standings import PointsRow
    from arena.analysis.timings import Timing
    from arena.storage import game_table, parquet

    schedule, plan, directory = played.schedule, played.schedule.plan, run.directory
    source = provenance.table_metadata(plan, run.origin)
    game_table.write_games(
        directory / "games.parquet", parts(), evidence.repeat, schedule.game, plan.names,
        schedule.openings, source, moves=evidence.keeps_moves,
    )  # fmt: skip
    found = summary.relabel_intervals(
        summary.summarise(
            evidence, name=run.experiment.name, stop=plan.stop, stop_state=played.stop,
            tournament=played.tournament, by_points=run.experiment.standings == "points",
        )
    )  # fmt: skip
    for name, kind, rows in (
        ("points", PointsRow, found.points),
        ("elo", tables.EloRow, tables.elo_rows(found)),
        ("win_rates", tables.WinRateRow, tables.win_rate_rows(found)),
        ("timings", Timing, evidence.timings),
        ("tournament", tables.TournamentRow, tables.tournament_rows(found)),
    ):
        if rows or name not in ("points", "tournament"):
            parquet.write_rows(directory / f"{name}.parquet", kind, rows, source)
    if plan.keep_search_info:
        games = (each for _, _, each in run.section.games(schedule.pairs.columns))
        game_table.write_search_info(directory / game_table.SEARCH_INFO, games, plan.names, source)
    return found


def write_run_end(
    run: ActiveRun, played: PlayResult, evidence: "Evidence", replays: BotReplays
) -> None:
    """Write into run.json that the run is finished, with its numbers and faults."""
    stored = run.file_content
    if stored.get("finished"):
        return
    names = played.schedule.plan.names
    failures = load_reasons(run.section)
    # Without any fault the games need not be read again.
    parts = evidence.parts if evidence.has_traces else tuple
    faults = fault_lines(parts, evidence)
    more = {
        "unloadable": {names[place]: failures[place] for place in sorted(failures)},
        "finished": provenance.timestamp(),
        "games": evidence.games,
        "known": played.cached_games,
        **stop_entry(played),
        "forfeits": faults[:MAX_FAULTS],
        "different_faults": len(faults),
        KEY: repeatability(played.schedule.plan, replays).to_json(replays),
    }
    if run.options.cluster is not None:
        more["cluster"] = run.options.cluster.workers.to_json()
    run.write({**stored, **more})
    write_bot_logs(run.directory, parts, names, exclusion_rows(evidence.excluded, names))


def stop_entry(played: PlayResult) -> dict[str, str]:
    """Return the entry of run.json that says how a stop rule ended the run."""
    plan = played.schedule.plan
    if plan.stop is None or played.stop is None:
        return {}
    return {"stopped": stop_text(plan.stop, played.stop, plan.pairs)}


def fault_lines(parts: GameParts, evidence: "Evidence") -> list[str]:
    """Return a line for each different fault in the games that were played."""
    names, lines, start = evidence.plan.names, dict[str, None](), 0
    excluded_from = exclusion_rows(evidence.excluded, names)
    for games in parts():
        for row, trace in sorted(games.traces.items()):
            loser = int((games.first if games.result[row] == LOSS else games.second)[row])
            if start + row < excluded_from.get(loser, start + row + 1):
                how = Termination(int(games.termination[row]))
                lines[fault_line(names[loser], how.name.lower(), trace)] = None
        start += len(games)
    return list(lines)


def load_or_replay_bots(run: ActiveRun, schedule: Schedule) -> BotReplays:
    """Return whether bots repeat their moves; a run replays games for this once."""
    stored = BotReplays.from_json(run.file_content.get(KEY))
    if stored is not None:
        return stored
    options, columns = run.options, schedule.pairs.columns
    with open_displays(options.quiet, run.directory) as show:
        replays = replay_bots(
            schedule, lambda: run.section.games(columns), options.playing, options.notify, show
        )
    cached, place = CachedPairs(schedule, options.playing.cache), schedule.plan.names.index
    tested = {place(name) for name, games in replays.games.items() if games}
    tested -= set(map(place, replays.differing))
    if tested and cached.cache is not None:
        for start, _, games in run.section.games(columns):
            cached.store_bot_games(schedule.pairs, start, games, tested)
    return replays


def write_run_page(result: RunResult) -> RunResult:
    """Write the page of a run; return the result with its path."""
    from arena.report.page import PAGE, write_page

    page = result.directory / PAGE
    write_page(result.report, page)
    return replace(result, page=page)


def replay_pair(experiment: Experiment, number: int, options: RunOptions) -> list[str]:
    """Play one pair in this process; return lines with its results and faults."""
    with name_failed_pair(experiment, options.overrides):
        schedule = make_schedule(experiment.plan)
        if schedule.plan.rounds is not None:
            schedule = schedule_with_stored_rounds(experiment, schedule, options.results)
        total = schedule.pairs.total
        if not 0 <= number < total:
            later = "" if schedule.plan.rounds is None else "; later rounds depend on results"
            raise UserError(f"--pair must be from 0 to {total - 1:,}, got {number}{later}")
        games = play_pair(schedule, number, {}, options.sandbox)
    placed, lines = schedule.pairs.columns(number, number + 1), []
    for row in range(2):
        first, second = (schedule.plan.names[placed[seat][row]] for seat in ("first", "second"))
        lines.append(f"{first} against {second}: margin {games.margin[row]:+d}")
        command = shell_command(replay_command(schedule.game, moves_of_game(games, row)))
        lines.append(games.traces.get(row) or command)
    return lines


def schedule_with_stored_rounds(
    experiment: Experiment, schedule: Schedule, results: Path
) -> Schedule:
    """Return the schedule with the rounds that are stored in its run."""
    directory, tracker = run_directory(experiment, results), RoundTracker(schedule)
    if (directory / JOURNAL).exists():
        with RunDirectory(directory, directory.name) as locked:
            for start, _, games in locked.section().games(tracker.columns):
                tracker.add_points(start, pair_points(games))
    return tracker.schedule
