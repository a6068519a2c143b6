"""Positions that a bot must survive: a teacher's file, a position a line, each asked by itself."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from agents import Agent, AgentFailure, Resigned
from agents.error_lines import SLOW_FAULTS, failure_words
from agents.wall.driver import begins_anywhere
from games import Game, Position
from games.limited_files import read_bytes
from games.names import GameError, quoted
from games.terminal import Mistake, printable

MOST_POSITIONS = 10_000


def read_positions(path: Path, of: Game) -> list[Position]:
    """The positions of the file; blank lines and those after # are left out. A Mistake if wrong."""
    try:
        lines = read_bytes(path).decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Mistake(f"{path}: the positions cannot be read: {printable(str(error))}") from None
    found = []
    for number, line in enumerate(lines, 1):
        if (text := line.partition("#")[0].strip()) == "":
            continue
        try:
            position = of.parse(text)
        except GameError as error:
            raise Mistake(f"{path}, line {number}: {error}") from None
        if of.over(position):
            raise Mistake(f"{path}, line {number}: the game is over in {quoted(text)}")
        found.append(position)
    if not 0 < len(found) <= MOST_POSITIONS:
        raise Mistake(f"{path}: has 1 to {MOST_POSITIONS:,} positions, got {len(found):,}")
    return found


def failed_positions(
    agent: Agent, of: Game, positions: Sequence[Position], seed: int
) -> Iterator[tuple[Position, str]]:
    """The positions in which it fails, and how; the last one is where it was too slow to go on."""
    if positions and not begins_anywhere(agent):
        raise Mistake("it follows games move by move: positions cannot be put to it")
    for position in positions:
        try:
            agent.start(seed)
            if of.legal(position) != (of.pass_move,):
                agent.choose(position)
        except AgentFailure as failure:
            yield position, failure_words(failure)
            if failure.kind in SLOW_FAULTS:
                return
        except Resigned:
            yield position, "it resigns"
