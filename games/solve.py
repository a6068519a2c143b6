"""Solve a position exactly, and print what is known."""

import json
import signal
import time
from collections.abc import Callable

from games import Game, GameError, Position
from games.base.errors import UserError, print_error
from games.base.progress import Progress, ProgressLine, watch
from games.core import side_name
from games.solving import Budget, SolverSettings, solver_of
from games.solving.solution import Solution, as_json, hopeless, steps, written
from games.solving.solver import Allowance, Bounds, Solver
from games.solving.sowing_database import free_memory

DATABASE_SHARE = 0.3  # of the seconds, at most, to build a database
LARGE_TABLE, USUAL_TABLE = 24, 22  # bits; 256 MB and 64 MB
LARGE_FROM = 1 << 31  # bytes of free memory


def parse_position_or_moves(of: Game, text: str) -> Position:
    """The position that the text describes, or that its moves lead to from the start."""
    words = of.notation.split(text)
    if not words:
        return of.start()
    try:
        return of.parse(text)
    except GameError:
        if of.notation.parse_move(of.start(), words[0]) is None and not words[0].isdigit():
            raise
    return of.replay(text)[-1]


def solve_and_print(
    of: Game,
    position: Position,
    seconds: float | None = None,
    database_beans: int | None = None,
    *,
    json_only: bool = False,
) -> bool:
    """Solve a position and print each result as soon as it is known; return whether all is."""
    if word := hopeless(of, position):
        if seconds is None:
            raise UserError(f"{word}; say for how long, as in --seconds 60s")
        print_error(word)
    with ProgressLine() as line:
        solver = make_solver(of, seconds, database_beans, line.say)
        news = SolutionPrinter(of, position, line, solver.questions.limits(position))
        hear_ctrl_c()
        with watch(line.show, lambda: Progress(progress_text(news.known.bounds, solver.nodes))):
            search(solver, position, seconds, news, shown=not json_only)
    if json_only:
        print(json.dumps(as_json(of, position, news.known, news.seconds)))
    else:
        news.finish()
    return news.known.complete


def make_solver(
    of: Game, seconds: float | None, database_beans: int | None, say: Callable[[str], None]
) -> Solver:
    """Return a solver with tables for the memory and the time that there are."""
    bits = LARGE_TABLE if free_memory() > LARGE_FROM else USUAL_TABLE
    share = seconds and seconds * DATABASE_SHARE
    return solver_of(of, SolverSettings(bits, database_beans, share), say)


def search(
    solver: Solver, position: Position, seconds: float | None, news: "SolutionPrinter", shown: bool
) -> None:
    """Search until all is known, the seconds are over or Ctrl-C comes; print what is `shown`."""
    try:
        solver.prepare()
        for step in steps(solver, position, Allowance(Budget(seconds=seconds))):
            news.known = step
            if shown:
                news.show()
    except KeyboardInterrupt:
        news.line.say(f"stopped after {news.seconds:.1f} s; proved so far:")


def hear_ctrl_c() -> None:
    """Make Ctrl-C a KeyboardInterrupt, so that a stopped search prints its bounds.

    Before the search Ctrl-C ends the process, as in every short command.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def progress_text(bounds: Bounds, nodes: int) -> str:
    """Return the bounds and the number of positions searched."""
    return f"{format_bounds(bounds)} after {nodes / 1e6:,.1f} M positions"


def format_bounds(bounds: Bounds) -> str:
    """`+8`, or `between -2 and +4`; `anything` if no bound is known."""
    if bounds.exact:
        return f"{bounds.low:+d}"
    if not bounds.has_low and not bounds.has_high:
        return "anything"
    if bounds.has_low and bounds.has_high:
        return f"between {bounds.low:+d} and {bounds.high:+d}"
    return f"at least {bounds.low:+d}" if bounds.has_low else f"at most {bounds.high:+d}"


class SolutionPrinter:
    """Prints each result as soon as it is known: winner, margin, moves, best line."""

    def __init__(self, of: Game, position: Position, line: ProgressLine, limits: Bounds) -> None:
        """Nothing is printed yet; `limits` are those of the rules."""
        self.game, self.position, self.line = of, position, line
        self.known = Solution(limits)
        self.printed: set[str] = set()

    @property
    def seconds(self) -> float:
        """Since the search began."""
        return time.monotonic() - self.line.begun

    def show(self) -> None:
        """Print what is new."""
        known, after = self.known, f"({self.seconds:.1f} s)"
        if known.bounds.outcome:
            self._once("outcome", f"{self._whose()}: {known.bounds.outcome} {after}")
        if known.bounds.exact:
            self._once("margin", f"margin {known.bounds.low:+d} {after}")
        for move, bounds in known.moves:
            if bounds.exact:
                best = "  best" if bounds == known.bounds else ""
                self._once(f"move {move}", f"{self._text(move)}  {bounds.low:+d}{best}")

    def finish(self) -> None:
        """Print the line of play, or what is left open."""
        known, seconds = self.known, self.seconds
        if not known.bounds.exact:
            outcome = known.bounds.outcome or "win, draw or loss unknown"
            print(
                f"{self._whose()}: {outcome}, {format_bounds(known.bounds)} after {seconds:.1f} s"
            )
        for move, bounds in known.moves:
            self._once(f"move {move}", f"{self._text(move)}  {format_bounds(bounds)}")
        if known.line:
            print(f"line: {' '.join(written(self.game, self.position, known.line))}")

    def _whose(self) -> str:
        if self.game.over(self.position):
            return f"{self.game.name}, the game is over, {side_name(self.game, self.position)}"
        return f"{self.game.name}, {side_name(self.game, self.position)} to move"

    def _text(self, move: int) -> str:
        return f"{self.game.move_text(self.position, move):>6}"

    def _once(self, what: str, line: str) -> None:
        if what not in self.printed:
            self.printed.add(what)
            self.line.clear()
            print(line, flush=True)
