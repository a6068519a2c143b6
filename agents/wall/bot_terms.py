"""The terms on which a bot plays: its wall, its time, its cores."""

from dataclasses import dataclass

from agents.wall.wall import Wall

MOVE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Terms:
    """What the caller provides for an agent; the kind's own options are in its spec."""

    wall: Wall
    seconds: float = MOVE_SECONDS  # at most, for one move
    cores: tuple[int, ...] = ()  # none: any
    thoughts: bool = False  # whether it is asked what it thought of its moves
