"""Finding the matches that have one game an opening, by trial where a user's code plays."""

from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace

import numpy as np

from agents import AgentSpec, users_code, varies
from arena.keeping.journal import Journal
from arena.planning.drawing import DrawnPlan, Matches, draw
from arena.planning.game_blobs import decoded
from arena.planning.openings import first_openings
from arena.planning.pairing_seeds import digest_word
from arena.planning.records import Games, Termination
from arena.planning.tasks import Task
from arena.playing.in_order import in_turn
from arena.playing.workers import PlayOptions, RunFailed, Workers

FIXED = "one_game_an_opening"  # in run.json
OPENINGS, TIMES = 2, 2  # a trial's openings, and how often each is played


def determined(drawn: DrawnPlan, journal: Journal, options: PlayOptions) -> DrawnPlan:
    """The plan with one game an opening in every match that has no other."""
    return draw(drawn.plan, drawn.openings, fixed_matches(drawn, journal, options))


def fixed_matches(drawn: DrawnPlan, journal: Journal, options: PlayOptions) -> Matches:
    """The matches in which an opening always leads to the same game, whatever the seed.

    This is settled once a run; the journal keeps the answer and the trials that led to it.
    """
    stored = journal.fixed()
    if stored is not None:
        return stored
    fixed = _settled(drawn, journal, options)
    journal.keep_fixed(fixed)
    return fixed


def differs(spec: AgentSpec) -> bool:
    """Whether the agent may play the same opening differently."""
    return varies(spec) is not None


def doubtful(spec: AgentSpec) -> bool:
    """Whether it is only said that it does not: a trial can tell."""
    return users_code(spec) is not None


def contradicted(drawn: DrawnPlan) -> list[str]:
    """A line for each match that was said to leave nothing to chance, but was seen to do so."""
    names, specs = drawn.plan.names, drawn.specs
    lines = []
    for a, b in drawn.plan.matches:
        said = not (differs(specs[a]) or differs(specs[b]))
        if said and matters(drawn) and (a, b) not in drawn.pairings.fixed:
            lines.append(
                f"{names[a]} against {names[b]}: deterministic = true is contradicted: one "
                "opening was played in two ways; every game is played"
            )
    return lines


def contradicting(drawn: DrawnPlan, parts: Iterable[Games]) -> Matches:
    """The matches whose openings were thought to lead to one game each, but led to two.

    A trial is of two openings; later ones may be played by several processes, and show more. A
    game that ended by a fault shows nothing: an agent that failed too often is not asked again.
    """
    specs = drawn.specs
    said = frozenset(
        match for match in drawn.pairings.fixed if any(doubtful(specs[place]) for place in match)
    )
    if not said or not matters(drawn):
        return frozenset()
    games_of: dict[tuple[int, int, int], int] = {}
    fallen = set()
    for games in parts:
        names = (games.first, games.second, games.opening, games.game_id)
        played_out = games.termination == Termination.NORMAL
        rows = np.stack([column[played_out].astype(np.int64) for column in names], axis=1)
        for first, second, opening, played in np.unique(rows, axis=0).tolist():
            match = min(first, second), max(first, second)
            if match in said and games_of.setdefault((first, second, opening), played) != played:
                fallen.add(match)
    return frozenset(fallen)


def without_copies(drawn: DrawnPlan, journal: Journal) -> DrawnPlan | None:
    """The plan in which matches whose games contradict it play every game; None if there are none.

    The journal forgets what was played from the first of them on: it is played, or taken from
    what is known.
    """
    pairings = drawn.pairings
    fallen = contradicting(drawn, (games for _, _, games in journal.parts(pairings.columns)))
    if not fallen:
        return None
    blocks = pairings.blocks(0, pairings.total)
    start = next(block.first for block in blocks if (block.a, block.b) in fallen)
    fixed = pairings.fixed - fallen
    journal.forget(start, fixed)
    return draw(drawn.plan, drawn.openings, fixed)


def _settled(drawn: DrawnPlan, journal: Journal, options: PlayOptions) -> Matches:
    specs, matches = drawn.specs, drawn.plan.matches
    steady = [match for match in matches if not any(differs(specs[place]) for place in match)]
    uncertain = tuple(match for match in steady if any(doubtful(specs[place]) for place in match))
    certain = frozenset(steady) - frozenset(uncertain)
    if not uncertain or not matters(drawn):
        return certain
    return certain | tried(trial_plan(drawn, uncertain), journal, options)


def matters(drawn: DrawnPlan) -> bool:
    """Whether it makes a difference: an opening is repeated, or every opening is played."""
    openings, pairs = len(drawn.openings), drawn.plan.pairs
    if drawn.plan.rounds is not None:
        return False  # they give each pair each opening once
    return pairs > openings or (drawn.openings.finite and 1 < openings == pairs)


def trial_plan(drawn: DrawnPlan, matches: tuple[tuple[int, int], ...]) -> DrawnPlan:
    """A small tournament of these matches that plays each opening with several seeds."""
    openings = first_openings(drawn.openings, OPENINGS)
    plan = replace(
        drawn.plan,
        matches=matches,
        pairs=TIMES * len(openings),
        seed=int(digest_word("probe", drawn.plan.seed)) >> 1,
        keep_moves=False,
        stop=None,
        rounds=None,
    )
    return draw(plan, openings)


def tried(trial: DrawnPlan, journal: Journal, options: PlayOptions) -> Matches:
    """The matches of the trial whose games did not depend on the seed."""
    pairings, games_of = trial.pairings, journal.tried()
    tasks = [Task(at, at + 1, {}) for at in range(pairings.total) if at not in games_of]
    try:
        with closing(Workers(trial, options).batches(in_turn(tasks))) as batches:
            for batch in batches:
                games = decoded([batch.games], pairings.columns(batch.start, batch.stop))
                games_of[batch.start] = _games_played(games)
                journal.keep_tried(batch.start, games_of[batch.start])
    except RunFailed:  # the run itself will fail likewise, and name the pairing
        return frozenset()
    different, once = set(games_of.values()), len(trial.openings)
    return frozenset(
        match for match in pairings.matches if sum(each[:2] == match for each in different) == once
    )


def _games_played(games: Games) -> tuple[int, ...]:
    """The two agents of a pairing, its opening, its two games."""
    played = (int(word) for word in np.asarray(games.game_id))
    return int(games.first[0]), int(games.second[0]), int(games.opening[0]), *played
