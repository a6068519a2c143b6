"""Which matches give one game an opening: known of agents of ours, tried out with users' code."""

from contextlib import closing
from dataclasses import replace

import numpy as np

from agents import AgentSpec, outside, users_code, varies
from arena.keeping.game_blobs import decoded
from arena.keeping.journal import Journal
from arena.planning.drawing import DrawnPlan, Matches, draw
from arena.planning.openings import first_openings
from arena.planning.pairing_seeds import digest_word
from arena.planning.records import Games
from arena.planning.tasks import Task
from arena.playing.in_order import in_turn
from arena.playing.workers import PlayOptions, RunFailed, Workers

FIXED = "one_game_an_opening"  # in run.json
OPENINGS, TIMES = 2, 2  # what is tried: few openings, each with as many seeds


def fixed_matches(drawn: DrawnPlan, journal: Journal, options: PlayOptions) -> Matches:
    """The matches in which every opening has its one game, whatever the seed.

    This is found out once a run; the journal keeps the answer and what was tried on the way.
    """
    stored = journal.fixed()
    if stored is not None:
        return stored
    fixed = _found_out(drawn, journal, options)
    journal.keep_fixed(fixed)
    return fixed


def differs(spec: AgentSpec) -> bool:
    """Whether the agent surely plays one opening in several ways."""
    return varies(spec) is not None and not outside(spec)


def doubtful(spec: AgentSpec) -> bool:
    """Whether only playing tells if it does."""
    return outside(spec) or users_code(spec) is not None


def _found_out(drawn: DrawnPlan, journal: Journal, options: PlayOptions) -> Matches:
    specs, matches = drawn.specs, drawn.plan.matches
    steady = [match for match in matches if not any(differs(specs[place]) for place in match)]
    asked = tuple(match for match in steady if any(doubtful(specs[place]) for place in match))
    known = frozenset(steady) - frozenset(asked)
    if not asked or not matters(drawn):
        return known
    return known | tried(trial_plan(drawn, asked), journal, options)


def matters(drawn: DrawnPlan) -> bool:
    """Whether openings are played again, or all there are are played: else nobody asks."""
    openings, pairs = len(drawn.openings), drawn.plan.pairs
    return pairs > openings or (drawn.openings.finite and 1 < openings == pairs)


def trial_plan(drawn: DrawnPlan, matches: tuple[tuple[int, int], ...]) -> DrawnPlan:
    """A small tournament of these matches in which every opening is played with several seeds."""
    openings = first_openings(drawn.openings, OPENINGS)
    plan = replace(
        drawn.plan,
        matches=matches,
        pairs=TIMES * len(openings),
        seed=int(digest_word("probe", drawn.plan.seed)) >> 1,
        keep_moves=False,
        stop=None,
    )
    return draw(plan, openings)


def tried(trial: DrawnPlan, journal: Journal, options: PlayOptions) -> Matches:
    """Those of the trial's matches whose games did not depend on the seed."""
    pairings, seen = trial.pairings, journal.tried()
    tasks = [Task(at, at + 1, {}) for at in range(pairings.total) if at not in seen]
    try:
        with closing(Workers(trial, options).batches(in_turn(tasks))) as batches:
            for batch in batches:
                games = decoded([batch.games], pairings.columns(batch.start, batch.stop))
                seen[batch.start] = _seen(games)
                journal.keep_tried(batch.start, seen[batch.start])
    except RunFailed:  # the run itself will say so, and which pairing it was
        return frozenset()
    different, once = set(seen.values()), len(trial.openings)
    return frozenset(
        match for match in pairings.matches if sum(each[:2] == match for each in different) == once
    )


def _seen(games: Games) -> tuple[int, ...]:
    """The agents of one pairing, its opening, and its two games."""
    played = (int(word) for word in np.asarray(games.game_id))
    return int(games.first[0]), int(games.second[0]), int(games.opening[0]), *played
