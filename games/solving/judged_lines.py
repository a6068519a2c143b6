"""Judging written games: walking them backwards, comparing every move with the best."""

from games.solving.judged_plies import LineJudge
from games.solving.solver import Solver
from games.solving.solver_judge import SolverJudge


def judge_of(solver: Solver) -> LineJudge:
    """The judge for a solver's games; compiled where the rows of a sowing game decide its value."""
    if solver.has_rows_alone:
        from games.solving.sowing_judge import SowingJudge  # noqa: PLC0415  # it loads the compiler

        return SowingJudge(solver)
    return SolverJudge(solver)
