"""What a solver may use: memory, and the endgame database."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SolverSettings:
    """What a solver may use; this changes its speed, never a value."""

    table_bits: int = 22  # 2 to this power positions are remembered
    database_beans: int | None = None  # None: as many as are worth building for the game
    database_seconds: float | None = None  # a database that is not there takes no longer
