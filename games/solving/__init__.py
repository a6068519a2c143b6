"""Values of positions under perfect play: exact, or within proven bounds."""

from games.solving.solver import UNLIMITED, Bounds, Budget, Solver, SolverSettings, solver_of

__all__ = ["UNLIMITED", "Bounds", "Budget", "Solver", "SolverSettings", "solver_of"]
