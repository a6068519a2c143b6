"""The games of a run, played again from their seeds to compare them with its table."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from arena.concluding.clean_tables import Table, checked, unloadable_places
from arena.concluding.repeatability import KEY, Repeatability, repeatability
from arena.keeping.game_table import COMPARED, StoredGames
from arena.keeping.provenance import RUN, read_run
from arena.keeping.run_directory import (
    NotARun,
    changes_since,
    stored_games,
    stored_plan,
    stored_table,
)
from arena.planning.course import Course
from arena.planning.drawing import DrawnPlan, draw
from arena.planning.game_blobs import decoded
from arena.planning.plan import Plan
from arena.planning.records import Games, moves_of, pair_points
from arena.planning.tasks import Task
from arena.playing.bot_replays import SAME, BotReplays, first_difference, seat_to_move
from arena.playing.clean_replay import contradiction
from arena.playing.determinism import FIXED
from arena.playing.in_order import in_turn
from arena.playing.known_pairings import KnownPairings
from arena.playing.referee_loop import stored_verdicts
from arena.playing.workers import PlayOptions, Workers
from games.progress_line import ProgressLine
from games.transcripts import lines
from games.whole_files import write_text

SAMPLE = 200  # pairings
AT_ONCE = 64

BY_AGENTS = (*SAME, "moves")  # columns that agents decide
Records = Mapping[str, Sequence[object]]  # columns of some games


class Reproduction(NamedTuple):
    """How many games were compared, the first difference if any, notes on the run."""

    games: int
    difference: str | None
    notes: list[str]
    again: Repeatability | None = None  # what is said of repeating the run


class StoredRun(NamedTuple):
    """A run read back: its schedule, its games, what the rules say of them."""

    drawn: DrawnPlan
    stored: StoredGames
    table: Table


def stored_run(directory: Path, beside: Path | None) -> StoredRun:
    """The run with its table checked by clean rules; no user's code but a game file is loaded."""
    plan, stored, said = (
        stored_plan(directory, beside),
        stored_games(directory),
        read_run(directory),
    )
    fixed = frozenset((a, b) for a, b in said.get(FIXED, []))
    course = Course(draw(replace(plan, stop=None, thoughts=False), fixed=fixed))
    course.follow(pair_points(stored.games))
    drawn = course.drawn
    unloadable = unloadable_places(said.get("unloadable", {}), plan.names)
    with stored_table(directory):  # the moves are read only now
        table = checked(stored, drawn, unloadable)
    if table.fault is None and said.get("games") != len(stored.games):
        missing = f"{said.get('games')} games were played, {len(stored.games)} are there"
        table = table._replace(fault=missing)
    if table.fault is None and plan.rounds is not None and 2 * course.total != len(stored.games):
        there = f"{2 * course.total} games, {len(stored.games)} are there"
        table = table._replace(fault=f"the rounds ask for {there}")
    return StoredRun(drawn, stored, table)


def replaying(seconds: float) -> list[str]:
    """What the progress line shows while the stored games are replayed."""
    return [f"replaying the stored games by the rules, {seconds:.0f} s"]


def replayed(directory: Path, experiment: Path | None, line: ProgressLine) -> Reproduction:
    """Replay the games of a run by clean rules alone; no bot is started."""
    with line.watch(replaying):
        run = stored_run(directory, experiment and experiment.absolute().parent)
    if run.stored.moves is None and run.table.fault is None:
        raise NotARun(f"{directory}: it kept no moves (keep_moves = true); there is none to replay")
    return Reproduction(run.table.replayed, run.table.fault, [])


def compare(
    directory: Path,
    everything: bool,
    experiment: Path | None,
    options: PlayOptions,
    line: ProgressLine,
) -> Reproduction:
    """Replay a run by clean rules, then play pairings again until one differs.

    NotARun if they cannot be compared.
    """
    beside = experiment and experiment.absolute().parent
    with line.watch(replaying):
        run = stored_run(directory, beside)
    drawn, stored, compared = run.drawn, run.stored, 0
    differing = run.table.fault
    for tree in drawn.plan.trees():
        if differing is None and not tree.path.exists():
            raise NotARun(f"there is no file {tree.path}: --experiment says where its bots are now")
    if differing is None and not drawn.plan.reproducible:
        raise NotARun(
            f"{directory}: its agents played by the clock, so its games cannot be played again"
        )
    doubted: tuple[str, ...] = ()
    if differing is None:
        which = chosen(len(stored.games) // 2, everything)
        compared, differing, doubted = play_again(run, which, options, line)
    notes = changes_since(directory, beside)
    again = repeatability_now(directory, drawn.plan, doubted, notes)
    return Reproduction(compared, differing, notes, again)


def play_again(
    run: StoredRun, which: list[range], options: PlayOptions, line: ProgressLine
) -> tuple[int, str | None, tuple[str, ...]]:
    """Play pairings until one differs: the games, the difference, the bots that may cause it."""
    drawn, known, compared = run.drawn, KnownPairings(run.drawn, options.known), 0
    total, workers = 2 * sum(map(len, which)), Workers(drawn, options)
    workers.on_wait = lambda: line.show(
        lambda seconds: [f"{compared:,} of {total:,} games played again, {seconds:.0f} s"]
    )
    with closing(workers.batches(in_turn(tasks_of(run, which)))) as batches:
        for batch in batches:
            games = decoded([batch.games], drawn.pairings.columns(batch.start, batch.stop))
            compared += len(games)
            if found := first_difference_in(run, games):
                return compared, found.words, found.bots
            if differing := forgotten(known, run, games, batch.start):
                return compared, differing, ()
    return compared, None, ()


def repeatability_now(
    directory: Path, plan: Plan, differing: tuple[str, ...], notes: list[str]
) -> Repeatability:
    """Return what is said of the run now that bots were seen to differ; run.json says it too.

    Not if files or sources have changed since: then it is not the run's bots that differ.
    """
    stored = read_run(directory)
    replays = BotReplays.from_json(stored.get(KEY))
    if differing and not notes:
        replays = replays or BotReplays(dict.fromkeys(plan.outside_bots, 0))
        replays = replays._replace(differing=tuple(dict.fromkeys((*replays.differing, *differing))))
        again = repeatability(plan, replays)
        stored = {**stored, KEY: again.to_json(replays), "reproducible": again.as_bool}
        write_text(directory / RUN, json.dumps(stored, indent=1, ensure_ascii=False) + "\n")
    return repeatability(plan, replays)


def chosen(total: int, everything: bool) -> list[range]:
    """The pairings to play again, in order: all, or a sample spread evenly over the run."""
    if everything or total <= SAMPLE:
        return [range(at, min(at + AT_ONCE, total)) for at in range(0, total, AT_ONCE)]
    starts = [place * total // SAMPLE for place in range(SAMPLE)]
    return [range(at, at + 1) for at in starts]


def forgotten(known: KnownPairings, run: StoredRun, games: Games, first: int) -> str | None:
    """What is said if the known games had others than those that were played again."""
    if not known.differing(run.drawn.pairings, games, first):
        return None
    differing = f"the known games had another game for pairing {first} or one after"
    return f"{differing}; all known games of these agents are forgotten"


def tasks_of(run: StoredRun, which: list[range]) -> Iterator[Task]:
    """The tasks to play; games that were cut off are cut off again without waiting."""
    for each in which:
        if not run.table.unasked[2 * each.start : 2 * each.stop].all():
            verdicts = stored_verdicts(run.stored.games, each)
            carried = run.drawn.pairings.carried(each.start, each.stop)
            yield Task(each.start, each.stop, verdicts, carried)


class Difference(NamedTuple):
    """The first difference between the records of two plays, and the outside bots it comes from."""

    words: str
    bots: tuple[str, ...]


def first_difference_in(run: StoredRun, games: Games) -> Difference | None:
    """The first column in which the records of a game differ; whose moves they may be."""
    stored, of = run.stored, run.drawn.of
    rows = slice(2 * int(games.pair[0]), 2 * int(games.pair[-1]) + 2)
    before = {name: stored.games.columns[name][rows].tolist() for name in COMPARED}
    now = {name: games.columns[name].tolist() for name in COMPARED}
    if stored.moves is not None:
        assert games.moves is not None  # the run kept them, and this plays its plan
        again = lines(of, games.moves, games.plies)
        before, now = (
            before | {"moves": stored.moves.rows(rows.start, rows.stop)},
            now | {"moves": again},
        )
    for row in np.flatnonzero(~run.table.unasked[rows]).tolist():
        for name, column in now.items():
            if before[name][row : row + 1] != column[row : row + 1]:
                was = before[name][row] if row < len(before[name]) else None
                place = f"pairing {games.pair[row]}, game {row % 2 + 1}"
                what = f"{place}: {contradiction(name, was, column[row])}"
                bots = bots_that_differ(run, games, row, before, now) if name in BY_AGENTS else ()
                return Difference(what + doubt_words(bots), bots)
    return None


def bots_that_differ(
    run: StoredRun, games: Games, row: int, before: Records, now: Records
) -> tuple[str, ...]:
    """Return the outside bot whose move was another one, or those whose moves may have been."""
    places = [int(games.first[row]), int(games.second[row])]
    if "moves" in before and games.moves is not None and row < len(before["moves"]):
        ply = first_difference(str(before["moves"][row]).split(), str(now["moves"][row]).split())
        if ply is not None:
            places = [places[seat_to_move(run.drawn.of, moves_of(games, row)[:ply])]]
    names, outside_bots = run.drawn.plan.names, run.drawn.plan.outside_bots
    return tuple(names[place] for place in places if names[place] in outside_bots)


def doubt_words(bots: tuple[str, ...]) -> str:
    """Say whose moves may have changed without a fault of the table."""
    if not bots:
        return ""
    names = " and ".join(bots)
    return f" (the table is clean by the rules: {names} may not be the same bot any more)"
