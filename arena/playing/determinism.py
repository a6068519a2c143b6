"""Find the matches without chance, and test at the end of a run whether bots repeat their moves."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from agents.core import AgentSpec
from agents.registry import randomness_reason, user_code_reason
from arena.planning.games import LOSS, Games, Termination, decode_games, moves_of_game, take_games
from arena.planning.openings.openings import first_openings, position_after
from arena.planning.schedule import Matches, Schedule, make_schedule
from arena.planning.seeds import hash64
from arena.planning.tasks import Task
from arena.playing.cached_pairs import CachedPairs
from arena.playing.executor import ItemFailed, iterate_items
from arena.playing.options import PlayOptions
from arena.playing.referee_loop import cutoffs_of_games
from arena.playing.worker import GameJob
from arena.storage.game_cache import GameCache, agent_fingerprint
from arena.storage.journal import Section
from games import Game
from games.base.progress import Progress, ShowProgress, ignore_progress
from games.base.schema import KeyValues

FIXED = "one_game_an_opening"  # in run.json
TRIAL_OPENINGS, TRIALS = 2, 2  # openings of a trial, and how often each is played
# Pairs of a run from the first to before the second, with their games, in order.
StoredParts = Callable[[], Iterable[tuple[int, int, Games]]]
MAX_PAIRS = 3  # of each bot that are played again
# Time for playing again: seconds, and a share of the thinking time of the run.
LEAST_SECONDS, SHARE = 10.0, 0.1
COMPARED = ("game_id", "result", "margin", "plies", "termination")


def with_deterministic_matches(
    schedule: Schedule, section: Section, options: PlayOptions
) -> Schedule:
    """Return the schedule with the deterministic matches marked."""
    matches = deterministic_matches(schedule, section, options)
    return make_schedule(schedule.plan, schedule.openings, matches)


def deterministic_matches(schedule: Schedule, section: Section, options: PlayOptions) -> Matches:
    """Return the matches in which an opening always leads to the same game, whatever the seed.

    A run decides this once: the section stores the answer and the trial games behind it.
    """
    stored = section.read_fact("fixed")
    if stored is not None:
        return frozenset((a, b) for a, b in stored)
    matches = _find_deterministic(schedule, section, options)
    section.write_fact("fixed", sorted(matches))
    return matches


def _find_deterministic(schedule: Schedule, section: Section, options: PlayOptions) -> Matches:
    claimed = [match for match in schedule.plan.matches if _has_claim(schedule.specs, match)]
    # Trial games can refute the claims of users, not those of built-in agents.
    uncertain = tuple(match for match in claimed if _has_user_code(schedule.specs, match))
    certain = frozenset(claimed) - frozenset(uncertain)
    if not uncertain or not plays_duplicates(schedule):
        return certain
    return certain | play_trial_games(trial_schedule(schedule, uncertain), section, options)


def _has_claim(specs: Sequence[AgentSpec], match: tuple[int, int]) -> bool:
    """Return whether both agents are known, or declared, to play without chance."""
    return all(randomness_reason(specs[place]) is None for place in match)


def _has_user_code(specs: Sequence[AgentSpec], match: tuple[int, int]) -> bool:
    return any(user_code_reason(specs[place]) is not None for place in match)


def plays_duplicates(schedule: Schedule) -> bool:
    """Return whether deterministic matches matter: openings repeat, or all are played."""
    openings, pairs = len(schedule.openings), schedule.plan.pairs
    if schedule.plan.rounds is not None:
        return False  # two agents play each opening once
    return pairs > openings or (schedule.openings.finite and 1 < openings == pairs)


def trial_schedule(schedule: Schedule, matches: tuple[tuple[int, int], ...]) -> Schedule:
    """Return a small schedule that plays two openings of these matches with several seeds."""
    openings = first_openings(schedule.openings, TRIAL_OPENINGS)
    plan = replace(
        schedule.plan,
        matches=matches,
        pairs=TRIALS * len(openings),
        seed=int(hash64("probe", schedule.plan.seed)) >> 1,
        keep_moves=False,
        stop=None,
        rounds=None,
    )
    return make_schedule(plan, openings)


def play_trial_games(trial: Schedule, section: Section, options: PlayOptions) -> Matches:
    """Return the matches of the trial whose games did not depend on the seed."""
    pairs = trial.pairs
    stored = section.read_fact("tried") or {}
    games_of = {int(pair): tuple(games) for pair, games in stored.items()}
    tasks = [Task(at, at + 1, {}) for at in range(pairs.total) if at not in games_of]
    try:
        with closing(GameJob(trial, options).batches(iterate_items(tasks))) as batches:
            for batch in batches:
                games = decode_games([batch.blob], pairs.columns(batch.start, batch.stop))
                match = int(games.first[0]), int(games.second[0])
                ids = map(int, games.game_id)
                games_of[batch.start] = *match, int(games.opening[0]), *ids
                section.write_fact("tried", games_of)
    except ItemFailed:  # the run itself will fail likewise, and name the pair
        return frozenset()
    different, once = set(games_of.values()), len(trial.openings)
    return frozenset(
        match for match in pairs.matches if sum(each[:2] == match for each in different) == once
    )


def contradiction_lines(schedule: Schedule) -> list[str]:
    """Return a line for each match that was declared deterministic but played differently."""
    if not plays_duplicates(schedule):
        return []
    names = schedule.plan.names
    return [
        f"{names[a]} against {names[b]}: deterministic = true is contradicted: one opening was "
        "played in two ways; every game is played"
        for a, b in schedule.plan.matches
        if _has_claim(schedule.specs, (a, b)) and (a, b) not in schedule.pairs.deterministic
    ]


def find_contradictions(schedule: Schedule, parts: Iterable[Games]) -> Matches:
    """Return the matches that are marked deterministic but played an opening in two ways.

    Trial games cover two openings; games of several processes may show more. Games that ended by
    a fault are ignored: a disqualified agent does not play.
    """
    marked = schedule.pairs.deterministic
    uncertain = frozenset(match for match in marked if _has_user_code(schedule.specs, match))
    if not uncertain or not plays_duplicates(schedule):
        return frozenset()
    games_of: dict[tuple[int, int, int], int] = {}
    contradicted = set()
    for games in parts:
        columns = (games.first, games.second, games.opening, games.game_id)
        normal = games.termination == Termination.NORMAL
        rows = np.stack([column[normal].astype(np.int64) for column in columns], axis=1)
        for first, second, opening, game in np.unique(rows, axis=0).tolist():
            match = min(first, second), max(first, second)
            if match in uncertain and games_of.setdefault((first, second, opening), game) != game:
                contradicted.add(match)
    return frozenset(contradicted)


def remove_contradictions(schedule: Schedule, section: Section) -> Schedule | None:
    """Return the schedule without the marks that games contradict; None if there are none.

    The section forgets the games from the first contradicted match on: they are played again,
    or taken from the game cache.
    """
    pairs = schedule.pairs
    contradicted = find_contradictions(
        schedule, (games for _, _, games in section.games(pairs.columns))
    )
    if not contradicted:
        return None
    blocks = pairs.blocks(0, pairs.total)
    start = next(block.first for block in blocks if (block.a, block.b) in contradicted)
    matches = pairs.deterministic - contradicted
    section.forget(start, "fixed", sorted(matches))
    return make_schedule(schedule.plan, schedule.openings, matches)


class BotReplays(NamedTuple):
    """Games of each external bot that were played again, and the bots that differed."""

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


class ReplaysOver(Exception):  # noqa: N818  # an event, not an error of the code
    """The time for playing games again is over."""


def replay_bots(
    schedule: Schedule,
    parts: StoredParts,
    options: PlayOptions,
    notify: Callable[[str], object],
    show: ShowProgress = ignore_progress,
) -> BotReplays:
    """Play a few games of each external bot again and compare them.

    Bots that never chose a move cannot be tested.
    """
    names = schedule.plan.names
    known = known_replays(schedule, options.cache)
    counts = dict.fromkeys(schedule.plan.external_bots, 0)
    counts |= {name: games for name, (games, _) in known.items()}
    places = [names.index(name) for name in schedule.plan.external_bots if name not in known]
    bots, chosen = choose_pairs(parts, places, options.items_at_once) if places else ([], [])
    if chosen:
        notify(f"playing {2 * len(chosen)} games again, to see whether the bots repeat their moves")
    differing = set[int]()
    for before, after in _replay_pairs(schedule, parts, chosen, options, show) if chosen else ():
        for row in (0, 1):
            for place in {int(before.first[row]), int(before.second[row])} & {*bots}:
                counts[names[place]] += 1
        differing |= differing_places(schedule.game, before, after) & {*bots}
    differing |= {names.index(name) for name, (_, differs) in known.items() if differs}
    found = BotReplays(counts, tuple(names[place] for place in sorted(differing)))
    store_replays(schedule, options.cache, found)
    return found


def known_replays(schedule: Schedule, cache: GameCache | None) -> Mapping[str, tuple[int, bool]]:
    """Return for bots in a cache for all agents how many games repeated, and whether any differed.

    The games of such a cache are those that were tested.
    """
    if cache is None or not cache.all_agents:
        return {}
    facts = {name: cache.read_fact(_replay_fact(schedule, name))
             for name in schedule.plan.external_bots}  # fmt: skip
    return {name: tuple(json.loads(fact)) for name, fact in facts.items() if fact is not None}


def store_replays(schedule: Schedule, cache: GameCache | None, found: BotReplays) -> None:
    """Store which bots repeat their games, in a cache for all agents."""
    if cache is not None and cache.all_agents:
        for name, games in found.games.items():
            if games:
                fact = json.dumps([games, name in found.differing])
                cache.write_fact(_replay_fact(schedule, name), fact)


def _replay_fact(schedule: Schedule, name: str) -> str:
    return f"repeats {schedule.game.name} {agent_fingerprint(schedule.plan.agents[name])}"


def choose_pairs(parts: StoredParts, bots: list[int], workers: int) -> tuple[list[int], list[int]]:
    """Return the bots that chose moves, and pairs to play again, spread over each bot's games.

    The last pair of a bot comes first: a bot that keeps state plays another game there.
    """
    pairs_of: dict[int, list[int]] = {bot: [] for bot in bots}
    seconds: dict[int, float] = {}
    total = 0.0
    for start, stop, games in parts():
        taken = (games.first_nanoseconds + games.second_nanoseconds) / 1e9
        total += float(taken.sum())
        for at in range(start, stop):
            row = 2 * (at - start)
            involved = {int(games.first[row]), int(games.second[row])} & pairs_of.keys()
            if involved and (games.first_moves + games.second_moves)[row : row + 2].all():
                seconds[at] = float(taken[row : row + 2].sum())
                for bot in involved:
                    pairs_of[bot].append(at)
    left = LEAST_SECONDS * workers + SHARE * total
    chosen = list[int]()
    for turn in range(MAX_PAIRS):
        for pairs in pairs_of.values():
            spread = list(dict.fromkeys(pairs[i] for i in (-1, len(pairs) // 2, 0) if pairs))
            if turn < len(spread) and spread[turn] not in chosen and seconds[spread[turn]] <= left:
                chosen.append(spread[turn])
                left -= seconds[spread[turn]]
    return [bot for bot in bots if pairs_of[bot]], chosen


def _replay_pairs(
    schedule: Schedule,
    parts: StoredParts,
    chosen: list[int],
    options: PlayOptions,
    show: ShowProgress,
) -> Iterator[tuple[Games, Games]]:
    """Yield the stored games of pairs and the new ones, as long as there is time."""
    stored, thinking, done = dict[int, Games](), 0.0, 0
    for start, stop, games in parts():
        thinking += float((games.first_nanoseconds + games.second_nanoseconds).sum()) / 1e9
        for at in chosen:
            if start <= at < stop:
                rows = np.array([2 * (at - start), 2 * (at - start) + 1])
                stored[at] = take_games(games, rows)
    pairs, cached = schedule.pairs, CachedPairs(schedule, options.cache)
    tasks = [
        Task(at, at + 1, cutoffs_of_games(stored[at], [at], at), pairs.blocks_for_task(at, at + 1))
        for at in chosen
    ]
    plan = replace(schedule.plan, keep_search_info=False)
    until = time.monotonic() + LEAST_SECONDS + SHARE * thinking / options.items_at_once

    def wait() -> None:
        if time.monotonic() > until:
            raise ReplaysOver
        show(Progress(f"{done} of {2 * len(chosen)} games played again", done, 2 * len(chosen)))

    try:
        job = GameJob(replace(schedule, plan=plan), options)
        job.on_wait, job.show = wait, show
        with closing(job.batches(iterate_items(tasks))) as batches:
            for batch in batches:
                games = decode_games([batch.blob], pairs.columns(batch.start, batch.stop))
                # Otherwise later runs would take games that the bot does not repeat.
                cached.forget_if_different(pairs, games, batch.start)
                done += len(games)
                yield stored[batch.start], games
    except (ItemFailed, ReplaysOver):  # the other bots are not tested
        return


def differing_places(game: Game, before: Games, after: Games) -> set[int]:
    """Return the agents, by place, whose moves or faults make two plays of a pair differ."""
    found = set[int]()
    for row in (0, 1):
        if all(before.columns[name][row] == after.columns[name][row] for name in COMPARED):
            continue
        places = int(before.first[row]), int(before.second[row])
        seat = differing_seat(game, before, after, row)
        found |= {places[seat]} if seat is not None else {*places}
    return found


def differing_seat(game: Game, before: Games, after: Games, row: int) -> int | None:
    """Return the seat of the first move that differs, or of a fault; None if it is not known."""
    if before.moves is None or after.moves is None:
        return None
    one, other = moves_of_game(before, row), moves_of_game(after, row)
    if (ply := first_difference(one, other)) is not None:
        return seat_to_move(game, one[:ply])
    for games in (before, after):
        if not Termination(int(games.termination[row])).is_fair:
            return 0 if games.result[row] == LOSS else 1
    return None


def first_difference(one: Sequence[object], other: Sequence[object]) -> int | None:
    """Return the first ply at which two games differ; None if one is a prefix of the other."""
    pairs = zip(one, other, strict=False)
    return next((ply for ply, (was, now) in enumerate(pairs) if was != now), None)


def seat_to_move(game: Game, moves: Sequence[int]) -> int:
    """Return the seat that moves after these moves from the start."""
    return position_after(game, moves).mover
