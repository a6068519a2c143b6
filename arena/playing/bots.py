"""Start bots before a run: which of them load, and what they answer first."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from agents.check import position_failures
from agents.core import Agent, AgentFailure, AgentSpec, HostSettings, Limit, SpecError
from agents.create import create_agent
from agents.options import START_SECONDS
from agents.registry import user_code_reason
from agents.sandbox.protocol_agent import accepts_any_position
from agents.sandbox.sandbox import Sandbox
from arena.planning.plan import Plan
from arena.planning.schedule import Schedule
from arena.playing.clock import agent_settings
from arena.playing.forfeits import UselessBots
from arena.playing.options import PlayOptions
from arena.playing.referee import truncate_message
from arena.storage.game_cache import GameCache, agent_fingerprint
from arena.storage.journal import Section
from games import Game
from games.base.progress import Progress, ShowProgress, ignore_progress, watch


class BotProbe(NamedTuple):
    """A bot's answer to the first position: its move, or why there is none."""

    name: str
    move: str
    seconds: float  # thinking time
    fault: str = ""
    loads: bool = True
    start_seconds: float = 0.0  # to start it and, if need be, to compile it
    move_seconds: float = 0.0  # of the same question in a second game, when all is loaded


def probe_bots(
    plan: Plan, sandbox: Sandbox, show: ShowProgress = ignore_progress
) -> Iterator[BotProbe]:
    """Yield the first answer of each agent that runs a user's code; equal agents answer once."""
    known = dict[str, BotProbe]()
    for name, spec in plan.agents.items():
        if user_code_reason(spec):
            if str(spec) not in known:
                host = agent_settings(HostSettings(sandbox), plan, name, spec)
                with watch(show, partial(Progress, f"starting {name}")):
                    known[str(spec)] = probe_bot(name, spec, plan.game, host)
            yield known[str(spec)]._replace(name=name)


def probe_bot(name: str, spec: AgentSpec, game: Game, host: HostSettings) -> BotProbe:
    """Start an agent and ask it for its first move."""
    loads, begun, start_seconds = False, time.monotonic(), 0.0
    agent = None
    try:
        agent = create_agent(spec, game, host)
        agent.start(0)
        loads, start_seconds = True, time.monotonic() - begun
        begun = time.monotonic()
        choice = agent.choose(game.start())
        seconds = time.monotonic() - begun
        move = game.move_text(game.start(), choice.move)
        second = second_answer_seconds(agent, game, seconds)
        return BotProbe(name, move, seconds, start_seconds=start_seconds, move_seconds=second)
    except (AgentFailure, SpecError) as failure:
        loads &= getattr(failure, "kind", "") != "unloadable"
        fault, seconds = truncate_message(str(failure)), time.monotonic() - begun
        return BotProbe(name, "", seconds, fault, loads, start_seconds)
    finally:
        if agent is not None and hasattr(agent, "close"):
            agent.close()


def second_answer_seconds(agent: Agent, game: Game, first: float) -> float:
    """Return the time of the first move in a second game; `first` if the bot fails."""
    try:
        agent.start(1)
        begun = time.monotonic()
        agent.choose(game.start())
        return time.monotonic() - begun
    except AgentFailure:
        return first


def try_bots(schedule: Schedule, host: HostSettings) -> None:
    """Start every agent that runs a user's code; AgentFailure or SpecError names one that fails."""
    tried: list[AgentSpec] = []
    for name, spec in zip(schedule.plan.names, schedule.specs, strict=True):
        if user_code_reason(spec) and spec not in tried:
            try_bot(spec, schedule.game, agent_settings(host, schedule.plan, name, spec))
            tried.append(spec)


def try_bot(
    spec: AgentSpec, game: Game, host: HostSettings, positions: Sequence[str] = ()
) -> str | None:
    """Start an agent and a game; AgentFailure or SpecError if that fails.

    Return a position on which it fails, and how; None if there is none. A bot that follows a game
    move by move is not tried on positions.
    """
    agent = create_agent(spec, game, host)
    try:
        agent.start(0)
        parsed = [game.parse(each) for each in positions] if accepts_any_position(agent) else []
        if found := next(position_failures(agent, game, parsed, 0), None):
            return f"{found[1]}\nthe position: {game.text(found[0])}"
        if "evaluate" in spec.options:
            with contextlib.suppress(AgentFailure):  # in a game this is a forfeit
                agent.choose(game.start(), Limit(depth=1))
        return None
    finally:
        if hasattr(agent, "close"):
            agent.close()


def find_unloadable(
    schedule: Schedule,
    section: Section,
    options: PlayOptions,
    show: ShowProgress = ignore_progress,
) -> dict[int, str]:
    """Return why agents do not load, by place; a run decides this once.

    UselessBots if required agents are among them.
    """
    if section.read_fact("unloadable") is None:
        found = load_problems(schedule, options, show)
        reasons = {schedule.plan.names[place]: reason for place, reason in found.items()}
        if required := reasons.keys() & schedule.plan.required_agents:
            raise UselessBots({name: reasons[name] for name in reasons if name in required})
        section.write_fact("unloadable", sorted(found.items()))
    return load_reasons(section)


def load_reasons(section: Section) -> dict[int, str]:
    """Return why agents of a run do not load, by place, as the run has stored it."""
    return dict(section.read_fact("unloadable") or ())


def load_problems(schedule: Schedule, options: PlayOptions, show: ShowProgress) -> dict[int, str]:
    """Start every agent that runs a user's code; return why agents do not load, by place."""
    plan, reasons, begun = schedule.plan, dict[str, str](), list[str]()
    bots = [name for name, spec in plan.agents.items() if user_code_reason(spec)]
    sandbox = options.sandbox or Sandbox(plan.sandbox_required)
    sandbox.required |= plan.sandbox_required
    try:
        with watch(show, lambda: starting_progress(begun, len(bots))):
            for name in bots:
                begun.append(name)
                spec = plan.agents[name]
                if str(spec) not in reasons and (fact := LoadFact(spec, options.cache)).is_known:
                    reasons[str(spec)] = ""
                if str(spec) not in reasons:
                    host = agent_settings(HostSettings(sandbox), plan, name, spec)
                    load = partial(load_problem, spec, schedule.game, host, plan.must_survive)
                    reason = sandbox.with_restarts(load)
                    reasons[str(spec)] = plan.with_original_paths(name, reason)
                    fact.store(reason)
    finally:
        if options.sandbox is None:
            sandbox.close()
    found = {place: reasons.get(str(spec), "") for place, spec in enumerate(schedule.specs)}
    return {place: reason for place, reason in found.items() if reason}


class LoadFact:
    """An entry of the game cache: that a bot loads. Failures are not stored."""

    def __init__(self, spec: AgentSpec, cache: GameCache | None) -> None:
        self.cache = cache if cache is not None and cache.all_agents else None
        self.name = f"loads {agent_fingerprint(spec)}" if self.cache is not None else ""

    @property
    def is_known(self) -> bool:
        """Return whether the bot loaded before."""
        return self.cache is not None and self.cache.read_fact(self.name) is not None

    def store(self, reason: str) -> None:
        """Store that the bot loads, unless there is a reason why it does not."""
        if self.cache is not None and not reason:
            self.cache.write_fact(self.name, "yes")


def starting_progress(begun: Sequence[str], total: int) -> Progress:
    """Return which bot is being started."""
    text = f"starting bots: {begun[-1]} ({len(begun)} of {total})" if begun else "starting bots"
    return Progress(text, len(begun), total)


def load_problem(
    spec: AgentSpec, game: Game, host: HostSettings, positions: Sequence[str] = ()
) -> str:
    """Return why an agent does not load or does not survive a position; "" if it does.

    A bot that fails early is tried twice, because something else may have ended it.
    """
    for seconds in (spec.options.get("start_seconds", START_SECONDS), 0.0):
        begun = time.monotonic()
        try:
            problem = try_bot(spec, game, host, positions)
            if problem is None:
                return ""
            return truncate_message(f"does not survive a position that it must: {problem}")
        except AgentFailure as failure:
            reason = failure
        if time.monotonic() - begun > seconds:
            break
    return truncate_message(f"does not load: {reason}")
