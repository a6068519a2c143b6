"""Text about one game: replays, perft counts, solutions."""

import json
import signal
import time
from collections.abc import Callable, Sequence
from itertools import pairwise

from games import Game, Position
from games.base.errors import UserError, print_error
from games.base.progress import Progress, ProgressLine, watch
from games.core import side_name
from games.perft import time_depths
from games.solving import Budget, SolverSettings, solver_of
from games.solving.solution import (
    MoveValues,
    Solution,
    loss_text,
    move_texts,
    side_by_side,
    size_warning,
    solution_json,
    solve_backwards,
    solve_steps,
    value_lines,
)
from games.solving.solver import Allowance, Bounds, Solver, free_memory

DATABASE_SHARE = 0.3  # of the time limit, for building a database
LARGE_TABLE, USUAL_TABLE = 24, 22  # bits; 256 MB and 64 MB
LARGE_FROM = 1 << 31  # bytes of free memory


def print_perft(game: Game, depth: int) -> None:
    """Print a row for each depth as soon as it is counted."""
    print(f"{game.name}\n{'depth':>5} {'leaves':>16} {'ended_early':>14} {'nodes/s':>14}")
    for row in time_depths(game, depth):
        counts = f"{row.depth:>5} {row.leaves:>16,} {row.ended_early:>14,}"
        print(f"{counts} {row.per_second:>14,}", flush=True)


def perft_json(game: Game, depth: int) -> str:
    """Return all depths as one JSON object."""
    rows = [
        {
            "depth": row.depth,
            "leaves": row.leaves,
            "ended_early": row.ended_early,
            "nodes_per_second": row.per_second,
        }
        for row in time_depths(game, depth)
    ]
    return json.dumps({"game": game.name, "depths": rows})


def replay_summary(game: Game, positions: list[Position]) -> dict[str, object]:
    """Return the state of the game after the last move; a swap is not a ply."""
    last = positions[-1]
    swaps = sum(before.swapped != after.swapped for before, after in pairwise(positions))
    return {
        "game": game.name,
        "over": game.over(last),
        "margin": game.margin(last),
        "score": list(game.score(last)),
        "raw_score": list(game.raw_score(last)),
        "plies": len(positions) - 1 - swaps,
        "mover": game.mover(last),
        "position": game.text(last),
    }


def replay_text(game: Game, positions: list[Position], text: str) -> str:
    """Return every board with the move that led to it."""
    blocks = [game.draw(positions[0])]
    words = game.notation.split(text)
    for ply, (word, (before, after)) in enumerate(zip(words, pairwise(positions), strict=True), 1):
        player = game.mover(before)
        move = game.move_text(before, game.parse_move(before, word))
        again = " and moves again" if game.mover(after) == player and not game.over(after) else ""
        blocks.append(f"{ply}. player {player + 1} plays {move}{again}\n{game.draw(after)}")
    return "\n\n".join([*blocks, result_text(game, positions[-1])])


def replay_text_with_values(
    game: Game, positions: list[Position], text: str, values: Sequence[MoveValues | None]
) -> str:
    """Return every board with the values of its moves, and the loss of each played move."""
    words = game.notation.split(text)
    moves = [game.parse_move(at, word) for at, word in zip(positions, words, strict=False)]
    blocks, known = [], sum(each is not None for each in values)
    for place, position in enumerate(positions):
        board, of_moves = game.draw(position), values[place]
        played = moves[place] if place < len(moves) else None
        if of_moves:
            board = side_by_side(board, value_lines(game, position, of_moves, played))
        blocks.append(board)
        if played is not None:
            lost = loss_text(of_moves, played) if of_moves else ""
            report = f"{place + 1}. player {game.mover(position) + 1} plays {words[place]}"
            blocks.append(f"{report}: {lost}" if lost else report)
    if known < len(values):
        blocks.append(f"values are known for the last {known} of {len(values)} positions")
    return "\n\n".join([*blocks, result_text(game, positions[-1])])


def solve_positions(
    game: Game, positions: list[Position], seconds: float
) -> list[MoveValues | None]:
    """Return the values of all moves, as far back as the time limit allows."""
    settings = SolverSettings(database_seconds=seconds * DATABASE_SHARE)
    solver = solver_of(game, settings, print_error)
    solver.prepare()
    return solve_backwards(solver, positions, Allowance(Budget(seconds=seconds)))


def values_json(
    game: Game, positions: list[Position], values: Sequence[MoveValues | None]
) -> list[dict[str, int] | None]:
    """Return the margins by move at each position; null where they are unknown."""
    return [
        None
        if of_moves is None
        else {game.move_text(at, move): bounds.low for move, bounds in of_moves.items()}
        for at, of_moves in zip(positions, values, strict=True)
    ]


def result_text(game: Game, last: Position) -> str:
    """Return the final score, or the player to move."""
    first, second = game.score(last)
    if not game.over(last):
        return f"not over: player {game.mover(last) + 1} to move, {first}-{second}"
    winner = "tie" if first == second else f"player {1 if first > second else 2} wins"
    raw = game.raw_score(last)
    on_board = "" if raw == (first, second) else f" ({raw[0]}-{raw[1]} without the empty squares)"
    return f"over: {winner} {first}-{second}{on_board}"


def solve_and_print(
    game: Game,
    position: Position,
    seconds: float | None = None,
    database_beans: int | None = None,
    *,
    json_only: bool = False,
) -> bool:
    """Solve a position and print new results immediately; return whether it is solved."""
    if warning := size_warning(game, position):
        if seconds is None:
            raise UserError(f"{warning}; set a time limit, such as --seconds 60s")
        print_error(warning)
    with ProgressLine() as line:
        solver = make_solver(game, seconds, database_beans, line.print_line)
        printer = SolutionPrinter(game, position, line, solver.search.limits(position))
        raise_on_ctrl_c()

        def progress() -> Progress:
            bounds, millions = format_bounds(printer.known.bounds), solver.nodes / 1e6
            return Progress(f"{bounds} after {millions:,.1f} M positions")

        with watch(line.show, progress):
            search(solver, position, seconds, printer, show=not json_only)
    if json_only:
        print(json.dumps(solution_json(game, position, printer.known, printer.seconds)))
    else:
        printer.finish()
    return printer.known.complete


def make_solver(
    game: Game, seconds: float | None, database_beans: int | None, report: Callable[[str], None]
) -> Solver:
    """Return a solver with tables for the available memory and time."""
    bits = LARGE_TABLE if free_memory() > LARGE_FROM else USUAL_TABLE
    share = seconds and seconds * DATABASE_SHARE
    return solver_of(game, SolverSettings(bits, database_beans, share), report)


def search(
    solver: Solver,
    position: Position,
    seconds: float | None,
    printer: "SolutionPrinter",
    show: bool,
) -> None:
    """Search until the position is solved, the time is over or Ctrl-C is pressed."""
    try:
        solver.prepare()
        for step in solve_steps(solver, position, Allowance(Budget(seconds=seconds))):
            printer.known = step
            if show:
                printer.show()
    except KeyboardInterrupt:
        printer.line.print_line(f"stopped after {printer.seconds:.1f} s; proved so far:")


def raise_on_ctrl_c() -> None:
    """Make Ctrl-C a KeyboardInterrupt, so that a stopped search prints its bounds.

    Before the search Ctrl-C ends the process, as in every short command.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def format_bounds(bounds: Bounds) -> str:
    """Return `+8`, or `between -2 and +4`; `anything` if no bound is known."""
    if bounds.exact:
        return f"{bounds.low:+d}"
    if not bounds.has_low and not bounds.has_high:
        return "anything"
    if bounds.has_low and bounds.has_high:
        return f"between {bounds.low:+d} and {bounds.high:+d}"
    return f"at least {bounds.low:+d}" if bounds.has_low else f"at most {bounds.high:+d}"


class SolutionPrinter:
    """Prints each result as soon as it is known: winner, margin, moves, best line."""

    def __init__(self, game: Game, position: Position, line: ProgressLine, limits: Bounds) -> None:
        self.game, self.position, self.line = game, position, line
        self.known = Solution(limits)
        self.printed: set[str] = set()

    @property
    def seconds(self) -> float:
        """Return the time since the start of the search."""
        return time.monotonic() - self.line.start_time

    def show(self) -> None:
        """Print new results."""
        known, after = self.known, f"({self.seconds:.1f} s)"
        if known.bounds.outcome:
            self._print_once("outcome", f"{self._mover_text()}: {known.bounds.outcome} {after}")
        if known.bounds.exact:
            self._print_once("margin", f"margin {known.bounds.low:+d} {after}")
        for move, bounds in known.moves:
            if bounds.exact:
                best = "  best" if bounds == known.bounds else ""
                self._print_once(f"move {move}", f"{self._text(move)}  {bounds.low:+d}{best}")

    def finish(self) -> None:
        """Print the best line, or the remaining bounds."""
        known, seconds = self.known, self.seconds
        if not known.bounds.exact:
            outcome = known.bounds.outcome or "win, draw or loss unknown"
            limits = format_bounds(known.bounds)
            print(f"{self._mover_text()}: {outcome}, {limits} after {seconds:.1f} s")
        for move, bounds in known.moves:
            self._print_once(f"move {move}", f"{self._text(move)}  {format_bounds(bounds)}")
        if known.line:
            print(f"line: {' '.join(move_texts(self.game, self.position, known.line))}")

    def _mover_text(self) -> str:
        side = side_name(self.game, self.position)
        if self.game.over(self.position):
            return f"{self.game.name}, the game is over, {side}"
        return f"{self.game.name}, {side} to move"

    def _text(self, move: int) -> str:
        return f"{self.game.move_text(self.position, move):>6}"

    def _print_once(self, key: str, line: str) -> None:
        if key not in self.printed:
            self.printed.add(key)
            self.line.clear()
            print(line, flush=True)
