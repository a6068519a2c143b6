"""Whether bots load: each is started before any game counts, and once more if that fails."""

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial

from agents import AgentFailure, AgentSpec, users_code
from agents.bot_options import START_SECONDS
from agents.wall.bot_terms import Terms
from agents.wall.wall import Wall
from arena.keeping.journal import Journal
from arena.planning.drawing import DrawnPlan
from arena.planning.time_controls import with_own_seconds
from arena.playing.dry_run import try_out
from arena.playing.fault_rule import UselessBots
from arena.playing.referee import bounded
from arena.playing.regular_lines import regular_lines
from arena.playing.workers import PlayOptions
from games import Game

log = logging.getLogger(__name__)


def unloadable(
    drawn: DrawnPlan,
    journal: Journal,
    options: PlayOptions,
    tell: Callable[[str], object] = log.info,
) -> dict[int, str]:
    """Why agents do not load, by their places; this is settled once a run.

    UselessBots if the plan does not go on without them.
    """
    stored = journal.unloadable()
    if stored is None:
        stored = load_problems(drawn, options, tell)
        if stored and drawn.plan.unloadable_stops:
            raise UselessBots({drawn.plan.names[place]: stored[place] for place in stored})
        journal.keep_unloadable(stored)
    return stored


def load_problems(
    drawn: DrawnPlan, options: PlayOptions, tell: Callable[[str], object]
) -> dict[int, str]:
    """Start every agent that runs a user's code; `tell` gets a line every few seconds."""
    reasons: dict[str, str] = {}
    bots = [name for name, spec in drawn.plan.agents.items() if users_code(spec)]
    begun: list[str] = []
    wall = options.wall or Wall(drawn.plan.walls_required)
    wall.required |= drawn.plan.walls_required
    try:
        with regular_lines(lambda: starting_text(begun, len(bots)), tell):
            for name in bots:
                begun.append(name)
                spec = drawn.plan.agents[name]
                if str(spec) not in reasons:
                    terms = with_own_seconds(Terms(wall), drawn.plan, spec)
                    asked = partial(why_not, spec, drawn.of, terms, drawn.plan.must_survive)
                    reasons[str(spec)] = wall.despite_losses(asked)
    finally:
        if options.wall is None:
            wall.close()
    found = {place: reasons.get(str(spec), "") for place, spec in enumerate(drawn.specs)}
    return {place: reason for place, reason in found.items() if reason}


def starting_text(begun: Sequence[str], total: int) -> str:
    """Which bot is being started."""
    return f"starting bots: {begun[-1]} ({len(begun)} of {total})" if begun else "starting bots"


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
