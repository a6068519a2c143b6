"""How a referee asks an agent for its move: whatever the agent is, by one function."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agents import Agent, Limit
from agents.compiled import CompiledAgent, decided
from agents.thoughts import Thought, thought_of_search, thought_of_words
from arena.playing.game_clock import GameClock
from games import Game, Position
from games.board import Board

# Nanoseconds for which the agent was ready but did not run, of so many that its move took.
Delayed = Callable[[int], int]
# The slot of the agent's move, how many nodes it searched, who knows whether it could run.
Ask = Callable[[Board, GameClock], tuple[int, int, Delayed]]
# What the agent thought of the move that it just chose in this position.
Think = Callable[[Position, int], Thought | None]


def never(_: int) -> int:
    """An agent of this process is not delayed by others."""
    return 0


def asked(agent: Any, of: Game) -> Ask:
    """The function that asks this agent."""
    if isinstance(agent, CompiledAgent):
        return ours(agent, of)
    if hasattr(getattr(agent, "bot", None), "delayed") and hasattr(agent, "answer"):
        return far(agent)
    return other(agent, of)


def thinking(agent: Any, of: Game) -> Think:
    """The function that asks this agent for its thought, which its clock does not count."""
    if isinstance(agent, CompiledAgent):
        return lambda position, move: thought_of_search(
            of, position, agent.explained(position, agent.last(move))
        )
    if hasattr(agent, "thought"):
        thought: Think = agent.thought
        return thought
    if hasattr(agent, "said"):
        return lambda position, move: thought_of_words(agent.said)
    return lambda position, move: None


def ours(agent: CompiledAgent, of: Game) -> Ask:
    """An agent of this process; a search keeps to the game's clock as well as to its own limit."""

    def ask(board: Board, clock: GameClock) -> tuple[int, int, Delayed]:
        limit = None
        if agent.limit is not None and (seconds := clock.think()) is not None:
            limit = replace(agent.limit, seconds=min(seconds, agent.limit.seconds or seconds))
        choice = decided(agent, board.position, limit)
        return of.slots_of(choice.move), choice.nodes, never

    return ask


def far(agent: Any) -> Ask:
    """A far agent: it is asked on the board itself."""
    delayed, answer = agent.bot.delayed, agent.answer

    def ask(board: Board, clock: GameClock) -> tuple[int, int, Delayed]:
        slot, nodes, _ = answer(board, clock.rest(), clock.think())
        return slot, nodes, delayed

    return ask


def other(agent: Agent, of: Game) -> Ask:
    """Any other agent; a program has no more time than its clock."""
    bot: Any = getattr(agent, "bot", None)
    delayed = getattr(bot, "delayed", never)
    program: Any = agent if hasattr(agent, "conversation") else None

    def ask(board: Board, clock: GameClock) -> tuple[int, int, Delayed]:
        seconds, limit = clock.think(), None
        if program is not None:
            program.seconds = clock.rest()
        elif seconds is not None:
            limit = Limit(seconds=seconds)
        choice = decided(agent, board.position, limit)
        return of.slots_of(choice.move), choice.nodes, delayed

    return ask
