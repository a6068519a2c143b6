"""Values of positions from yes-or-no questions: the outcome first, then the exact margin."""

from collections.abc import Callable, Iterator

from games.core import Game
from games.position import Position
from games.solving.bounds import UNLIMITED, Allowance, Bounds, Budget
from games.solving.questions import Questions
from games.solving.solver_settings import SolverSettings

Limits = Budget | Allowance  # an allowance is shared with other questions
USUAL = SolverSettings()
OTHELLO = "games.othello.states.bitboard"
PACKED_SOWING = ("games.sowing.states.packed", "games.sowing.states.phased")


class Solver:
    """Exact values of one game's positions; it remembers what it finds between calls."""

    def __init__(self, of: Game, questions: Questions) -> None:
        """`questions` are those of the game's family."""
        self.game, self.questions = of, questions

    @property
    def has_rows_alone(self) -> bool:
        """Whether it is asked about rows of seven holes at most whose pots do not matter."""
        of = self.game
        return of.family_name == PACKED_SOWING[0] and of.rules.majority_ends == "no"

    @property
    def nodes(self) -> int:
        """Positions searched since the solver was made."""
        return self.questions.nodes

    def prepare(self) -> None:
        """Build or open the database and compile now, not at the first question."""
        self.questions.prepare()
        self.questions.ask(self.game.start(), 1, 0)

    def forget(self) -> None:
        """Forget everything: the next question takes as long as a first one."""
        self.questions.forget()

    def outcome(self, position: Position, budget: Limits = UNLIMITED) -> Bounds:
        """Bounds that decide who wins, if the budget suffices."""
        return last(self.narrowing(position, begun(budget), to_outcome=True))

    def margin(
        self, position: Position, budget: Limits = UNLIMITED, known: Bounds | None = None
    ) -> Bounds:
        """The final margin of the side to move, pots included, starting from what is `known`."""
        return last(self.narrowing(position, begun(budget), known))

    def better_than(self, position: Position, margin: int, budget: Limits = UNLIMITED) -> Bounds:
        """Whether the side to move gets more than `margin`: one question, the judge's.

        Yes if `low` is more than it, no if `high` is not; else the budget ended before.
        """
        allowance, bounds = begun(budget), self.questions.limits(position)
        return last(self._asked(position, bounds, margin + 1, allowance), bounds)

    def moves(self, position: Position, budget: Limits = UNLIMITED) -> dict[int, Bounds]:
        """The margin of the side to move after each of its moves; they share the budget."""
        allowance = begun(budget)
        return {move: self._after(position, move, allowance) for move in self.game.legal(position)}

    def _after(self, position: Position, move: int, allowance: Allowance) -> Bounds:
        child = self.game.play(position, move)
        bounds = last(self.narrowing(child, allowance))
        return bounds if child.mover == position.mover else bounds.turned()

    def narrowing(
        self,
        position: Position,
        allowance: Allowance,
        known: Bounds | None = None,
        to_outcome: bool = False,
    ) -> Iterator[Bounds]:
        """What is known after every slice of the search, until all is or the budget ends.

        First win or not, then draw or loss, then from the bound that came back (MTD(f):
        Plaat, Schaeffer, Pijls, de Bruin 1996).
        """
        bounds = self.questions.limits(position)
        if known is not None:
            bounds = Bounds(max(bounds.low, known.low), min(bounds.high, known.high))
        yield bounds
        while not (bounds.exact or (to_outcome and bounds.outcome)):
            before = bounds
            for step in self._asked(position, before, next_bound(before), allowance):
                bounds = step
                yield bounds
            if bounds == before:
                return

    def _asked(
        self, position: Position, bounds: Bounds, bound: int, allowance: Allowance
    ) -> Iterator[Bounds]:
        """The bounds after each slice of one question; the last ones answer it."""
        while bounds.low < bound <= bounds.high and (nodes := allowance.next_slice()):
            before = self.questions.nodes
            answer = self.questions.ask(position, bound, nodes)
            allowance.spend(self.questions.nodes - before)
            if answer is not None:
                yield bounds.narrowed(bound, answer)
                return
            yield bounds


def next_bound(bounds: Bounds) -> int:
    """The next question: win? draw? then one step from the latest bound."""
    if bounds.low < 1 <= bounds.high:
        return 1
    if bounds.low < 0 <= bounds.high:
        return 0
    return bounds.low + 1 if bounds.low > 0 else bounds.high


def begun(budget: Limits) -> Allowance:
    """The clock of a budget starts now; an allowance's is running already."""
    return budget if isinstance(budget, Allowance) else Allowance(budget)


def last(steps: Iterator[Bounds], before: Bounds | None = None) -> Bounds:
    """The last of the steps; `before` if there is none."""
    *_, found = [before, *steps]
    assert found is not None
    return found


def solver_of(
    of: Game, settings: SolverSettings = USUAL, progress: Callable[[str], None] = lambda _: None
) -> Solver:
    """A solver for the game's positions; `progress` hears of preparations that take a while."""
    if of.family_name in PACKED_SOWING:
        from games.solving import sowing  # noqa: PLC0415  # it loads the compiler

        return Solver(of, sowing.sowing_questions(of, settings, progress))
    if of.family_name == OTHELLO and of.rules.adjacency == 0:
        from games.solving.othello import OthelloQuestions  # noqa: PLC0415  # the same

        return Solver(of, OthelloQuestions(of, settings.table_bits))
    from games.solving.plain import PlainQuestions  # noqa: PLC0415  # the same

    return Solver(of, PlainQuestions(of, settings.table_bits))
