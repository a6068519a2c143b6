"""Check a stored run by the rules and by playing it again."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice, zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.sandbox.sandbox import Sandbox
from arena.analysis.repeatability import (
    KEY,
    Repeatability,
    load_repeatability,
    repeatability,
)
from arena.analysis.run_evidence import load_evidence
from arena.analysis.summary import relabel_intervals, summarise
from arena.analysis.tables import DECIMALS, EloRow, WinRateRow, elo_rows, win_rate_rows
from arena.planning.games import (
    COLUMNS,
    LOSS,
    Batch,
    GameColumn,
    Games,
    Termination,
    decode_games,
    moves_of_game,
    pair_points,
    slice_games,
)
from arena.planning.openings.openings import NO_MOVE
from arena.planning.plan import Plan
from arena.planning.schedule import RoundTracker, Schedule, make_schedule
from arena.planning.tasks import Task
from arena.playing.cached_pairs import CachedPairs
from arena.playing.determinism import COMPARED, FIXED, BotReplays, first_difference, seat_to_move
from arena.playing.executor import iterate_items
from arena.playing.forfeits import ForfeitRule
from arena.playing.options import PlayOptions
from arena.playing.play import StopRule
from arena.playing.referee_loop import cutoffs_of_games, difference_text, rules_violations
from arena.playing.worker import GameJob
from arena.stats.text import stop_text
from arena.storage.game_table import REPLAYED_COLUMNS, StoredGames
from arena.storage.parquet import TableError, read_rows
from arena.storage.provenance import RUN, code_digest, load_run_file
from arena.storage.run_file import (
    CHECKSUMS,
    NotARunError,
    changed_files,
    changes_since_run,
    command_of,
    is_complete,
    load_games,
    load_plan,
    open_games_table,
)
from games.base.errors import Unfinished, UserError
from games.base.files import write_text
from games.base.progress import Progress, ShowProgress, watch
from games.base.text import count_noun, did_you_mean, join_names, quote
from games.board import Board
from games.transcripts import game_lines, move_texts_by_side

SAMPLE = 200  # pairs
ELO, WIN_RATES, POINTS = "elo.parquet", "win_rates.parquet", "points.parquet"
TOLERANCE = 2 * 10.0**-DECIMALS  # rounding errors of another machine
MAX_TASK_PAIRS, TASK_SECONDS = 64, 0.5
AGENT_COLUMNS = (*COMPARED, "moves")  # columns that depend on the agents' moves
Flags = NDArray[np.bool_]
Arrays = Mapping[str, GameColumn]
Columns = Mapping[str, Sequence[object]]


class Difference(NamedTuple):
    """The first difference, and the number of games that differ.

    `row` is the number of the game, as in `RUN#7`; None if it is not about one game. The moves of
    `bots` may have changed.
    """

    text: str
    row: int | None = None
    games: int = 0
    bots: tuple[str, ...] = ()


class StoredRun(NamedTuple):
    """A stored run: its schedule, its games, and the first contradiction of rules and plan."""

    schedule: Schedule
    stored: StoredGames
    unplayed: Flags  # games that were forfeited unplayed
    fault: Difference | None
    stopped: str = ""  # how the stop rule ended it

    def count_games(self, pairs: Sequence[int]) -> int:
        """Return how many games of these pairs were played."""
        return int(np.count_nonzero(~self.unplayed.reshape(-1, 2)[np.asarray(pairs, np.int64)]))

    def is_pair_of(self, names: Sequence[str]) -> Flags:
        """Return which pairs have one of these agents."""
        columns = self.schedule.pairs.columns(0, len(self.stored.games) // 2)
        places = [self.schedule.plan.names.index(name) for name in names]
        return np.isin(columns["first"][0::2], places) | np.isin(columns["second"][0::2], places)


class VerifyResult(NamedTuple):
    """The number of compared games, the first difference, and notes on the run."""

    games: int
    difference: Difference | None
    notes: list[str]
    repeatability: Repeatability | None = None  # after this verification
    keeps_moves: bool = True
    page_is_stale: bool = False  # run.json has a new repeatability
    changed: Sequence[str] = ()  # files that differ from SHA256SUMS
    # By outside bot, the games that were played again, and those in which it moved differently.
    bots: Mapping[str, tuple[int, int]] = MappingProxyType({})

    def bot_lines(self) -> Iterator[str]:
        """Yield for each bot that played again whether its games repeat."""
        for name, (games, differing) in self.bots.items():
            if games:
                found = f"{differing:,} differ" if differing else "all the same"
                yield f"{name}: {count_noun(games, 'game')} played again, {found}"


def compare_files(directory: Path, verify: Callable[[], VerifyResult]) -> VerifyResult:
    """Verify a run, and compare its files with SHA256SUMS.

    A run that cannot be read because its files have changed has this as its difference.
    """
    changed = changed_files(directory)
    try:
        result = verify()
    except NotARunError as error:
        if not changed:
            raise
        return VerifyResult(0, Difference(str(error)), [], changed=changed)
    missing = (
        [] if changed is not None else [f"{directory} has no {CHECKSUMS} to compare files with"]
    )
    return result._replace(changed=changed or (), notes=[*result.notes, *missing])


def replay_run(directory: Path, experiment: Path | None, show: ShowProgress) -> VerifyResult:
    """Replay the games of a run by the rules alone; no bot is started."""
    with watch(show, lambda: Progress("replaying the stored games by the rules")):
        run = load_stored_run(directory, experiment and experiment.absolute().parent)
    if run.stored.moves is None and run.fault is None:
        raise NotARunError(
            f"{directory}: it kept no moves (keep_moves = true); there is none to replay"
        )
    games = run.count_games(range(len(run.stored.games) // 2))
    if not games and run.fault is None:
        raise NotARunError(f"{directory}: no game of it was played, so there is nothing to replay")
    notes = [run.stopped] if run.stopped else []
    return VerifyResult(games, run.fault, notes, keeps_moves=run.stored.moves is not None)


def verify_run(
    directory: Path,
    everything: bool,
    experiment: Path | None,
    options: PlayOptions,
    show: ShowProgress,
    without: Sequence[str] = (),
) -> VerifyResult:
    """Replay a run by the rules, then play pairs again, `without` those of some agents.

    NotARunError: the games cannot be compared.
    """
    beside = experiment and experiment.absolute().parent
    with watch(show, lambda: Progress("replaying the stored games by the rules")):
        run = load_stored_run(directory, beside)
    plan, difference, compared = run.schedule.plan, run.fault, 0
    differing: tuple[str, ...] = ()
    skipped = agents_to_skip(directory, plan, without)
    counts = BotCounts(run)
    if difference is None:
        for tree in plan.file_trees():
            if not tree.path.exists():
                raise NotARunError(
                    f"there is no file {tree.path}: --experiment says where its bots are now"
                )
        is_skipped = run.is_pair_of([name for names in skipped.values() for name in names])
        is_unplayed = run.unplayed.reshape(-1, 2).all(axis=1)
        pairs = np.flatnonzero(~is_skipped & ~is_unplayed).tolist()
        if not pairs:
            raise NotARunError(nothing_to_verify(directory, skipped))
        sample = sample_pairs(pairs, everything)
        compared, difference = play_again(run, sample, options, show, counts)
        differing = () if difference is None else difference.bots
    notes = [run.stopped] if run.stopped else []
    notes += changes_since_run(directory, beside)
    before = load_repeatability(plan, load_run_file(directory))
    after = update_repeatability(directory, plan, differing, notes)
    for why, names in skipped.items():
        games = run.count_games(np.flatnonzero(run.is_pair_of(names)).tolist())
        notes = [*notes, f"not played again: {games:,} games of {join_names(names)}, {why}"]
    keeps_moves = run.stored.moves is not None
    is_stale = after != before
    bots = counts.by_name()
    return VerifyResult(compared, difference, notes, after, keeps_moves, is_stale, bots=bots)


def load_stored_run(directory: Path, beside: Path | None) -> StoredRun:
    """Load a run and check its table by the rules; of users' code, only game files are loaded."""
    plan, facts = load_plan(directory, beside), load_run_file(directory)
    if not is_complete(directory):
        if failed := facts.get("failed"):
            why = str(failed).splitlines()[0]
            raise NotARunError(
                f"{directory}: the run failed ({why}), so there is nothing to verify"
            )
        raise Unfinished(
            f"{directory}: the run is not finished, so there is nothing to verify yet; "
            f"wait for it, or continue it: {command_of(facts, 'run')}"
        )
    stored = load_games(directory)
    size = len(stored.games)
    fixed = frozenset((a, b) for a, b in facts.get(FIXED, []))
    tracker = RoundTracker(
        make_schedule(replace(plan, stop=None, keep_search_info=False), deterministic=fixed)
    )
    tracker.add_all_points(pair_points(stored.games))
    reasons = facts.get("unloadable", {})
    unloadable = {place: reasons[name] for place, name in enumerate(plan.names) if name in reasons}
    with open_games_table(directory):  # moves are read during the check
        unplayed, fault = check_table(stored, tracker.schedule, unloadable)
    if fault is None and facts.get("games") != size:
        fault = Difference(f"{facts.get('games')} games were played, {size} are there")
    if fault is None and plan.rounds is not None and 2 * tracker.total != size:
        fault = Difference(f"the rounds ask for {2 * tracker.total} games, {size} are there")
    stop = StopRule(replace(tracker.schedule, plan=plan))
    stop.add_points(0, pair_points(stored.games))
    if fault is None and plan.stop is not None:
        fault = find_wrong_stop(stop, size // 2, plan.pairs)
    if fault is None and facts.get("code") == code_digest():
        wrong = find_table_difference(directory, plan, tracker, stored.games, unloadable)
        fault = Difference(wrong) if wrong else None
    stopped = ""
    if plan.stop is not None and (state := stop.final_state(complete=True)):
        stopped = f"the run {stop_text(plan.stop, state, plan.pairs)}"
    return StoredRun(tracker.schedule, stored, unplayed, fault, stopped)


def find_wrong_stop(rule: StopRule, pairs: int, scheduled: int) -> Difference | None:
    """Return whether the stop rule ends the match elsewhere than after these pairs."""
    if rule.state is not None and rule.should_stop and rule.state.observations < pairs:
        after = rule.state.observations
        return Difference(f"the stop rule ends the run after {after:,} pairs, {pairs:,} are there")
    if not rule.should_stop and pairs < scheduled:
        return Difference(f"the stop rule does not end the run after {pairs:,} pairs")
    return None


def check_table(
    stored: StoredGames, schedule: Schedule, unloadable: dict[int, str]
) -> tuple[Flags, Difference | None]:
    """Compare a table with the schedule, the forfeit rule and, if moves are stored, the rules.

    Return the games that were forfeited unplayed and the first contradiction. `unloadable` maps
    the places of agents that did not load to the reason.
    """
    size = len(stored.games) // 2
    if size > schedule.pairs.total:
        text = f"{2 * size} games are there, {2 * schedule.pairs.total} scheduled"
        return np.zeros(len(stored.games), np.bool_), Difference(text)
    expected = schedule.pairs.columns(0, size)
    agents = {name: expected[name] for name in ("first", "second")}
    whole = Games(stored.games.columns | agents, None, {})
    rule = ForfeitRule(schedule, unloadable).count_games(whole)
    unplayed = np.zeros(len(whole), np.bool_)
    unplayed[list(rule.traces)] = True
    faults: dict[int, str] = {}
    for name in REPLAYED_COLUMNS:
        if name in whole.columns and name not in ("pair", "seed"):
            _add_faults(faults, name, whole.columns, rule.columns, " (rule of forfeits)")
    for name in ("pair", "seed"):
        _add_faults(faults, name, stored.games.columns, expected, "")
    if not faults and stored.moves is not None:
        replay = TableReplay(schedule, whole)
        pieces = stored.moves.pieces()
        faults = dict(fault for start, texts in pieces for fault in replay.faults(start, texts))
    if not faults:
        return unplayed, None
    row = min(faults)
    return unplayed, Difference(f"game {row}: {faults[row]}", row, len(faults))


def _add_faults(
    faults: dict[int, str], name: str, stored: Arrays, expected: Arrays, source: str
) -> None:
    """Add the rows in which a column differs from the expected one."""
    for row in np.flatnonzero(expected[name] != stored[name]).tolist():
        text = difference_text(name, stored[name][row], expected[name][row])
        faults.setdefault(row, text + source)


class TableReplay:
    """Stored games, replayed from the text of their moves."""

    def __init__(self, schedule: Schedule, games: Games) -> None:
        self.schedule, self.game, self.games = schedule, schedule.game, games
        self.board = Board(self.game)
        self.slots = [
            {text: self.game.slots_of(move) for move, text in enumerate(texts)}
            for texts in move_texts_by_side(self.game)
        ]

    def faults(self, start: int, texts: list[str]) -> Iterator[tuple[int, str]]:
        """Yield the rows of the games that the rules do not allow, with the reason.

        The texts are those of the games from row `start` on.
        """
        moves, rows = list[int](), list[int]()
        for row, text in enumerate(texts, start):
            words = text.split()
            slots = self._slots(words)
            if len(words) != self.games.plies[row]:
                yield row, difference_text("plies", self.games.plies[row], len(words))
            elif isinstance(slots, str):
                yield row, slots
            elif fault := self._opening_fault(row, slots) or self._illegal_move_fault(row):
                yield row, fault
            else:
                moves += slots
                rows.append(row)
        columns = {name: column[rows] for name, column in self.games.columns.items()}
        games = Games(columns, None, {})
        found = rules_violations(
            self.game, np.array(self.game.moves_of(np.array(moves, np.int16)), np.int16),
            games.plies, games.result, games.margin, games.termination, games.game_id,
        )  # fmt: skip
        yield from ((rows[at], fault) for at, fault in found)

    def _slots(self, words: list[str]) -> list[int] | str:
        """Return the slots of a game, which is then on the board, or why it is illegal."""
        self.board.reset()
        slots = []
        for ply, word in enumerate(words, 1):
            slot = self.slots[self.board.side].get(word)
            if slot is None or slot not in self.board.slots:
                return f"move {quote(word)} at ply {ply} is not legal"
            self.board.play(slot)
            slots.append(slot)
        return slots

    def _opening_fault(self, row: int, slots: list[int]) -> str | None:
        openings = self.schedule.openings.slots
        place = self.schedule.pairs.locate(np.array([row // 2]))[1] % len(openings)
        opening = openings[place][0]
        expected = opening[opening != NO_MOVE].tolist()
        if slots and slots[: len(expected)] != expected:
            return "it does not begin with its opening"
        return None

    def _illegal_move_fault(self, row: int) -> str | None:
        """Return the fault of a game lost by an illegal move of the side not to move."""
        if self.games.termination[row] != Termination.ILLEGAL or self.games.plies[row] == 0:
            return None
        loser = 0 if self.games.result[row] == LOSS else 1
        if self.board.mover == loser:
            return None
        return "the table says termination illegal, but its loser was not to move"


def agents_to_skip(
    directory: Path, plan: Plan, without: Sequence[str] = ()
) -> dict[str, list[str]]:
    """Return the agents that are left out or cannot repeat their games, by the reason."""
    for name in without:
        if name not in plan.names:
            raise UserError(
                f"--except {quote(name)}: the run has no such agent{did_you_mean(name, plan.names)}"
            )
    replays = BotReplays.from_json(load_run_file(directory).get(KEY))
    left = [name for name in plan.names if name not in without]
    differing = [name for name in left if replays and name in replays.differing]
    on_clock = [name for name in plan.agents_on_clock if name in left and name not in differing]
    reasons = {
        "left out by --except": list(dict.fromkeys(without)),
        f"which {RUN} says not to repeat its moves": differing,
        "which plays by the clock": on_clock,
    }
    return {why: names for why, names in reasons.items() if names}


def nothing_to_verify(directory: Path, skipped: Mapping[str, Sequence[str]]) -> str:
    """Return why no game of a run can be played again, and what can be checked instead."""
    lead = f"{directory}: there is no game to play again:"
    if not skipped:
        return f"{lead} none was played"
    reasons = "; ".join(f"{join_names(names)}, {why}" for why, names in skipped.items())
    return (
        f"{lead} each has an agent that cannot play it again: {reasons}; "
        "--rules-only checks their moves by the rules"
    )


class BotCounts:
    """The games of each outside bot that were played again, and those in which it differed."""

    def __init__(self, run: StoredRun) -> None:
        self.run, self.games, self.differing = run, Counter[str](), Counter[str]()

    def add(self, games: Games, found: Sequence[Difference]) -> None:
        """Count games that were played again, with their differences."""
        rows = np.arange(2 * int(games.pair[0]), 2 * int(games.pair[-1]) + 2)
        played, names = ~self.run.unplayed[rows], self.run.schedule.plan.names
        for seat in (games.first, games.second):
            self.games.update(names[at] for at in seat[played].tolist())
        self.differing.update(name for each in found for name in each.bots)

    def by_name(self) -> dict[str, tuple[int, int]]:
        """Return both numbers for each outside bot."""
        bots = self.run.schedule.plan.external_bots
        return {name: (self.games[name], self.differing[name]) for name in bots}


def play_again(
    run: StoredRun,
    pairs: Sequence[int],
    options: PlayOptions,
    show: ShowProgress,
    counts: BotCounts,
) -> tuple[int, Difference | None]:
    """Play pairs again and count them by bot; return the number of games and the first difference.

    The difference has the number of all games that differ.
    """
    cached, compared = CachedPairs(run.schedule, options.cache), 0
    total, job = run.count_games(pairs), GameJob(run.schedule, options)
    first, mismatch, size = Difference(""), None, TaskSize()

    def show_count() -> None:
        differ = f", {first.games:,} differ" if first.games else ""
        text = f"{compared:,} of {total:,} games played again{differ}"
        show(Progress(text, compared, total))

    job.on_wait = show_count
    with closing(job.batches(iterate_items(replay_tasks(run, pairs, size)))) as batches:
        for batch in batches:
            columns = run.schedule.pairs.columns(batch.start, batch.stop)
            games = decode_games([batch.blob], columns)
            compared += run.count_games(range(batch.start, batch.stop))
            size.learn(batch)
            found = list(game_differences(run, games))
            counts.add(games, found)
            if not found and mismatch is None:
                mismatch = game_cache_mismatch(cached, run, games, batch.start)
            for each in found:
                bots = tuple(dict.fromkeys((*first.bots, *each.bots)))
                first = (first if first.text else each)._replace(games=first.games + 1, bots=bots)
    return compared, first if first.text else mismatch


class TaskSize:
    """The number of pairs per task: slow games come one by one, so that progress is visible."""

    def __init__(self) -> None:
        self.pairs = 1

    def learn(self, batch: Batch) -> None:
        """Adapt to the speed of the last batch."""
        seconds = batch.seconds / (batch.stop - batch.start)
        self.pairs = max(1, min(MAX_TASK_PAIRS, int(TASK_SECONDS / max(seconds, 1e-9))))


def update_repeatability(
    directory: Path, plan: Plan, differing: tuple[str, ...], notes: list[str]
) -> Repeatability:
    """Return the repeatability after verification, and store new differences in run.json.

    Changed files or sources explain differences without the bots, so these are not stored.
    """
    stored = load_run_file(directory)
    replays = BotReplays.from_json(stored.get(KEY))
    if differing and not notes:
        replays = replays or BotReplays(dict.fromkeys(plan.external_bots, 0))
        replays = replays._replace(differing=tuple(dict.fromkeys((*replays.differing, *differing))))
        again = repeatability(plan, replays)
        stored = {**stored, KEY: again.to_json(replays)}
        write_text(directory / RUN, json.dumps(stored, indent=1, ensure_ascii=False) + "\n")
    return repeatability(plan, replays)


def sample_pairs(pairs: Sequence[int], everything: bool) -> list[int]:
    """Return the pairs to play again, in order: all, or an evenly spread sample."""
    if everything or len(pairs) <= SAMPLE:
        return list(pairs)
    return [pairs[place * len(pairs) // SAMPLE] for place in range(SAMPLE)]


def game_cache_mismatch(
    cached: CachedPairs, run: StoredRun, games: Games, first: int
) -> Difference | None:
    """Return a difference if the game cache had other games than those played again."""
    if not cached.forget_if_different(run.schedule.pairs, games, first):
        return None
    text = f"the game cache had another game for game {2 * first} or one after"
    return Difference(f"{text}; all cached games of these agents are deleted")


def replay_tasks(run: StoredRun, pairs: Sequence[int], size: TaskSize) -> Iterator[Task]:
    """Yield tasks of consecutive pairs; games that were cut off are cut off again at once."""
    at = 0
    while at < len(pairs):
        end = at + 1
        while end < min(at + size.pairs, len(pairs)) and pairs[end] == pairs[end - 1] + 1:
            end += 1
        task = range(pairs[at], pairs[end - 1] + 1)
        cutoffs = cutoffs_of_games(run.stored.games, task)
        blocks = run.schedule.pairs.blocks_for_task(task.start, task.stop)
        yield Task(task.start, task.stop, cutoffs, blocks)
        at = end


def game_differences(run: StoredRun, games: Games) -> Iterator[Difference]:
    """Yield each game that differs: its first different column and the bots that may cause it."""
    stored, of = run.stored, run.schedule.game
    rows = slice(2 * int(games.pair[0]), 2 * int(games.pair[-1]) + 2)
    before = {name: stored.games.columns[name][rows].tolist() for name in REPLAYED_COLUMNS}
    now = {name: games.columns[name].tolist() for name in REPLAYED_COLUMNS}
    if stored.moves is not None:
        assert games.moves is not None  # the run stored them, and this plays its plan
        again = game_lines(of, games.moves, games.plies)
        before, now = (
            before | {"moves": stored.moves.rows(rows.start, rows.stop)},
            now | {"moves": again},
        )
    for row in np.flatnonzero(~run.unplayed[rows]).tolist():
        for name, column in now.items():
            if before[name][row : row + 1] != column[row : row + 1]:
                was = before[name][row] if row < len(before[name]) else None
                number = rows.start + row
                what = f"game {number}: {difference_text(name, was, column[row])}"
                bots = (
                    bots_that_differ(run, games, row, before, now) if name in AGENT_COLUMNS else ()
                )
                yield Difference(what + doubt_text(bots), number, 1, bots)
                break


def bots_that_differ(
    run: StoredRun, games: Games, row: int, before: Columns, now: Columns
) -> tuple[str, ...]:
    """Return the outside bot that moved differently, or all whose moves may have changed."""
    places = [int(games.first[row]), int(games.second[row])]
    if "moves" in before and games.moves is not None and row < len(before["moves"]):
        ply = first_difference(str(before["moves"][row]).split(), str(now["moves"][row]).split())
        if ply is not None:
            places = [places[seat_to_move(run.schedule.game, moves_of_game(games, row)[:ply])]]
    names, outside_bots = run.schedule.plan.names, run.schedule.plan.external_bots
    return tuple(names[place] for place in places if names[place] in outside_bots)


def doubt_text(bots: tuple[str, ...]) -> str:
    """Return whose moves may have changed if the table follows the rules."""
    if not bots:
        return ""
    names = " and ".join(bots)
    return f" (the table follows the rules: {names} may not be the same bot any more)"


def find_table_difference(
    directory: Path,
    plan: Plan,
    tracker: RoundTracker,
    stored: Games,
    unloadable: Mapping[int, str],
) -> str | None:
    """Return the first difference between a table of a run and its games; None without any.

    `plan` is the run's, with its stop rule. The tables must have been written by the same code.
    """
    size = len(stored) // 2
    none = {name: np.zeros(len(stored), kind) for name, kind in COLUMNS.items()}
    games = Games(none | stored.columns | tracker.columns(0, size), None, {})
    evidence = load_evidence(
        tracker.schedule, lambda: [slice_games(games, 0, len(games))], size, directory, Sandbox(),
        lambda _: None, unloadable,
    )  # fmt: skip
    summary = summarise(
        evidence, tournament=tracker.standing, by_points=(directory / POINTS).exists(),
        stop=plan.stop,
    )  # fmt: skip
    summary = relabel_intervals(summary)
    try:
        return _first_difference(
            ELO, list(read_rows(directory / ELO, EloRow)), elo_rows(summary)
        ) or _first_difference(
            WIN_RATES, list(read_rows(directory / WIN_RATES, WinRateRow)),
            list(win_rate_rows(summary)),
        )  # fmt: skip
    except (OSError, TableError) as error:
        return f"a table cannot be read: {error}"


def _first_difference(table: str, stored: Sequence[Any], given: Sequence[Any]) -> str | None:
    for was, now in zip_longest(stored, given):
        if was is None or now is None:
            return f"{table} has {len(stored)} rows, the games give {len(given)}"
        agents = " against ".join(islice((was.agent, *_opponent(was)), 2))
        for name in now._fields:
            one, other = getattr(was, name), getattr(now, name)
            if not _is_equal(one, other):
                return f"{table}: {name} of {agents} is {one}, the games give {other}"
    return None


def _opponent(row: Any) -> tuple[str, ...]:
    return (row.opponent,) if hasattr(row, "opponent") else ()


def _is_equal(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return one == other
