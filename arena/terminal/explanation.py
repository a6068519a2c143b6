"""An agent's evaluation of a position: its choice, every move, and the terms."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from agents.core import Agent, AgentSpec, Choice
from agents.registry import randomness_reason
from games import Game, Position
from games.base.errors import printable
from games.base.progress import Progress, ProgressLine, watch
from games.core import side_name

if TYPE_CHECKING:  # these modules load the compiler
    from agents.search.explanation import MoveValue
    from games.solving.solver import Bounds

COLUMNS = "{:>6} {:>12} {:>6} {:>12}  {:>9}  {}"
FURTHER = "+positions"  # in addition to those of the choice
TERMS = "{:<22} {:>8} {:>6} {:>6} {:>10}"


class ExplainedPosition(NamedTuple):
    """An agent and a position; `game_move` is the move of a game there, if it is known.

    `by_opening` is whether the move belongs to the opening, so that no agent chose it.
    """

    game: Game
    position: Position
    name: str
    spec: AgentSpec
    game_move: int | None = None
    by_opening: bool = False


def print_explanation(explained: ExplainedPosition, agent: Agent) -> None:
    """Print the board, the choice, every move, the rule and the terms, each when it is known."""
    from agents.search.explanation import (  # noqa: PLC0415
        choice_rule,
        move_values,
        nodes_meaning,
        value_meaning,
    )

    game, position = explained.game, explained.position
    print(game.draw(position), flush=True)
    with ProgressLine() as waiting, watch(waiting.show, lambda: Progress("thinking")):
        choice = agent.choose(position)
    print(
        f"{game.name}, {side_name(game, position)} to move: {headline(explained, choice)}",
        flush=True,
    )
    print(COLUMNS.format("move", "value", "depth", FURTHER, "score", "line"), flush=True)
    moves = []
    for view in with_progress(move_values(agent, game, position, choice)):
        moves.append(view)
        print(move_row(explained, view, choice).rstrip(), flush=True)
    print("score: points that the move adds for the mover and the opponent; * is the choice")
    if any(view.nodes for view in moves):
        print(f"{FURTHER}: {nodes_meaning(agent)}")
    print(f"rule: {choice_rule(agent, moves, choice)}")
    if any(view.bound == "<=" for view in moves):
        print("<=: its search (ProbCut) did not look at the whole tree behind this move")
    if meaning := value_meaning(agent):
        print(f"value: {meaning}")
    if line := game_move_line(explained, choice):
        print(line)
    if epsilon := explained.spec.options.get("epsilon"):
        print(f"epsilon = {epsilon:g}: this share of its moves is random")
    print("\n".join(evaluation_lines(agent, position)), end="")


def with_progress(views: "Iterator[MoveValue]") -> "Iterator[MoveValue]":
    """Yield the values, with a progress line while the next one takes long."""
    with ProgressLine() as line:
        while True:
            with watch(line.show, lambda: Progress("searching each move alone")):
                view = next(views, None)
            line.clear()
            if view is None:
                return
            yield view


def headline(explained: ExplainedPosition, choice: Choice) -> str:
    """Return the choice of the agent."""
    text = explained.game.move_text(explained.position, choice.move)
    nodes = f" after {choice.nodes:,} positions" if choice.nodes else ""
    verb = "would play" if explained.by_opening else "plays"
    return f"{printable(explained.name)} {verb} {text}{nodes}"


def game_move_line(explained: ExplainedPosition, choice: Choice) -> str:
    """Return the move of the game if it is not the agent's choice; else empty."""
    if explained.game_move is None or (
        explained.game_move == choice.move and not explained.by_opening
    ):
        return ""
    text = explained.game.move_text(explained.position, explained.game_move)
    if explained.by_opening:
        return f"in the game this ply belongs to the opening, which played {text}"
    chance = (
        " (random choices of the agent are not repeated here)"
        if randomness_reason(explained.spec)
        else ""
    )
    return f"in the game {text} was played{chance}"


def move_row(explained: ExplainedPosition, view: "MoveValue", choice: Choice) -> str:
    """Return the line of one move, with a mark for the choice."""
    from agents.search.explanation import depth_text  # noqa: PLC0415

    game, position = explained.game, explained.position
    text = game.move_text(position, view.move)
    mark = "*" if view.move == choice.move else ""
    line = game.write(view.line, position) if view.line else ""
    depth = depth_text(view.depth) if view.depth else ""
    nodes = f"{view.nodes:,}" if view.nodes else ""
    score = f"{view.own:+d} {view.theirs:+d}"
    return COLUMNS.format(mark + text, value_text(view), depth, nodes, score, line)


def value_text(view: "MoveValue") -> str:
    """Return a value; the margin of a decided game follows its outcome."""
    if view.value is None:
        return ""
    if not view.decided:
        return view.bound + f"{view.value:+z.3f}".rstrip("0").rstrip(".")
    word = "wins" if view.value > 0 else "loses" if view.value < 0 else "draws"
    return f"{word} {view.bound}{view.value:+z.0f}"


def evaluation_lines(agent: Agent, position: Position) -> Iterator[str]:
    """Return the static evaluation with its terms; a user's evaluation has no terms."""
    from agents.search.compiled_agent import CompiledAgent  # noqa: PLC0415
    from agents.search.explanation import feature_terms, static_value  # noqa: PLC0415

    if own := agent.spec.options.get("evaluate"):
        yield f"its evaluation is {printable(str(own))}, which has no terms\n"
    if (
        not isinstance(agent, CompiledAgent)
        or agent.limit is None
        or agent.user_evaluation is not None
    ):
        return
    yield f"static evaluation of the position: {static_value(agent, position):+.3f}"
    found = list(feature_terms(agent, position))
    if found:
        yield TERMS.format("feature", "weight", "own", "other", "adds")
    for term in found:
        numbers = f"{term.weight:g}", f"{term.own}", f"{term.other}", f"{term.worth:+.3f}"
        yield TERMS.format(term.name, *numbers)
    yield ""


def print_exact_values(game: Game, position: Position, seconds: float) -> None:
    """Print the values of every move that the solver finds within the time."""
    from arena.terminal.human_game import MoveValues, bounds_text  # noqa: PLC0415
    from games.solving.solution import size_warning  # noqa: PLC0415

    if size_warning(game, position):
        print("perfect play: unknown, as the position is too large to solve here")
        return
    known = MoveValues(game, seconds).solve(position)
    print(f"perfect play: {known.bounds.outcome or 'unknown'}, {bounds_text(known.bounds)}")
    print(
        f"  {', '.join(exact_value_texts(game, position, known.moves))}"
        if known.moves
        else "  no move yet"
    )


def exact_value_texts(
    game: Game, position: Position, moves: Sequence[tuple[int, "Bounds"]]
) -> Iterator[str]:
    """Yield every move with its bounds."""
    from arena.terminal.human_game import bounds_text  # noqa: PLC0415

    for move, bounds in moves:
        yield f"{game.move_text(position, move)} {bounds_text(bounds)}"
