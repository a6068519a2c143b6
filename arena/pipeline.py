"""One run from experiment to tables: directory, journal, games, summary, checks, printing."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from arena.keeping import provenance
from arena.keeping.journal import Journal
from arena.keeping.provenance import Origin
from arena.keeping.run_log import RunLog
from arena.planning.drawing import DrawnPlan, Matches, draw
from arena.planning.openings import moves_of
from arena.planning.plan import Plan
from arena.planning.records import Games
from arena.planning.records import moves_of as moves_of_row
from arena.planning.tasks import Task, Verdicts
from arena.playing.determinism import FIXED, fixed_matches
from arena.playing.referee_loop import stored_verdict
from arena.playing.tournament import play
from arena.playing.watchdog import new_watch
from arena.playing.worker import Worker
from arena.playing.workers import RunFailed
from arena.reading.command_line import RunOptions, run_command
from arena.reading.experiment_file import Experiment
from arena.showing.live_line import LiveLine, run_shown
from arena.stats.sprt import SprtPlan, SprtState
from games.terminal import Mistake, Unfinished, printed, say
from games.transcripts import replay_command
from games.whole_files import remove_unfinished, write_text

if TYPE_CHECKING:  # they are loaded after the games
    from arena.concluding.checks import Verdict
    from arena.concluding.summary import Summary

MOST_TRACES = 100
BY_THE_CLOCK = "some agents play by the clock: another run gives other games"


class Finished(NamedTuple):
    """All games of a run, and how it stopped."""

    drawn: DrawnPlan
    games: Games
    sprt: tuple[SprtPlan, SprtState] | None
    census: list[tuple[str, str]]


def run(experiment: Experiment, options: RunOptions) -> bool:
    """Play what is left, write and print the tables; whether all checks hold."""
    with _how_to_see_it(experiment, options):
        origin = provenance.origin_of(experiment.name, experiment.plan)
        directory = options.results / experiment.name / origin.digest
        if not options.quiet and (why := provenance.why_new(directory, origin)):
            say(why)
        with (
            Journal(directory, origin.digest, options.fresh) as journal,
            RunLog(directory / "run.log"),
        ):
            finished = _played(experiment, origin, journal, options)
            return _concluded(experiment, origin, finished, directory, options)


@contextlib.contextmanager
def _how_to_see_it(experiment: Experiment, options: RunOptions) -> Iterator[None]:
    """A pairing that cannot be played is named with the command that plays it alone."""
    try:
        yield
    except RunFailed as error:
        alone = "--pairing", str(error.pairing)
        command = run_command(experiment.path, options.overrides, *alone)
        raise Unfinished(f"{error}. Everything else is kept. To see it happen: {command}") from None


def _played(
    experiment: Experiment, origin: Origin, journal: Journal, options: RunOptions
) -> Finished:
    """All games, played here or found in the journal."""
    drawn = draw(experiment.plan)
    fixed = fixed_matches(drawn, journal, options.playing)
    drawn = draw(experiment.plan, drawn.openings, fixed)
    _note_begin(experiment, origin, journal, fixed, options)
    if (before := journal.finished()) and not options.quiet:
        there, whole = 2 * before, 2 * drawn.pairings.total
        say(f"continuing: {there:,} of {whole:,} games were there already")
    with LiveLine(options.quiet) as line:
        shown = run_shown(line, experiment.plan.names)
        state = play(drawn, journal, options.playing, shown)
    options.interrupts.look()
    games, test = journal.games(drawn.pairings), experiment.plan.stop
    sprt = (test, state) if test is not None and state is not None else None
    return Finished(drawn, games, sprt, census_of(drawn, len(games)))


def _note_begin(
    experiment: Experiment, origin: Origin, journal: Journal, fixed: Matches, options: RunOptions
) -> None:
    """Say in run.json what is played, unless it says that all of it was."""
    stored = provenance.read_run(journal.directory)
    if journal.finished() and stored.get("finished"):
        return
    more = {
        "path": str(experiment.path.absolute()),
        "overrides": list(options.overrides),
        "reproducible": experiment.plan.reproducible,
        FIXED: sorted(fixed),
        "begun": stored.get("begun") or provenance.now_text(),
        "finished": None,
    }
    provenance.write_run(journal.directory, origin, more)


def _note_end(directory: Path, origin: Origin, games: Games) -> None:
    """Say in run.json that the tables are there, and when they first were."""
    stored = provenance.read_run(directory)
    if not stored.get("finished"):
        more = {
            "finished": provenance.now_text(),
            "games": len(games),
            "forfeits": [games.traces[row] for row in sorted(games.traces)][:MOST_TRACES],
        }
        provenance.write_run(directory, origin, {**stored, **more})


def census_of(drawn: DrawnPlan, games: int) -> list[tuple[str, str]]:
    """The pairs of agents without chance that have played all openings there are."""
    pairings, names = drawn.pairings, drawn.plan.names
    complete = drawn.openings.finite and games == 2 * pairings.total
    if not complete or pairings.pairs < len(drawn.openings):
        return []
    return [(names[a], names[b]) for a, b in pairings.matches if (a, b) in pairings.fixed]


def _concluded(
    experiment: Experiment, origin: Origin, finished: Finished, directory: Path, options: RunOptions
) -> bool:
    """Sum up, write the tables, check, print; whether all checks hold."""
    # Parquet is loaded after the games: the first game need not wait for it.
    from arena.concluding import checks, summary, timing  # noqa: PLC0415
    from arena.concluding.evidence import evidence_of  # noqa: PLC0415
    from arena.concluding.table_rows import (  # noqa: PLC0415
        EloRow,
        WinRateRow,
        elo_rows,
        win_rate_rows,
    )
    from arena.keeping import game_table, parquet  # noqa: PLC0415

    games, plan, source = finished.games, experiment.plan, source_of(experiment.plan, origin)
    evidence = evidence_of(
        plan, games, finished.census, lambda: starts(finished.drawn), replayer(finished)
    )
    remove_unfinished(directory)
    with ThreadPoolExecutor(1) as beside:
        # The largest table is written while the others are worked out.
        path = directory / "games.parquet"
        whole = beside.submit(
            game_table.write_games, path, [games], evidence.repeat, finished.drawn.of, plan.names,
            finished.drawn.openings, source, moves=games.moves is not None,
        )  # fmt: skip
        summed = summary.summarise(evidence, name=experiment.name, sprt=finished.sprt)
        timings = timing.timings(games, plan.names)
        whole.result()
    verdicts = checks.verdicts(experiment.checks, evidence)
    parquet.write_rows(directory / "elo.parquet", EloRow, elo_rows(summed), source)
    rates = win_rate_rows(summed)
    parquet.write_rows(directory / "win_rates.parquet", WinRateRow, rates, source)
    parquet.write_rows(directory / "timings.parquet", timing.Timing, timings, source)
    _note_end(directory, origin, games)
    _show(experiment, summed, verdicts, options)
    if not options.quiet:
        say(f"tables: {directory}")
    return all(verdict.holds for verdict in verdicts)


def _show(
    experiment: Experiment, summed: "Summary", verdicts: "list[Verdict]", options: RunOptions
) -> None:
    """Print what was found as tables or as JSON; checks as JUnit where that was asked for."""
    from arena.showing import junit, terminal_tables  # noqa: PLC0415  # not needed to play

    if options.json:
        printed(lambda: print(terminal_tables.as_json(summed, verdicts)))
    else:
        notes = [] if experiment.plan.reproducible else [BY_THE_CLOCK]
        printed(lambda: terminal_tables.show(summed, verdicts, notes))
    if options.junit:
        write_text(options.junit, junit.junit(verdicts, experiment.name))


def source_of(plan: Plan, origin: Origin) -> dict[str, object]:
    """What every table says about where it comes from: nothing of clocks or machines."""
    return {
        "experiment": origin.experiment,
        "run": origin.digest,
        "game": plan.game,
        "seed": plan.seed,
        "reproducible": plan.reproducible,
        "plan": origin.plan,
        "versions": provenance.versions(),
    }


def starts(drawn: DrawnPlan) -> Sequence[Sequence[int]]:
    """The openings in move numbers."""
    return [moves_of(drawn.of, slots) for slots in drawn.openings.slots]


def played_again(drawn: DrawnPlan, pairing: int, verdicts: Verdicts) -> Games:
    """Both games of one pairing with their moves, played in this process."""
    drawn = draw(replace(drawn.plan, keep_moves=True), drawn.openings, drawn.pairings.fixed)
    return Worker(drawn, new_watch()).play(Task(pairing, pairing + 1, verdicts))


def replayer(finished: Finished) -> Callable[[int], list[int]]:
    """A function that plays the game of a row again, for runs that kept no moves."""

    def moves(row: int) -> list[int]:
        games, leg = finished.games, row % 2
        pairing = int(games.pair[row])
        verdicts = {(pairing, each): stored_verdict(games, row - leg + each) for each in (0, 1)}
        known = {key: verdict for key, verdict in verdicts.items() if verdict is not None}
        return moves_of_row(played_again(finished.drawn, pairing, known), leg)

    return moves


def play_alone(experiment: Experiment, options: RunOptions, pairing: int) -> None:
    """Play one pairing in this process, to see what becomes of it."""
    with _how_to_see_it(experiment, options):
        drawn = draw(experiment.plan)
        total = drawn.pairings.total
        if not 0 <= pairing < total:
            raise Mistake(f"pairing must lie from 0 to {total - 1}, got {pairing}")
        games = played_again(drawn, pairing, {})
    placed = drawn.pairings.columns(pairing, pairing + 1)
    for row in range(2):
        first, second = (drawn.plan.names[placed[seat][row]] for seat in ("first", "second"))
        print(f"{first} against {second}: margin {games.margin[row]:+d}")
        print(games.traces.get(row) or replay_command(drawn.of, moves_of_row(games, row)))
