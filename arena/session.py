"""One run from experiment to tables: directory, journal, games, summary, checks, printing."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agents import AgentFailure, SpecError
from arena import provenance
from arena.experiment import Experiment, reproducible, stochastic
from arena.logs import logged_to
from arena.openings import OpeningsError, moves_of
from arena.progress import Progress
from arena.records import Games, decoded
from arena.stats.sprt import SprtPlan, SprtState
from arena.store import Store, StoreError
from arena.tournament import Prepared, RunFailed, play, prepare
from arena.worker import Task, play_task

MOST_TRACES = 100


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


class Finished(NamedTuple):
    """All games of a run, and how it stopped."""

    ready: Prepared
    games: Games
    sprt: tuple[SprtPlan, SprtState] | None
    digest: str


def run(experiment: Experiment, options: Options) -> bool:
    """Play what is left, write and print the tables; whether all checks hold."""
    digest = provenance.run_digest(experiment)
    directory = options.results / experiment.name / digest
    if not options.quiet and (why := provenance.why_new(directory, experiment)):
        print(why, file=sys.stderr)
    if options.fresh:
        set_aside(directory)
    try:
        with Store(directory, digest) as store, logged_to(directory / "run.log"):
            finished = _played(experiment, store, options, digest)
            return _concluded(experiment, finished, directory, options)
    except (OpeningsError, SpecError, AgentFailure) as error:
        raise Unplayable(str(error)) from None
    except (StoreError, RunFailed) as error:
        raise Unfinished(str(error)) from None
    except OSError as error:
        told = f"{directory}: {error.strerror or error}; what was finished is kept"
        raise Unfinished(told) from None


def set_aside(directory: Path) -> None:
    """Rename an earlier run out of the way: nothing is deleted."""
    if directory.exists():
        number = 1
        while (aside := directory.with_name(f"{directory.name}.old-{number}")).exists():
            number += 1
        directory.rename(aside)


def _played(experiment: Experiment, store: Store, options: Options, digest: str) -> Finished:
    """All games, played here or found in the journal."""
    ready, before = prepare(experiment), store.finished()
    said = {
        "begun": provenance.read_run(store.directory).get("begun") or provenance.now_text(),
        "path": str(experiment.path.absolute()),
        "overrides": list(options.overrides),
        "reproducible": reproducible(experiment),
        "finished": None,
    }
    path = store.directory / "run.json"
    provenance.write_run(path, experiment, digest, **said)
    if before and not options.quiet:
        there, whole = 2 * before, 2 * ready.schedule.total
        print(f"continuing: {there:,} of {whole:,} games were there already", file=sys.stderr)
    with Progress(ready.schedule.agents, options.quiet) as progress:
        state = play(ready, store, options.workers, progress.show)
    games = store.games()
    said |= {
        "finished": provenance.now_text(),
        "games": len(games),
        "forfeits": [games.traces[row] for row in sorted(games.traces)][:MOST_TRACES],
    }
    provenance.write_run(path, experiment, digest, **said)
    rule = experiment.stop
    sprt = (rule.sprt.plan(), state) if rule is not None and state is not None else None
    return Finished(ready, games, sprt, digest)


def census_of(experiment: Experiment, finished: Finished) -> list[tuple[str, str]]:
    """The pairs of agents without chance that have played all openings there are."""
    openings = finished.ready.openings
    complete = openings.finite and len(finished.games) == 2 * finished.ready.schedule.total
    if not complete or experiment.pairs < len(openings):
        return []
    names = tuple(experiment.agents)
    fixed = {name for name, spec in experiment.agents.items() if not stochastic(spec)}
    pairs = [(names[a], names[b]) for a, b in experiment.pairs_of_agents()]
    return [pair for pair in pairs if set(pair) <= fixed]


def _concluded(
    experiment: Experiment, finished: Finished, directory: Path, options: Options
) -> bool:
    """Sum up, write the tables, check, print; whether all checks hold."""
    # Parquet is loaded after the games: the first game need not wait for it.
    from arena import checks, junit, speed, summary, tables, terminal  # noqa: PLC0415
    from arena.evidence import repeats  # noqa: PLC0415

    games, census = finished.games, census_of(experiment, finished)
    repeat = repeats(games)
    summed = summary.summarise(games, experiment, census=census, sprt=finished.sprt, repeat=repeat)
    timings = speed.timings(games, tuple(experiment.agents))
    origin = origin_of(experiment, finished.digest)
    tables.remove_unfinished(directory)
    tables.write_games(
        directory / "games.parquet", [games], repeat, experiment.of, tuple(experiment.agents),
        finished.ready.openings, origin, moves=games.moves is not None,
    )  # fmt: skip
    tables.write_elo(directory / "elo.parquet", summed, origin)
    tables.write_win_rates(directory / "win_rates.parquet", summed, origin)
    tables.write_timings(directory / "timings.parquet", timings, origin)
    verdicts = checks.verdicts(
        experiment, games, census=census, starts=starts(finished), replay=replayer(finished)
    )
    if options.junit:
        options.junit.write_text(junit.junit(verdicts, experiment.name))
    if options.json:
        print(terminal.as_json(summed, verdicts))
    else:
        terminal.show(summed, verdicts)
        if not options.quiet:
            print(f"tables: {directory}", file=sys.stderr)
    return all(verdict.holds for verdict in verdicts)


def origin_of(experiment: Experiment, digest: str) -> dict[str, Any]:
    """What every table says about where it comes from: nothing of clocks or machines."""
    return {
        "experiment": experiment.name,
        "run": digest,
        "game": experiment.game,
        "seed": experiment.seed,
        "reproducible": reproducible(experiment),
        "resolved": experiment.resolved(),
        "versions": provenance.versions(),
    }


def starts(finished: Finished) -> Sequence[Sequence[int]]:
    """The openings in move numbers."""
    of = finished.ready.job.of
    return [moves_of(of, slots) for slots in finished.ready.openings.slots]


def replayer(finished: Finished) -> Any:
    """A function that plays the game of a row again, for runs that kept no moves."""

    def moves(row: int) -> list[int]:
        job = finished.ready.job._replace(keep_moves=True)
        from arena.records import moves_of as moves_of_row  # noqa: PLC0415
        from arena.worker import Worker  # noqa: PLC0415

        pairing = int(finished.games.pair[row])
        again = Worker(job).play(Task(pairing, pairing + 1, {}))
        return moves_of_row(again, int(finished.games.leg[row]))

    return moves


def play_alone(experiment: Experiment, pairing: int) -> None:
    """Play one pairing in this process, to see what becomes of it."""
    try:
        ready = prepare(experiment)
    except (OpeningsError, SpecError, AgentFailure) as error:
        raise Unplayable(str(error)) from None
    if not 0 <= pairing < ready.schedule.total:
        raise Unplayable(f"pairing must lie from 0 to {ready.schedule.total - 1}, got {pairing}")
    batch = play_task(Task(pairing, pairing + 1, {}))
    games = decoded(batch.games)
    for row in range(2):
        first, second = (ready.schedule.agents[c[row]] for c in (games.first, games.second))
        print(f"{first} v {second}: margin {games.margin[row]:+d} after {games.plies[row]} plies")
        print(games.traces.get(row, ""), end="")
    print(f"{batch.seconds:.3f} s")
