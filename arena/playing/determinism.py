"""Which matches give one game an opening: known of agents of ours, tried out with users' code."""

from contextlib import closing

import numpy as np

from arena.keeping.game_blobs import decoded
from arena.keeping.journal import Journal
from arena.planning.pairing_seeds import digest_word
from arena.planning.pairings import Pairings
from arena.planning.plan import varies
from arena.planning.records import Games
from arena.playing.interrupts import Interrupts
from arena.playing.referee_loop import has_own_code
from arena.playing.tournament import Prepared, RunFailed, batches, get_ready
from arena.playing.workers import Task

Matches = frozenset[tuple[int, int]]

FIXED = "one_game_an_opening"  # in run.json
OPENINGS, TIMES = 2, 2  # what is tried: few openings, each with as many seeds


def fixed_matches(ready: Prepared, store: Journal, workers: int, interrupts: Interrupts) -> Matches:
    """The matches in which every opening has its one game, whatever the seed.

    It is found out once a run: `store` keeps the answer, and what has been tried so far.
    """
    kept = store.fixed()
    if kept is not None:
        return kept
    found = _found(ready, store, workers, interrupts)
    store.keep_fixed(found)
    return found


def _found(ready: Prepared, store: Journal, workers: int, interrupts: Interrupts) -> Matches:
    specs, matches = ready.job.specs, ready.schedule.matches
    steady = [match for match in matches if not any(varies(specs[place]) for place in match)]
    doubtful = [match for match in steady if any(has_own_code(specs[place]) for place in match)]
    known = frozenset(steady) - frozenset(doubtful)
    if not doubtful or not matters(ready):
        return known
    return known | tried(ready, tuple(doubtful), store, workers, interrupts)


def matters(ready: Prepared) -> bool:
    """Whether openings are played again, or all there are are played: else nobody asks."""
    openings, pairs = len(ready.openings), ready.schedule.pairs
    return pairs > openings or (ready.openings.finite and 1 < openings == pairs)


def tried(
    ready: Prepared,
    matches: tuple[tuple[int, int], ...],
    store: Journal,
    workers: int,
    interrupts: Interrupts,
) -> Matches:
    """Those of the matches whose games on some openings did not depend on the seed."""
    schedule = trial_schedule(ready.schedule, matches)
    trial = ready._replace(
        schedule=schedule, job=ready.job._replace(schedule=schedule, keep_moves=False)
    )
    seen = store.tried()
    tasks = [Task(at, at + 1, {}) for at in range(schedule.total) if at not in seen]
    get_ready(trial)
    try:
        with closing(batches(trial, tasks, workers, interrupts)) as played:
            for batch in played:
                games = decoded([batch.games], schedule.columns(batch.start, batch.stop))
                seen[batch.start] = _seen(games)
                store.keep_tried(batch.start, seen[batch.start])
    except RunFailed:  # the run itself will say so, and which pairing it was
        return frozenset()
    different, once = set(seen.values()), len(schedule.keys)
    return frozenset(
        match for match in matches if sum(each[:2] == match for each in different) == once
    )


def trial_schedule(schedule: Pairings, matches: tuple[tuple[int, int], ...]) -> Pairings:
    """A small tournament of these matches in which every opening is played with several seeds."""
    keys = schedule.keys[:OPENINGS]
    return schedule._replace(
        matches=matches,
        pairs=TIMES * len(keys),
        keys=keys,
        seed=int(digest_word("probe", schedule.seed)) >> 1,
        fixed=frozenset(),
    )


def with_fixed(ready: Prepared, fixed: Matches) -> Prepared:
    """The same run, with repeats taken from the first where there is nothing new to come."""
    schedule = ready.schedule._replace(fixed=fixed)
    return ready._replace(schedule=schedule, job=ready.job._replace(schedule=schedule))


def _seen(games: Games) -> tuple[int, ...]:
    """The agents of one pairing, its opening, and its two games."""
    played = (int(word) for word in np.asarray(games.game_id))
    return int(games.first[0]), int(games.second[0]), int(games.opening[0]), *played
