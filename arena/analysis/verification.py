"""Check a stored run by the rules and by playing it again."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from arena.analysis.repeatability import (
    KEY,
    Repeatability,
    repeatability,
    stored_repeatability,
)
from arena.analysis.table_verification import wrong_table
from arena.planning.games import (
    LOSS,
    Batch,
    Games,
    Termination,
    decode_games,
    moves_of_game,
    pair_points,
)
from arena.planning.openings.openings import NO_MOVE
from arena.planning.plan import Plan
from arena.planning.schedule import DrawnPlan, RoundTracker, make_schedule
from arena.planning.tasks import Task
from arena.playing.bot_replays import SAME, BotReplays, first_difference, seat_to_move
from arena.playing.bots import FIXED
from arena.playing.cached_pairs import CachedPairs
from arena.playing.executor import iterate_items
from arena.playing.forfeits import ForfeitRule
from arena.playing.options import PlayOptions
from arena.playing.referee_loop import contradiction, stored_cutoffs, unclean_games
from arena.playing.worker import GameJob
from arena.storage.game_table import REPLAYED_COLUMNS, StoredGames
from arena.storage.provenance import RUN, code_digest, read_run
from arena.storage.run_file import (
    NotARunError,
    changes_since_run,
    command_of,
    is_finished,
    load_plan,
    open_games_table,
    stored_games,
)
from games.base.errors import Unfinished
from games.base.files import write_text
from games.base.progress import Progress, ShowProgress, watch
from games.base.text import listed, quote
from games.board import Board
from games.transcripts import game_lines, move_texts_by_side

SAMPLE = 200  # pairings
AT_ONCE, TASK_SECONDS = 64, 0.5  # at most, of a task
BY_AGENTS = (*SAME, "moves")  # columns that agents decide
Records = Mapping[str, Sequence[object]]  # columns of some games


class Difference(NamedTuple):
    """The first difference that was found, and how many games differ.

    `row` is the number of the game, as in `RUN#7`; None if the difference is not in one game.
    `bots` may be the reason.
    """

    words: str
    row: int | None = None
    games: int = 0
    bots: tuple[str, ...] = ()


class TableCheck(NamedTuple):
    """What a table holds, as far as the rules and the plan can tell."""

    fault: Difference | None  # where it cannot be true
    unasked: "np.ndarray[tuple[int], np.dtype[np.bool_]]"  # games that were forfeited unplayed

    def played_games(self, pairs: Sequence[int]) -> int:
        """Return how many games of these pairs were played."""
        rows = 2 * np.asarray(pairs, np.int64)
        return int(
            np.count_nonzero(~self.unasked[rows]) + np.count_nonzero(~self.unasked[rows + 1])
        )


def check_table(stored: StoredGames, drawn: DrawnPlan, unloadable: dict[int, str]) -> TableCheck:
    """Compare a table with the schedule, the rule of faults and, where moves were kept, the rules.

    `unloadable` says of places why their agents did not load.
    """
    size = len(stored.games) // 2
    placed = drawn.pairings.columns(0, size) if size <= drawn.pairings.total else None
    none = np.zeros(len(stored.games), np.bool_)
    if placed is None:
        there = f"{2 * size} games are there, {2 * drawn.pairings.total} scheduled"
        return TableCheck(Difference(there), none)
    whole = Games(stored.games.columns | {n: placed[n] for n in ("first", "second")}, None, {})
    unasked, faults = unplayed_forfeits(whole, drawn, unloadable)
    for name in ("pair", "seed"):
        different = np.flatnonzero(stored.games.columns[name] != placed[name])
        for row in different.tolist():
            was, now = stored.games.columns[name][row], placed[name][row]
            faults.setdefault(row, contradiction(name, was, now))
    if not faults and stored.moves is not None:
        replay = TableReplay(drawn, whole)
        pieces = stored.moves.pieces()
        faults = dict(fault for start, texts in pieces for fault in replay.faults(start, texts))
    return TableCheck(first_of(faults), unasked)


def first_of(faults: Mapping[int, str]) -> Difference | None:
    """Return the difference in the first of the games that differ; None without any."""
    if not faults:
        return None
    row = min(faults)
    return Difference(f"game {row}: {faults[row]}", row, len(faults))


def unplayed_forfeits(
    whole: Games, drawn: DrawnPlan, unloadable: dict[int, str]
) -> tuple["np.ndarray[tuple[int], np.dtype[np.bool_]]", dict[int, str]]:
    """Which games the rule of faults has forfeited unplayed, and those that end otherwise."""
    rule = ForfeitRule(drawn, unloadable)
    ruled = rule.take(whole)
    unasked = np.zeros(len(whole), np.bool_)
    unasked[list(ruled.traces)] = True
    faults: dict[int, str] = {}
    for name in REPLAYED_COLUMNS:
        if name in whole.columns and name not in ("pair", "seed"):
            different = np.flatnonzero(ruled.columns[name] != whole.columns[name])
            for row in different.tolist():
                was, now = whole.columns[name][row], ruled.columns[name][row]
                faults.setdefault(row, f"{contradiction(name, was, now)} (rule of forfeits)")
    return unasked, faults


class TableReplay:
    """Games in the words of players, played again."""

    def __init__(self, drawn: DrawnPlan, games: Games) -> None:
        """The columns of the games; their moves come as words."""
        self.drawn, self.games = drawn, games
        self.board = Board(drawn.of)
        self.slots = [
            {word: drawn.of.slots_of(move) for move, word in enumerate(words)}
            for words in move_texts_by_side(drawn.of)
        ]

    def faults(self, start: int, texts: list[str]) -> Iterator[tuple[int, str]]:
        """The rows of the games that the rules do not allow as they stand there, and why.

        The texts are those of the games from row `start` on.
        """
        of, moves, rows = self.drawn.of, list[int](), list[int]()
        for row, text in enumerate(texts, start):
            words = text.split()
            slots = self._slots(words)
            if len(words) != self.games.plies[row]:
                yield row, contradiction("plies", self.games.plies[row], len(words))
            elif isinstance(slots, str):
                yield row, slots
            elif problem := self._begins_wrongly(row, slots) or self._loser_was_waiting(row):
                yield row, problem
            else:
                moves += slots
                rows.append(row)
        columns = {name: column[rows] for name, column in self.games.columns.items()}
        games = Games(columns, None, {})
        found = unclean_games(
            of, np.array(of.moves_of(np.array(moves, np.int16)), np.int16), games.plies,
            games.result, games.margin, games.termination, games.game_id,
        )  # fmt: skip
        yield from ((rows[at], words) for at, words in found)

    def _slots(self, words: list[str]) -> list[int] | str:
        """The slots of a game, which then stands on the board; or why there is no such game."""
        self.board.begin()
        slots = []
        for ply, word in enumerate(words, 1):
            slot = self.slots[self.board.side].get(word)
            if slot is None or slot not in self.board.slots:
                return f"move {quote(word)} at ply {ply} is not legal"
            self.board.play(slot)
            slots.append(slot)
        return slots

    def _begins_wrongly(self, row: int, slots: list[int]) -> str | None:
        """A game that was begun has the moves of its opening."""
        openings = self.drawn.openings.slots
        opening = openings[(self.drawn.pairings.places(np.array([row // 2]))[1]) % len(openings)][0]
        drawn = opening[opening != NO_MOVE].tolist()
        return (
            "it does not begin with its opening" if slots and slots[: len(drawn)] != drawn else None
        )

    def _loser_was_waiting(self, row: int) -> str | None:
        """Who answers an illegal move is to move."""
        if self.games.termination[row] != Termination.ILLEGAL or self.games.plies[row] == 0:
            return None
        loser = 0 if self.games.result[row] == LOSS else 1
        wrong = self.board.mover != loser
        return (
            "the table says termination illegal, but its loser was not to move" if wrong else None
        )


def unloadable_by_index(stored: dict[str, str], names: tuple[str, ...]) -> dict[int, str]:
    """What run.json says of agents that did not load, by their places."""
    return {names.index(name): why for name, why in stored.items() if name in names}


class VerifyResult(NamedTuple):
    """How many games were compared, the first difference if any, notes on the run."""

    games: int
    difference: Difference | None
    notes: list[str]
    again: Repeatability | None = None  # what is said of repeating the run
    keeps_moves: bool = True
    page_is_stale: bool = False  # run.json says something else of repeating the run than before


class LoadedTable(NamedTuple):
    """A run read back: its schedule, its games, what the rules say of them."""

    drawn: DrawnPlan
    stored: StoredGames
    table: TableCheck


def load_table(directory: Path, beside: Path | None) -> LoadedTable:
    """The run with its table checked by clean rules; no user's code but a game file is loaded."""
    plan, said = load_plan(directory, beside), read_run(directory)
    if not is_finished(directory):
        again = command_of(said, "run")
        if failed := said.get("failed"):
            why = str(failed).splitlines()[0]
            raise NotARunError(
                f"{directory}: the run failed ({why}), so there is nothing to verify"
            )
        raise Unfinished(
            f"{directory}: the run is not finished, so there is nothing to verify yet; "
            f"wait for it, or continue it: {again}"
        )
    stored = stored_games(directory)
    fixed = frozenset((a, b) for a, b in said.get(FIXED, []))
    course = RoundTracker(make_schedule(replace(plan, stop=None, thoughts=False), fixed=fixed))
    course.follow(pair_points(stored.games))
    drawn = course.drawn
    unloadable = unloadable_by_index(said.get("unloadable", {}), plan.names)
    with open_games_table(directory):  # the moves are read only now
        table = check_table(stored, drawn, unloadable)
    if table.fault is None and said.get("games") != len(stored.games):
        missing = f"{said.get('games')} games were played, {len(stored.games)} are there"
        table = table._replace(fault=Difference(missing))
    if table.fault is None and plan.rounds is not None and 2 * course.total != len(stored.games):
        there = f"{2 * course.total} games, {len(stored.games)} are there"
        table = table._replace(fault=Difference(f"the rounds ask for {there}"))
    if table.fault is None and said.get("code") == code_digest():
        wrong = wrong_table(directory, plan, course, stored.games, unloadable)
        table = table._replace(fault=Difference(wrong) if wrong else None)
    return LoadedTable(drawn, stored, table)


def replay_run(directory: Path, experiment: Path | None, show: ShowProgress) -> VerifyResult:
    """Replay the games of a run by clean rules alone; no bot is started."""
    with watch(show, lambda: Progress("replaying the stored games by the rules")):
        run = load_table(directory, experiment and experiment.absolute().parent)
    if run.stored.moves is None and run.table.fault is None:
        raise NotARunError(
            f"{directory}: it kept no moves (keep_moves = true); there is none to replay"
        )
    played = run.table.played_games(range(len(run.stored.games) // 2))
    if not played and run.table.fault is None:
        raise NotARunError(f"{directory}: no game of it was played, so there is nothing to replay")
    return VerifyResult(played, run.table.fault, [], keeps_moves=run.stored.moves is not None)


def verify_run(
    directory: Path,
    everything: bool,
    experiment: Path | None,
    options: PlayOptions,
    show: ShowProgress,
) -> VerifyResult:
    """Replay a run by clean rules, then play pairings again.

    NotARunError if they cannot be compared.
    """
    beside = experiment and experiment.absolute().parent
    with watch(show, lambda: Progress("replaying the stored games by the rules")):
        run = load_table(directory, beside)
    drawn, compared = run.drawn, 0
    differing = run.table.fault
    for tree in drawn.plan.trees():
        if differing is None and not tree.path.exists():
            raise NotARunError(
                f"there is no file {tree.path}: --experiment says where its bots are now"
            )
    doubted: tuple[str, ...] = ()
    left_out = agents_left_out(directory, drawn.plan)
    skipped = pairs_of(run, [name for names in left_out.values() for name in names])
    if differing is None:
        unplayed = run.table.unasked.reshape(-1, 2).all(axis=1)
        asked = np.flatnonzero(~skipped & ~unplayed).tolist()
        if not asked:
            raise NotARunError(nothing_to_verify(directory, left_out))
        compared, differing = play_again(run, sample_pairs(asked, everything), options, show)
        doubted = () if differing is None else differing.bots
    notes = changes_since_run(directory, beside)
    before = stored_repeatability(drawn.plan, read_run(directory))
    again = repeatability_now(directory, drawn.plan, doubted, notes)
    for why, names in left_out.items():
        pairs = np.flatnonzero(pairs_of(run, names)).tolist()
        games = f"{run.table.played_games(pairs):,} games of {listed(names)}"
        notes = [*notes, f"not played again: {games}, {why}"]
    keeps_moves = run.stored.moves is not None
    return VerifyResult(compared, differing, notes, again, keeps_moves, again != before)


def agents_left_out(directory: Path, plan: Plan) -> dict[str, list[str]]:
    """Return the agents whose games cannot come out the same, by the reason."""
    replays = BotReplays.from_json(read_run(directory).get(KEY))
    differing = [name for name in plan.names if replays and name in replays.differing]
    found = {
        f"which {RUN} says not to repeat its moves": differing,
        "which plays by the clock": [name for name in plan.by_the_clock if name not in differing],
    }
    return {why: names for why, names in found.items() if names}


def nothing_to_verify(directory: Path, left_out: Mapping[str, Sequence[str]]) -> str:
    """Say why no game of a run can be played again, and what can be checked all the same."""
    reasons = "; ".join(f"{listed(names)}, {why}" for why, names in left_out.items())
    why = (
        f"each has an agent that cannot play it again: {reasons}" if reasons else "none was played"
    )
    replay = "; --rules-only checks their moves by the rules" if reasons else ""
    return f"{directory}: there is no game to play again: {why}{replay}"


def pairs_of(
    run: LoadedTable, names: Sequence[str]
) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return which pairs of a run have one of these agents."""
    placed = run.drawn.pairings.columns(0, len(run.stored.games) // 2)
    places = [run.drawn.plan.names.index(name) for name in names]
    return np.asarray(
        np.isin(placed["first"][0::2], places) | np.isin(placed["second"][0::2], places)
    )


def play_again(
    run: LoadedTable, pairs: Sequence[int], options: PlayOptions, show: ShowProgress
) -> tuple[int, Difference | None]:
    """Play pairs again; return the number of games, and the first that differs of how many."""
    drawn, known, compared = run.drawn, CachedPairs(run.drawn, options.known), 0
    total, job = run.table.played_games(pairs), GameJob(drawn, options)
    first, forgot, size = Difference(""), None, TaskSize()

    def show_count() -> None:
        differ = f", {first.games:,} differ" if first.games else ""
        text = f"{compared:,} of {total:,} games played again{differ}"
        show(Progress(text, compared, total))

    job.on_wait = show_count
    with closing(job.batches(iterate_items(replay_tasks(run, pairs, size)))) as batches:
        for batch in batches:
            games = decode_games([batch.games], drawn.pairings.columns(batch.start, batch.stop))
            compared += run.table.played_games(range(batch.start, batch.stop))
            size.learn(batch)
            found = list(differences_in(run, games))
            if not found and forgot is None:
                forgot = game_cache_mismatch(known, run, games, batch.start)
            for each in found:
                bots = tuple(dict.fromkeys((*first.bots, *each.bots)))
                first = (first if first.words else each)._replace(games=first.games + 1, bots=bots)
    return compared, first if first.words else forgot


class TaskSize:
    """How many pairs a task has: slow games come one by one, so that the progress line moves."""

    def __init__(self) -> None:
        """Nothing is known of their speed."""
        self.pairs = 1

    def learn(self, batch: Batch) -> None:
        """Take the speed of the last batch."""
        each = batch.seconds / (batch.stop - batch.start)
        self.pairs = max(1, min(AT_ONCE, int(TASK_SECONDS / max(each, 1e-9))))


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
        stored = {**stored, KEY: again.to_json(replays)}
        write_text(directory / RUN, json.dumps(stored, indent=1, ensure_ascii=False) + "\n")
    return repeatability(plan, replays)


def sample_pairs(pairs: Sequence[int], everything: bool) -> list[int]:
    """Return which of these pairs to play again, in order: all, or a sample spread evenly."""
    if everything or len(pairs) <= SAMPLE:
        return list(pairs)
    return [pairs[place * len(pairs) // SAMPLE] for place in range(SAMPLE)]


def game_cache_mismatch(
    known: CachedPairs, run: LoadedTable, games: Games, first: int
) -> Difference | None:
    """What is said if the known games had others than those that were played again."""
    if not known.differing(run.drawn.pairings, games, first):
        return None
    differing = f"the known games had another game for game {2 * first} or one after"
    return Difference(f"{differing}; all known games of these agents are forgotten")


def replay_tasks(run: LoadedTable, pairs: Sequence[int], size: TaskSize) -> Iterator[Task]:
    """Yield tasks of pairs side by side; games that were cut off are cut off again at once."""
    at = 0
    while at < len(pairs):
        end = at + 1
        while end < min(at + size.pairs, len(pairs)) and pairs[end] == pairs[end - 1] + 1:
            end += 1
        each = range(pairs[at], pairs[end - 1] + 1)
        verdicts = stored_cutoffs(run.stored.games, each)
        carried = run.drawn.pairings.blocks_for_task(each.start, each.stop)
        yield Task(each.start, each.stop, verdicts, carried)
        at = end


def differences_in(run: LoadedTable, games: Games) -> Iterator[Difference]:
    """Each game that differs: the first column that does, and whose moves they may be."""
    stored, of = run.stored, run.drawn.of
    rows = slice(2 * int(games.pair[0]), 2 * int(games.pair[-1]) + 2)
    before = {name: stored.games.columns[name][rows].tolist() for name in REPLAYED_COLUMNS}
    now = {name: games.columns[name].tolist() for name in REPLAYED_COLUMNS}
    if stored.moves is not None:
        assert games.moves is not None  # the run kept them, and this plays its plan
        again = game_lines(of, games.moves, games.plies)
        before, now = (
            before | {"moves": stored.moves.rows(rows.start, rows.stop)},
            now | {"moves": again},
        )
    for row in np.flatnonzero(~run.table.unasked[rows]).tolist():
        for name, column in now.items():
            if before[name][row : row + 1] != column[row : row + 1]:
                was = before[name][row] if row < len(before[name]) else None
                number = rows.start + row
                what = f"game {number}: {contradiction(name, was, column[row])}"
                bots = bots_that_differ(run, games, row, before, now) if name in BY_AGENTS else ()
                yield Difference(what + doubt_words(bots), number, 1, bots)
                break


def bots_that_differ(
    run: LoadedTable, games: Games, row: int, before: Records, now: Records
) -> tuple[str, ...]:
    """Return the outside bot whose move was another one, or those whose moves may have been."""
    places = [int(games.first[row]), int(games.second[row])]
    if "moves" in before and games.moves is not None and row < len(before["moves"]):
        ply = first_difference(str(before["moves"][row]).split(), str(now["moves"][row]).split())
        if ply is not None:
            places = [places[seat_to_move(run.drawn.of, moves_of_game(games, row)[:ply])]]
    names, outside_bots = run.drawn.plan.names, run.drawn.plan.outside_bots
    return tuple(names[place] for place in places if names[place] in outside_bots)


def doubt_words(bots: tuple[str, ...]) -> str:
    """Say whose moves may have changed without a fault of the table."""
    if not bots:
        return ""
    names = " and ".join(bots)
    return f" (the table is clean by the rules: {names} may not be the same bot any more)"
