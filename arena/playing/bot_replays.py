"""Play games of outside bots again at the end of a run, to see whether they repeat their moves."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from arena.planning.games import LOSS, Games, Termination, decode_games, moves_of_game, take_games
from arena.planning.schedule import DrawnPlan
from arena.planning.tasks import Task
from arena.playing.cached_pairs import CachedPairs
from arena.playing.executor import ItemFailed, iterate_items
from arena.playing.options import PlayOptions
from arena.playing.referee_loop import stored_cutoffs
from arena.playing.worker import GameJob
from games import Game
from games.base.schema import KeyValues

# The pairings of a run from the first to before the second, with their games, in order.
StoredParts = Callable[[], Iterable[tuple[int, int, Games]]]

MOST_PAIRINGS = 3  # of each bot
# Time for playing again: seconds, and a share of what the run's agents thought.
LEAST_SECONDS, SHARE = 10.0, 0.1
SAME = ("game_id", "result", "margin", "plies", "termination")


class BotReplays(NamedTuple):
    """Games of each outside bot that were played again, and the bots that differed."""

    games: Mapping[str, int]
    differing: tuple[str, ...] = ()

    def to_json(self) -> KeyValues:
        """Return it as run.json has it."""
        return {"replayed": dict(self.games), "differing": list(self.differing)}

    @classmethod
    def from_json(cls, stored: object) -> "BotReplays | None":
        """Return what `to_json` wrote; None if a run did not test its bots."""
        if not isinstance(stored, dict):
            return None
        games, differing = stored.get("replayed"), stored.get("differing")
        if not isinstance(games, dict) or not isinstance(differing, list):
            return None
        counts = {str(name): int(n) for name, n in games.items() if isinstance(n, int)}
        return cls(counts, tuple(map(str, differing)))


def replay_bots(
    drawn: DrawnPlan, parts: StoredParts, options: PlayOptions, tell: Callable[[str], object]
) -> BotReplays:
    """Play a few games of each outside bot again and compare them.

    Bots that never chose a move are left out: every game against them ends in a forfeit.
    """
    names = drawn.plan.names
    places = [names.index(name) for name in drawn.plan.outside_bots]
    asked, chosen = choose_pairings(parts, places, options.at_once) if places else ([], [])
    counts = dict.fromkeys((names[place] for place in asked), 0)
    if chosen:
        tell(f"playing {2 * len(chosen)} games again, to see whether the bots repeat their moves")
    differing = set[int]()
    for before, after in _replay_pairs(drawn, parts, chosen, options) if chosen else ():
        for row in (0, 1):
            for place in {int(before.first[row]), int(before.second[row])} & {*asked}:
                counts[names[place]] += 1
        differing |= differing_places(drawn.of, before, after) & {*asked}
    return BotReplays(counts, tuple(names[place] for place in sorted(differing)))


def choose_pairings(
    parts: StoredParts, bots: list[int], workers: int
) -> tuple[list[int], list[int]]:
    """Return the bots that chose moves, and pairs to play again, spread over each bot's games.

    The last one of a bot comes first: a bot that keeps state plays another game there.
    """
    asked: dict[int, list[int]] = {bot: [] for bot in bots}
    seconds: dict[int, float] = {}
    total = 0.0
    for start, stop, games in parts():
        taken = (games.first_nanoseconds + games.second_nanoseconds) / 1e9
        total += float(taken.sum())
        for at in range(start, stop):
            row = 2 * (at - start)
            both = {int(games.first[row]), int(games.second[row])} & asked.keys()
            if both and (games.first_moves + games.second_moves)[row : row + 2].all():
                seconds[at] = float(taken[row : row + 2].sum())
                for bot in both:
                    asked[bot].append(at)
    left = LEAST_SECONDS * workers + SHARE * total
    chosen = list[int]()
    for turn in range(MOST_PAIRINGS):
        for of_bot in asked.values():
            spread = list(dict.fromkeys(of_bot[i] for i in (-1, len(of_bot) // 2, 0) if of_bot))
            if turn < len(spread) and spread[turn] not in chosen and seconds[spread[turn]] <= left:
                chosen.append(spread[turn])
                left -= seconds[spread[turn]]
    return [bot for bot in bots if asked[bot]], chosen


def _replay_pairs(
    drawn: DrawnPlan, parts: StoredParts, chosen: list[int], options: PlayOptions
) -> Iterator[tuple[Games, Games]]:
    """Yield the games of pairings as they were and as they are, as long as there is time."""
    stored = {
        at: take_games(games, np.array([2 * (at - start), 2 * (at - start) + 1]))
        for start, stop, games in parts()
        for at in chosen
        if start <= at < stop
    }
    pairings, known = drawn.pairings, CachedPairs(drawn, options.known)
    tasks = [
        Task(at, at + 1, stored_cutoffs(stored[at], [at], at), pairings.blocks_for_task(at, at + 1))
        for at in chosen
    ]
    plan = replace(drawn.plan, thoughts=False)
    until = time.monotonic() + 2 * (LEAST_SECONDS + sum(map(thinking_seconds, stored.values())))
    try:
        workers = GameJob(replace(drawn, plan=plan), options)
        with closing(workers.batches(iterate_items(tasks))) as batches:
            for batch in batches:
                games = decode_games([batch.games], pairings.columns(batch.start, batch.stop))
                known.differing(pairings, games, batch.start)  # else later runs would take them
                yield stored[batch.start], games
                if time.monotonic() > until:
                    return
    except ItemFailed:  # the bots of the rest are not tested
        return


def thinking_seconds(games: Games) -> float:
    """Return the thinking time of all agents."""
    return float((games.first_nanoseconds + games.second_nanoseconds).sum()) / 1e9


def differing_places(of: Game, before: Games, after: Games) -> set[int]:
    """Return the agents, by place, whose moves or faults make two plays of a pairing differ."""
    found = set[int]()
    for row in (0, 1):
        if all(before.columns[name][row] == after.columns[name][row] for name in SAME):
            continue
        both = int(before.first[row]), int(before.second[row])
        seat = differing_seat(of, before, after, row)
        found |= {both[seat]} if seat is not None else {*both}
    return found


def differing_seat(of: Game, before: Games, after: Games, row: int) -> int | None:
    """Return the seat of the first move that differs, or of a fault; None if it is not known."""
    if before.moves is None or after.moves is None:
        return None
    one, other = moves_of_game(before, row), moves_of_game(after, row)
    if (ply := first_difference(one, other)) is not None:
        return seat_to_move(of, one[:ply])
    for games in (before, after):
        if not Termination(int(games.termination[row])).fair:
            return 0 if games.result[row] == LOSS else 1
    return None


def first_difference(one: Sequence[object], other: Sequence[object]) -> int | None:
    """Return the first ply at which two games differ; None if one is a prefix of the other."""
    pairs = zip(one, other, strict=False)
    return next((ply for ply, (was, now) in enumerate(pairs) if was != now), None)


def seat_to_move(of: Game, moves: Sequence[int]) -> int:
    """Return the seat that chooses after these moves from the start."""
    position = of.start()
    for move in moves:
        position = of.play(position, move)
    return position.mover
