"""Whether bots load: each is started before any game counts, and once more if that fails."""

import time
from collections.abc import Sequence
from functools import partial

from agents import AgentFailure, AgentSpec, users_code
from agents.bot_options import START_SECONDS
from agents.wall.bot_terms import Terms
from agents.wall.wall import Wall
from arena.keeping.journal import Journal
from arena.planning.drawing import DrawnPlan
from arena.playing.dry_run import try_out
from arena.playing.referee import bounded
from arena.playing.workers import PlayOptions
from games import Game
from games.terminal import Mistake


def unloadable(drawn: DrawnPlan, journal: Journal, options: PlayOptions) -> dict[int, str]:
    """Why agents do not load, by their places; this is settled once a run.

    UnloadableAgents if the plan says that they stop the others.
    """
    stored = journal.unloadable()
    if stored is None:
        stored = tried(drawn, options)
        journal.keep_unloadable(stored)
    return stored


def tried(drawn: DrawnPlan, options: PlayOptions) -> dict[int, str]:
    """Start every agent that runs a user's code."""
    reasons: dict[str, str] = {}
    wall = options.wall or Wall(drawn.plan.walls_required)
    wall.required |= drawn.plan.walls_required
    terms = Terms(wall, drawn.plan.move_seconds)
    try:
        for spec in drawn.specs:
            if users_code(spec) and str(spec) not in reasons:
                asked = partial(why_not, spec, drawn.of, terms, drawn.plan.must_survive)
                reasons[str(spec)] = wall.despite_losses(asked)
    finally:
        if options.wall is None:
            wall.close()
    if drawn.plan.unloadable_stops and (whys := [why for why in reasons.values() if why]):
        raise UnloadableAgents("\n".join(whys))
    found = {place: reasons.get(str(spec), "") for place, spec in enumerate(drawn.specs)}
    return {place: reason for place, reason in found.items() if reason}


class UnloadableAgents(Mistake):
    """Agents that do not load, some lines for each, where the plan says that they stop a run."""

    several_lines = True


def why_not(spec: AgentSpec, of: Game, terms: Terms, positions: Sequence[str] = ()) -> str:
    """Why an agent does not load, or which position it does not survive; empty if it does.

    One that does not use up its time is tried twice: something else may have ended it.
    """
    for seconds in (spec.options.get("start_seconds", START_SECONDS), 0.0):
        begun = time.monotonic()
        try:
            how = try_out(spec, of, terms, positions)
            return bounded(f"does not survive a position that it must: {how}") if how else ""
        except AgentFailure as failure:
            reason = failure
        if time.monotonic() - begun > seconds:
            break
    return bounded(f"does not load: {reason}")
