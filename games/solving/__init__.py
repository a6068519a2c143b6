"""The value of a position under perfect play: exact, or within proven bounds."""

from games.solving.bounds import UNLIMITED, Bounds, Budget
from games.solving.solver import Solver, solver_of
from games.solving.solver_settings import SolverSettings

__all__ = ["UNLIMITED", "Bounds", "Budget", "Solver", "SolverSettings", "solver_of"]
