"""How an agent values a position."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from agents.core import Agent, AgentSpec, Choice
from games import Game, Position
from games.base.errors import printable
from games.base.progress import Progress, ProgressLine, watch
from games.core import side_name

if TYPE_CHECKING:  # they load the compiler
    from agents.search.explanation import MoveView
    from games.solving.solver import Bounds

COLUMNS = "{:>6} {:>12} {:>6} {:>12}  {:>9}  {}"
FURTHER = "+positions"  # beside those of the choice
TERMS = "{:<22} {:>8} {:>6} {:>6} {:>10}"


class ExplainedPosition(NamedTuple):
    """Which agent is asked about which position; `played` is what was played there, if known.

    `by_opening` is whether the opening made that move: then no agent chose it.
    """

    of: Game
    position: Position
    name: str
    spec: AgentSpec
    played: int | None = None
    by_opening: bool = False


def print_explanation(asked: ExplainedPosition, agent: Agent) -> None:
    """Print the board, the choice, every move, the rule, the evaluation; each once it is known."""
    from agents.search.explanation import meaning_of_value, move_views, rule_of  # noqa: PLC0415

    of, position = asked.of, asked.position
    print(of.draw(position))
    choice = agent.choose(position)
    print(f"{of.name}, {side_name(of, position)} to move: {headline(asked, choice)}", flush=True)
    print(COLUMNS.format("move", "value", "depth", FURTHER, "score", "line"), flush=True)
    moves = []
    for view in with_progress(move_views(agent, of, position, choice)):
        moves.append(view)
        print(move_row(asked, view, choice).rstrip(), flush=True)
    print("score: what the move adds to the mover's and to the other's; * is played")
    if any(view.nodes for view in moves):
        print(f"{FURTHER}: looked at by a further search of this move alone")
    print(f"rule: {rule_of(agent, moves, choice)}")
    if any(view.bound == "<=" for view in moves):
        print("<=: its search (ProbCut) did not look at the whole tree behind this move")
    if meaning := meaning_of_value(agent):
        print(f"value: {meaning}")
    if line := played_line(asked, choice):
        print(line)
    if epsilon := asked.spec.options.get("epsilon"):
        print(f"epsilon = {epsilon:g}: so many of its moves are random instead")
    print("\n".join(evaluation_lines(agent, position)), end="")


def with_progress(views: "Iterator[MoveView]") -> "Iterator[MoveView]":
    """The views, with a progress line while one of them takes long."""
    with ProgressLine() as line:
        while True:
            with watch(line.show, lambda: Progress("searching each move alone")):
                view = next(views, None)
            line.clear()
            if view is None:
                return
            yield view


def headline(asked: ExplainedPosition, choice: Choice) -> str:
    """What the agent plays."""
    text = asked.of.move_text(asked.position, choice.move)
    nodes = f" after {choice.nodes:,} positions" if choice.nodes else ""
    verb = "would play" if asked.by_opening else "plays"
    return f"{printable(asked.name)} {verb} {text}{nodes}"


def played_line(asked: ExplainedPosition, choice: Choice) -> str:
    """What was played in the game, if that is not the agent's choice; else empty."""
    if asked.played is None or (asked.played == choice.move and not asked.by_opening):
        return ""
    text = asked.of.move_text(asked.position, asked.played)
    if asked.by_opening:
        return f"in the game this ply belongs to the opening, which played {text}"
    return f"in the game {text} was played"


def move_row(asked: ExplainedPosition, view: "MoveView", choice: Choice) -> str:
    """The line of one move; the chosen one is marked."""
    from agents.search.explanation import plies_of  # noqa: PLC0415

    of, position = asked.of, asked.position
    text = of.move_text(position, view.move)
    mark = "*" if view.move == choice.move else ""
    line = of.write(view.line, position) if view.line else ""
    depth = plies_of(view.depth) if view.depth else ""
    nodes = f"{view.nodes:,}" if view.nodes else ""
    score = f"{view.own:+d} {view.theirs:+d}"
    return COLUMNS.format(mark + text, value_text(view), depth, nodes, score, line)


def value_text(view: "MoveView") -> str:
    """A value as it is printed: a margin of a game that is decided has a word."""
    if view.value is None:
        return ""
    if not view.decided:
        return view.bound + f"{view.value:+z.3f}".rstrip("0").rstrip(".")
    word = "wins" if view.value > 0 else "loses" if view.value < 0 else "draws"
    return f"{word} {view.bound}{view.value:+z.0f}"


def evaluation_lines(agent: Agent, position: Position) -> Iterator[str]:
    """The static evaluation term by term, where it is ours."""
    from agents.search.compiled_agent import CompiledAgent  # noqa: PLC0415
    from agents.search.explanation import static_value, terms  # noqa: PLC0415

    if own := agent.spec.options.get("evaluate"):
        yield f"its evaluation is {printable(str(own))}: a whole, not terms\n"
    if not isinstance(agent, CompiledAgent) or agent.limit is None or agent.own is not None:
        return
    yield f"static evaluation of the position: {static_value(agent, position):+.3f}"
    found = list(terms(agent, position))
    if found:
        yield TERMS.format("feature", "weight", "own", "other", "adds")
    for term in found:
        numbers = f"{term.weight:g}", f"{term.own}", f"{term.other}", f"{term.worth:+.3f}"
        yield TERMS.format(term.name, *numbers)
    yield ""


def print_exact_values(of: Game, position: Position, seconds: float) -> None:
    """Print the exact value of every move, as far as the seconds go."""
    from arena.terminal.human_game import Hints, words  # noqa: PLC0415
    from games.solving.solution import hopeless  # noqa: PLC0415

    if hopeless(of, position):
        print("perfect play: nobody knows; the position is too large to solve here")
        return
    known = Hints(of, seconds).found(position)
    print(f"perfect play: {known.bounds.outcome or 'unknown'}, {words(known.bounds)}")
    print(
        f"  {', '.join(exact_value_texts(of, position, known.moves))}"
        if known.moves
        else "  no move yet"
    )


def exact_value_texts(
    of: Game, position: Position, moves: Sequence[tuple[int, "Bounds"]]
) -> Iterator[str]:
    """Every move with its bounds."""
    from arena.terminal.human_game import words  # noqa: PLC0415

    for move, bounds in moves:
        yield f"{of.move_text(position, move)} {words(bounds)}"
