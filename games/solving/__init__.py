"""What a position is worth under perfect play: exact values, or honest bounds."""

from games.solving.bounds import UNLIMITED, Bounds, Budget
from games.solving.solver import Solver, SolverSettings, solver_of

__all__ = ["UNLIMITED", "Bounds", "Budget", "Solver", "SolverSettings", "solver_of"]
