"""Find the bots that do not load, and the matches that are deterministic."""

import contextlib
import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from agents.checkup import failed_positions
from agents.core import Agent, AgentFailure, AgentSpec, HostSettings, Limit, SpecError
from agents.create import create_agent
from agents.options import START_SECONDS
from agents.registry import users_code, varies
from agents.sandbox.protocol_agent import accepts_any_position
from agents.sandbox.sandbox import Sandbox
from arena.planning.games import Games, Termination, decode_games
from arena.planning.openings.openings import first_openings
from arena.planning.plan import Plan
from arena.planning.schedule import DrawnPlan, Matches, make_schedule
from arena.planning.seeds import hash64
from arena.planning.tasks import Task
from arena.playing.clock import with_own_seconds
from arena.playing.executor import ItemFailed, iterate_items
from arena.playing.forfeits import UselessBots
from arena.playing.options import PlayOptions
from arena.playing.referee import truncate_message
from arena.playing.worker import GameJob
from arena.storage.journal import Section
from games import Game
from games.base.progress import Progress, ShowProgress, ignore_progress, watch

FIXED = "one_game_an_opening"  # in run.json
OPENINGS, TIMES = 2, 2  # a trial's openings, and how often each is played
log = logging.getLogger(__name__)


class BotProbe(NamedTuple):
    """A bot's answer to the first position: its move, or why there is none."""

    name: str
    move: str
    seconds: float  # of thought
    fault: str = ""
    loads: bool = True
    start_seconds: float = 0.0  # to start it and, where that is needed, to compile it
    move_seconds: float = 0.0  # of the same question in a second game, when all is loaded


def probe_bots(plan: Plan, wall: Sandbox) -> Iterator[BotProbe]:
    """Yield the answer of each agent that runs a user's code; identical agents answer once."""
    known = dict[str, BotProbe]()
    for name, spec in plan.agents.items():
        if users_code(spec):
            if str(spec) not in known:
                terms = with_own_seconds(HostSettings(wall), plan, spec)
                known[str(spec)] = probe_bot(name, spec, plan.of, terms)
            yield known[str(spec)]._replace(name=name)


def probe_bot(name: str, spec: AgentSpec, of: Game, terms: HostSettings) -> BotProbe:
    """Start an agent and ask it for its first move."""
    loads, begun, start_seconds = False, time.monotonic(), 0.0
    agent = None
    try:
        agent = create_agent(spec, of, terms)
        agent.start(0)
        loads, start_seconds = True, time.monotonic() - begun
        begun = time.monotonic()
        choice = agent.choose(of.start())
        seconds = time.monotonic() - begun
        move = of.move_text(of.start(), choice.move)
        again = seconds_again(agent, of, seconds)
        return BotProbe(name, move, seconds, start_seconds=start_seconds, move_seconds=again)
    except (AgentFailure, SpecError) as failure:
        loads &= getattr(failure, "kind", "") != "unloadable"
        fault, seconds = truncate_message(str(failure)), time.monotonic() - begun
        return BotProbe(name, "", seconds, fault, loads, start_seconds)
    finally:
        if agent is not None and hasattr(agent, "close"):
            agent.close()


def seconds_again(agent: Agent, of: Game, first: float) -> float:
    """Return the time of the first move in a second game; of the first game if the bot fails."""
    try:
        agent.start(1)
        begun = time.monotonic()
        agent.choose(of.start())
        return time.monotonic() - begun
    except AgentFailure:
        return first


def with_deterministic_matches(
    drawn: DrawnPlan, section: Section, options: PlayOptions
) -> DrawnPlan:
    """Return the schedule with the deterministic matches marked."""
    return make_schedule(drawn.plan, drawn.openings, deterministic_matches(drawn, section, options))


def deterministic_matches(drawn: DrawnPlan, section: Section, options: PlayOptions) -> Matches:
    """Return the matches in which an opening always leads to the same game, whatever the seed.

    A run decides this once: the section stores the answer and the trial games behind it.
    """
    stored = section.read_fact("fixed")
    if stored is not None:
        return frozenset((a, b) for a, b in stored)
    fixed = _find_deterministic(drawn, section, options)
    section.write_fact("fixed", sorted(fixed))
    return fixed


def differs(spec: AgentSpec) -> bool:
    """Return whether the agent may play the same opening differently."""
    return varies(spec) is not None


def doubtful(spec: AgentSpec) -> bool:
    """Return whether a user declares the agent deterministic, so that trial games can refute it."""
    return users_code(spec) is not None


def contradiction_lines(drawn: DrawnPlan) -> list[str]:
    """Return a line for each match that was declared deterministic but played differently."""
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


def find_contradictions(drawn: DrawnPlan, parts: Iterable[Games]) -> Matches:
    """Return the matches that are marked deterministic but played an opening in two ways.

    Trial games cover two openings; games of several processes may show more. Games that ended by
    a fault are ignored: a disqualified agent does not play.
    """
    specs = drawn.specs
    said = frozenset(
        match for match in drawn.pairings.fixed if any(doubtful(specs[place]) for place in match)
    )
    if not said or not matters(drawn):
        return frozenset()
    games_of: dict[tuple[int, int, int], int] = {}
    contradicted = set()
    for games in parts:
        names = (games.first, games.second, games.opening, games.game_id)
        played_out = games.termination == Termination.NORMAL
        rows = np.stack([column[played_out].astype(np.int64) for column in names], axis=1)
        for first, second, opening, played in np.unique(rows, axis=0).tolist():
            match = min(first, second), max(first, second)
            if match in said and games_of.setdefault((first, second, opening), played) != played:
                contradicted.add(match)
    return frozenset(contradicted)


def without_copies(drawn: DrawnPlan, section: Section) -> DrawnPlan | None:
    """Return the schedule without the marks that games contradict; None if there are none.

    The section forgets the games from the first contradicted match on: they are played again,
    or taken from the game cache.
    """
    pairings = drawn.pairings
    contradicted = find_contradictions(
        drawn, (games for _, _, games in section.games(pairings.columns))
    )
    if not contradicted:
        return None
    blocks = pairings.blocks(0, pairings.total)
    start = next(block.first for block in blocks if (block.a, block.b) in contradicted)
    fixed = pairings.fixed - contradicted
    section.forget(start, "fixed", sorted(fixed))
    return make_schedule(drawn.plan, drawn.openings, fixed)


def _find_deterministic(drawn: DrawnPlan, section: Section, options: PlayOptions) -> Matches:
    specs, matches = drawn.specs, drawn.plan.matches
    steady = [match for match in matches if not any(differs(specs[place]) for place in match)]
    uncertain = tuple(match for match in steady if any(doubtful(specs[place]) for place in match))
    certain = frozenset(steady) - frozenset(uncertain)
    if not uncertain or not matters(drawn):
        return certain
    return certain | play_trial_games(trial_plan(drawn, uncertain), section, options)


def matters(drawn: DrawnPlan) -> bool:
    """Return whether deterministic matches matter: openings repeat, or all are played."""
    openings, pairs = len(drawn.openings), drawn.plan.pairs
    if drawn.plan.rounds is not None:
        return False  # they give each pair each opening once
    return pairs > openings or (drawn.openings.finite and 1 < openings == pairs)


def trial_plan(drawn: DrawnPlan, matches: tuple[tuple[int, int], ...]) -> DrawnPlan:
    """Return a small schedule that plays two openings of these matches with several seeds."""
    openings = first_openings(drawn.openings, OPENINGS)
    plan = replace(
        drawn.plan,
        matches=matches,
        pairs=TIMES * len(openings),
        seed=int(hash64("probe", drawn.plan.seed)) >> 1,
        keep_moves=False,
        stop=None,
        rounds=None,
    )
    return make_schedule(plan, openings)


def play_trial_games(trial: DrawnPlan, section: Section, options: PlayOptions) -> Matches:
    """Return the matches of the trial whose games did not depend on the seed."""
    pairings = trial.pairings
    games_of = {int(at): tuple(seen) for at, seen in (section.read_fact("tried") or {}).items()}
    tasks = [Task(at, at + 1, {}) for at in range(pairings.total) if at not in games_of]
    try:
        with closing(GameJob(trial, options).batches(iterate_items(tasks))) as batches:
            for batch in batches:
                games = decode_games([batch.games], pairings.columns(batch.start, batch.stop))
                games_of[batch.start] = _games_played(games)
                section.write_fact("tried", games_of)
    except ItemFailed:  # the run itself will fail likewise, and name the pairing
        return frozenset()
    different, once = set(games_of.values()), len(trial.openings)
    return frozenset(
        match for match in pairings.matches if sum(each[:2] == match for each in different) == once
    )


def _games_played(games: Games) -> tuple[int, ...]:
    """Return the two agents of a pair, its opening, its two games."""
    played = (int(word) for word in np.asarray(games.game_id))
    return int(games.first[0]), int(games.second[0]), int(games.opening[0]), *played


def try_users(drawn: DrawnPlan, terms: HostSettings) -> None:
    """Start every agent that runs a user's code; AgentFailure or SpecError names one that fails."""
    tried: list[AgentSpec] = []
    for spec in drawn.specs:
        if users_code(spec) and spec not in tried:
            try_out(spec, drawn.of, with_own_seconds(terms, drawn.plan, spec))
            tried.append(spec)


def try_out(
    spec: AgentSpec, of: Game, terms: HostSettings, positions: Sequence[str] = ()
) -> str | None:
    """Start an agent and a game; AgentFailure or SpecError if that fails.

    Returns the position that it does not survive, if any, and how it fails there. A bot that
    follows a game move by move is not tried on positions.
    """
    agent = create_agent(spec, of, terms)
    try:
        agent.start(0)
        hard = [of.parse(each) for each in positions] if accepts_any_position(agent) else []
        if found := next(failed_positions(agent, of, hard, 0), None):
            return f"{found[1]}\nthe position: {of.text(found[0])}"
        if "evaluate" in spec.options:
            with contextlib.suppress(AgentFailure):  # in a game this is a forfeit
                agent.choose(of.start(), Limit(depth=1))
        return None
    finally:
        if hasattr(agent, "close"):
            agent.close()


def unloadable(
    drawn: DrawnPlan,
    section: Section,
    options: PlayOptions,
    show: ShowProgress = ignore_progress,
) -> dict[int, str]:
    """Return why agents do not load, by place; a run decides this once.

    UselessBots if the plan stops because of them.
    """
    if section.read_fact("unloadable") is None:
        found = load_problems(drawn, options, show)
        if found and drawn.plan.unloadable_stops:
            raise UselessBots({drawn.plan.names[place]: found[place] for place in found})
        section.write_fact("unloadable", sorted(found.items()))
    return load_reasons(section)


def load_reasons(section: Section) -> dict[int, str]:
    """Return why agents of a run do not load, by place."""
    return dict(section.read_fact("unloadable") or ())


def load_problems(drawn: DrawnPlan, options: PlayOptions, show: ShowProgress) -> dict[int, str]:
    """Start every agent that runs a user's code; return why agents do not load, by place."""
    reasons: dict[str, str] = {}
    bots = [name for name, spec in drawn.plan.agents.items() if users_code(spec)]
    begun: list[str] = []
    wall = options.wall or Sandbox(drawn.plan.walls_required)
    wall.required |= drawn.plan.walls_required
    try:
        with watch(show, lambda: starting_progress(begun, len(bots))):
            for name in bots:
                begun.append(name)
                spec = drawn.plan.agents[name]
                if str(spec) not in reasons:
                    terms = with_own_seconds(HostSettings(wall), drawn.plan, spec)
                    asked = partial(load_problem, spec, drawn.of, terms, drawn.plan.must_survive)
                    reasons[str(spec)] = wall.with_restarts(asked)
    finally:
        if options.wall is None:
            wall.close()
    found = {place: reasons.get(str(spec), "") for place, spec in enumerate(drawn.specs)}
    return {place: reason for place, reason in found.items() if reason}


def starting_progress(begun: Sequence[str], total: int) -> Progress:
    """Return which bot is being started."""
    text = f"starting bots: {begun[-1]} ({len(begun)} of {total})" if begun else "starting bots"
    return Progress(text, len(begun), total)


def load_problem(
    spec: AgentSpec, of: Game, terms: HostSettings, positions: Sequence[str] = ()
) -> str:
    """Return why an agent does not load, or the position that it does not survive; else "".

    A bot that fails early is tried twice: something else may have ended it.
    """
    for seconds in (spec.options.get("start_seconds", START_SECONDS), 0.0):
        begun = time.monotonic()
        try:
            how = try_out(spec, of, terms, positions)
            return (
                truncate_message(f"does not survive a position that it must: {how}") if how else ""
            )
        except AgentFailure as failure:
            reason = failure
        if time.monotonic() - begun > seconds:
            break
    return truncate_message(f"does not load: {reason}")
