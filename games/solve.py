"""Solve a position exactly: python -m games.solve "kalah(6,4)" ["3 6 1" | POSITION]."""

import argparse
import json
import signal
import sys
import time

from games import Game, GameError, Position, game
from games.base.cli import CommandParser, shell_command
from games.base.errors import OK, UNFINISHED, UserError, print_error, status_of
from games.base.progress import Progress, ProgressLine, watch
from games.base.text import parse_positive, parse_whole_number
from games.core import side_name
from games.solving import Budget, SolverSettings, solver_of
from games.solving.solution import Solution, as_json, hopeless, steps, written
from games.solving.solver import Allowance, Bounds, Solver
from games.solving.sowing_database import free_memory

MOST_BEANS = 30  # of a database: with six holes a side 10 GB
DATABASE_SHARE = 0.3  # of the time that is asked for may go into a database that is not there
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


def run_solve(chosen: argparse.Namespace) -> int:
    """Solve and print; the exit status."""
    of = game(chosen.game)
    position = parse_position_or_moves(of, chosen.position)
    beans = chosen.database_beans and parse_whole_number(
        of.name, "--database-beans", chosen.database_beans, range(MOST_BEANS + 1)
    )
    seconds = None if chosen.seconds is None else parse_positive("--seconds", chosen.seconds)
    if word := hopeless(of, position):
        if seconds is None:
            raise UserError(f"{word}; say for how long, as in --seconds 60")
        print_error(word)
    with ProgressLine() as line:
        bits = LARGE_TABLE if free_memory() > LARGE_FROM else USUAL_TABLE
        settings = SolverSettings(bits, beans, seconds and seconds * DATABASE_SHARE)
        solver = solver_of(of, settings, line.say)
        news = SolutionPrinter(of, position, line, solver.questions.limits(position))
        hear_ctrl_c()
        with watch(line.show, lambda: Progress(progress_text(news.known.bounds, solver.nodes))):
            search(solver, position, seconds, news, shown=not chosen.json)
    if chosen.json:
        print(json.dumps(as_json(of, position, news.known, news.seconds)))
    else:
        news.finish()
    return OK if news.known.complete else UNFINISHED


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
        news.line.say(f"stopped after {news.seconds:.1f} s; what is proved:")


def hear_ctrl_c() -> None:
    """From now on Ctrl-C is an exception, for there is something to tell: what is proved.

    Until here it ended the process, as it does in every short command.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def progress_text(bounds: Bounds, nodes: int) -> str:
    """What is known so far."""
    return f"{format_bounds(bounds)} after {nodes / 1e6:,.1f} M positions"


def format_bounds(bounds: Bounds) -> str:
    """`+8`, or `between -2 and +4`; of a game whose margins nobody knows, what is known."""
    if bounds.exact:
        return f"{bounds.low:+d}"
    if not bounds.has_low and not bounds.has_high:
        return "anything"
    if bounds.has_low and bounds.has_high:
        return f"between {bounds.low:+d} and {bounds.high:+d}"
    return f"at least {bounds.low:+d}" if bounds.has_low else f"at most {bounds.high:+d}"


class SolutionPrinter:
    """Prints each result once it is known: who wins, by how much, the moves, the line."""

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


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandParser(
        prog=shell_command("python -m games.solve"),
        description="Solve a position: who wins under perfect play, by how much, and the margin "
        "of every move, for the side to move.",
        epilog='example: python -m games.solve "kalah(6,3)" "3 6 1"',
    )
    parser.add_argument("game", help='such as "kalah(6,4)", "othello(6)", or a file of your own')
    parser.add_argument(
        "position", nargs="?", default="", help="moves from the start, or a position in one line"
    )
    parser.add_argument("--seconds", metavar="S", help="stop after S seconds")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument(
        "--database-beans",
        metavar="N",
        help="beans up to which an endgame database of a sowing game is built, once "
        "(as many as are worth it)",
    )
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command; 3 when not all is known, 2 when what was asked for does not exist."""
    chosen = arguments().parse_args(words)
    return status_of("games.solve", lambda: run_solve(chosen))


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):  # Windows has none
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
