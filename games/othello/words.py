"""The words of Othello: its squares, why a disc cannot be put on one."""

from games.base.text import quote
from games.core import Game, Position, Words, legal_texts


def square_noun(of: Game, position: Position) -> str:
    """Such as `square (a1 to h8)`."""
    return f"square (a1 to {of.move_text(position, of.rules.cells - 1)})"


def why_no_square(of: Game, position: Position, answer: str, move: int | None) -> str:
    """What is wrong with a square where no disc can be put."""
    playable = f"playable: {legal_texts(of, position)}"
    if move is None:
        return f"{quote(answer)} is not a {square_noun(of, position)}; {playable}"
    if move == of.pass_move:
        return f"you may pass only when you have no move; {playable}"
    discs, square = of.plain(position), of.move_text(position, move)
    if move in discs.own or move in discs.other:
        return f"{square} is taken; {playable}"
    wrong = "touches no disc" if of.rules.adjacency else "turns no disc"
    return f"a disc on {square} {wrong}; {playable}"


def rule_lines(of: Game) -> tuple[str, ...]:
    """How this game is played."""
    place = "It must trap at least one line of the other's discs between itself and one of yours."
    if of.rules.adjacency:
        sides = "" if of.rules.adjacency == 8 else " by a side, not only a corner"
        place = f"It must touch another disc{sides}; it need not trap any."
    return (
        "X moves first. A move puts a disc of yours on an empty square.",
        place,
        "All discs trapped in straight lines, diagonals too, turn to your colour.",
        "Who has no move passes.",
        "The game ends when neither can move; most discs win.",
    )


WORDS = Words(("X", "O"), square_noun, why_no_square, rule=rule_lines)
