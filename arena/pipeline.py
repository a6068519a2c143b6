"""One run from experiment to tables: directory, journal, games, summary, checks, printing."""

import contextlib
import shlex
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from agents import AgentFailure, SpecError
from arena.keeping import provenance
from arena.keeping.journal import Journal, JournalError
from arena.keeping.run_log import RunLog
from arena.keeping.whole_files import remove_unfinished, write_text
from arena.planning.openings import OpeningsError, moves_of
from arena.planning.records import Games
from arena.planning.records import moves_of as moves_of_row
from arena.playing.determinism import FIXED, fixed_matches, with_fixed
from arena.playing.interrupts import Interrupts
from arena.playing.referee_loop import stored_verdict
from arena.playing.tournament import Prepared, RunFailed, play, prepare
from arena.playing.workers import Task, Worker
from arena.reading.experiment_file import Experiment
from arena.showing.live_line import Progress
from arena.stats.sprt import SprtPlan, SprtState
from games.terminal import printed, say

MOST_TRACES = 100
BY_THE_CLOCK = "some agents play by the clock: another run gives other games"


class Unplayable(Exception):  # noqa: N818  # the experiment cannot be played as it is written
    """What stands in the way, for whoever wrote the file."""


class Unfinished(Exception):  # noqa: N818  # what was played is kept
    """Why the run could not be finished."""


class Options(NamedTuple):
    """How to run and what to print."""

    results: Path
    workers: int
    fresh: bool = False
    quiet: bool = False
    json: bool = False
    overrides: tuple[str, ...] = ()
    junit: Path | None = None
    interrupts: Interrupts = Interrupts()


class Finished(NamedTuple):
    """All games of a run, and how it stopped."""

    ready: Prepared
    games: Games
    sprt: tuple[SprtPlan, SprtState] | None
    digest: str
    census: list[tuple[str, str]]


def run(experiment: Experiment, options: Options) -> bool:
    """Play what is left, write and print the tables; whether all checks hold."""
    with _told(experiment, options):
        digest = provenance.run_digest(experiment.plan)
        directory = options.results / experiment.name / digest
        if not options.quiet and (why := provenance.why_new(directory, experiment.plan)):
            say(why)
        with Journal(directory, digest, options.fresh) as store, RunLog(directory / "run.log"):
            finished = _played(experiment, store, options, digest)
            return _concluded(experiment, finished, directory, options)


@contextlib.contextmanager
def _told(experiment: Experiment, options: Options) -> Iterator[None]:
    """What goes wrong as one line, for who can mend it."""
    try:
        yield
    except (OpeningsError, SpecError, AgentFailure) as error:
        raise Unplayable(str(error)) from None
    except JournalError as error:
        raise Unfinished(str(error)) from None
    except RunFailed as error:
        again = command(experiment, options.overrides, "--pairing", str(error.pairing))
        told = f"{error}. Everything else is kept. To see it happen: {again}"
        raise Unfinished(told) from None
    except OSError as error:
        place = error.filename or options.results
        told = f"{place}: {error.strerror or error}; what was finished is kept"
        raise Unfinished(f"{told}, the same command goes on") from None


def command(experiment: Experiment, overrides: Sequence[str], *more: str) -> str:
    """The command that runs this experiment, for a shell."""
    changes = [word for override in overrides for word in ("--set", override)]
    return shlex.join(["python", "-m", "arena.run", str(experiment.path), *changes, *more])


def _played(experiment: Experiment, store: Journal, options: Options, digest: str) -> Finished:
    """All games, played here or found in the journal."""
    ready, before = prepare(experiment.plan), store.finished()
    fixed = fixed_matches(ready, store, options.workers, options.interrupts)
    ready = with_fixed(ready, fixed)
    said = provenance.read_run(store.directory)
    if not before or not said.get("finished"):
        said = {
            "path": str(experiment.path.absolute()),
            "overrides": list(options.overrides),
            "reproducible": experiment.plan.reproducible,
            FIXED: sorted(fixed),
            "begun": said.get("begun") or provenance.now_text(),
            "finished": None,
        }
        provenance.write_run(store.directory, experiment.name, experiment.plan, digest, said)
    if before and not options.quiet:
        there, whole = 2 * before, 2 * ready.schedule.total
        say(f"continuing: {there:,} of {whole:,} games were there already")
    with Progress(ready.schedule.agents, options.quiet) as progress:
        state = play(ready, store, options.workers, progress.show, options.interrupts)
    options.interrupts.look()
    games, test = store.games(ready.schedule), experiment.plan.stop
    sprt = (test, state) if test is not None and state is not None else None
    return Finished(ready, games, sprt, digest, census_of(ready, len(games)))


def census_of(ready: Prepared, games: int) -> list[tuple[str, str]]:
    """The pairs of agents without chance that have played all openings there are."""
    schedule, names = ready.schedule, ready.schedule.agents
    complete = ready.openings.finite and games == 2 * schedule.total
    if not complete or schedule.pairs < len(ready.openings):
        return []
    return [(names[a], names[b]) for a, b in schedule.matches if (a, b) in schedule.fixed]


def _concluded(
    experiment: Experiment, finished: Finished, directory: Path, options: Options
) -> bool:
    """Sum up, write the tables, check, print; whether all checks hold."""
    # Parquet is loaded after the games: the first game need not wait for it.
    from arena.concluding import checks, summary, timing  # noqa: PLC0415
    from arena.concluding.evidence import repeats  # noqa: PLC0415
    from arena.concluding.table_rows import (  # noqa: PLC0415
        EloRow,
        WinRateRow,
        elo_rows,
        win_rate_rows,
    )
    from arena.keeping import game_table, parquet  # noqa: PLC0415
    from arena.showing import junit, terminal_tables  # noqa: PLC0415

    games, origin = finished.games, origin_of(experiment, finished.digest)
    repeat, openings = repeats(games), finished.ready.openings
    remove_unfinished(directory)
    with ThreadPoolExecutor(1) as beside:
        # The largest table is written while the others are worked out.
        path = directory / "games.parquet"
        whole = beside.submit(
            game_table.write_games, path, [games], repeat, experiment.plan.of,
            experiment.plan.names, openings, origin, moves=games.moves is not None,
        )  # fmt: skip
        summed = summary.summarise(
            games, experiment.plan, name=experiment.name, census=finished.census,
            sprt=finished.sprt, repeat=repeat,
        )  # fmt: skip
        timings = timing.timings(games, experiment.plan.names)
        whole.result()
    verdicts = checks.verdicts(
        experiment.plan, experiment.checks, games, census=finished.census,
        starts=lambda: starts(finished), replay=replayer(finished),
    )  # fmt: skip
    parquet.write_rows(directory / "elo.parquet", EloRow, elo_rows(summed), origin)
    rates = win_rate_rows(summed)
    parquet.write_rows(directory / "win_rates.parquet", WinRateRow, rates, origin)
    parquet.write_rows(directory / "timings.parquet", timing.Timing, timings, origin)
    _note_end(directory, experiment, finished)
    if options.json:
        printed(lambda: print(terminal_tables.as_json(summed, verdicts)))
    else:
        notes = [] if experiment.plan.reproducible else [BY_THE_CLOCK]
        printed(lambda: terminal_tables.show(summed, verdicts, notes))
    if options.junit:
        write_text(options.junit, junit.junit(verdicts, experiment.name))
    if not options.quiet:
        say(f"tables: {directory}")
    return all(verdict.holds for verdict in verdicts)


def _note_end(directory: Path, experiment: Experiment, finished: Finished) -> None:
    """Say in run.json that the tables are there, and when they first were."""
    said, games = provenance.read_run(directory), finished.games
    if not said.get("finished"):
        said |= {
            "finished": provenance.now_text(),
            "games": len(games),
            "forfeits": [games.traces[row] for row in sorted(games.traces)][:MOST_TRACES],
        }
        provenance.write_run(directory, experiment.name, experiment.plan, finished.digest, said)


def origin_of(experiment: Experiment, digest: str) -> dict[str, Any]:
    """What every table says about where it comes from: nothing of clocks or machines."""
    return {
        "experiment": experiment.name,
        "run": digest,
        "game": experiment.plan.game,
        "seed": experiment.plan.seed,
        "reproducible": experiment.plan.reproducible,
        "plan": experiment.plan.to_json(),
        "versions": provenance.versions(),
    }


def starts(finished: Finished) -> Sequence[Sequence[int]]:
    """The openings in move numbers."""
    of, openings = finished.ready.job.of, finished.ready.openings
    return [moves_of(of, slots) for slots in openings.slots]


def replayer(finished: Finished) -> Callable[[int], list[int]]:
    """A function that plays the game of a row again, for runs that kept no moves."""

    def moves(row: int) -> list[int]:
        games, leg = finished.games, row % 2
        pairing = int(games.pair[row])
        rows = {0: row - leg, 1: row - leg + 1}
        found = {(pairing, each): stored_verdict(games, rows[each]) for each in rows}
        verdicts = {key: verdict for key, verdict in found.items() if verdict is not None}
        worker = Worker(finished.ready.job._replace(keep_moves=True))
        return moves_of_row(worker.play(Task(pairing, pairing + 1, verdicts)), leg)

    return moves


def play_alone(experiment: Experiment, options: Options, pairing: int) -> None:
    """Play one pairing in this process, to see what becomes of it."""
    from arena.concluding.case import replay_command  # noqa: PLC0415  # after the games

    with _told(experiment, options):
        ready = prepare(experiment.plan)
        total = ready.schedule.total
        if not 0 <= pairing < total:
            raise Unplayable(f"pairing must lie from 0 to {total - 1}, got {pairing}")
        worker = Worker(ready.job._replace(keep_moves=True))
        games = worker.play(Task(pairing, pairing + 1, {}))
    placed = ready.schedule.columns(pairing, pairing + 1)
    for row in range(2):
        first, second = (ready.schedule.agents[placed[c][row]] for c in ("first", "second"))
        print(f"{first} against {second}: margin {games.margin[row]:+d}")
        print(games.traces.get(row) or replay_command(experiment.plan.of, moves_of_row(games, row)))
