"""The terms on which a bot plays: behind which wall, how long it may think, on which cores."""

from dataclasses import dataclass

from agents.wall.wall import Wall

MOVE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Terms:
    """What whoever needs an agent gives for it; a kind's own options stand in its spec."""

    wall: Wall
    seconds: float = MOVE_SECONDS  # at most, for one move
    cores: tuple[int, ...] = ()  # none: any
