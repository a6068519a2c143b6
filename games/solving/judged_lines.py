"""Written games judged: walked backwards, what every move of them was worth against the best."""

from games.solving.judged_plies import LineJudge
from games.solving.solver import Solver
from games.solving.solver_judge import SolverJudge


def judge_of(solver: Solver) -> LineJudge:
    """The judge of a solver's games: compiled for sowing games whose rows say all."""
    if solver.has_rows_alone:
        from games.solving.sowing_judge import SowingJudge  # noqa: PLC0415  # it loads the compiler

        return SowingJudge(solver)
    return SolverJudge(solver)
