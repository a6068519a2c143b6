"""What people are told about a game: its sides, the move it asks for, why an answer is no move."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from games import Game, IllegalMove, Position, game
from games.names import quoted

WHOLE_NUMBER = re.compile(r"-?[0-9]{1,9}")


class Words(NamedTuple):
    """What one package of games says; `why_not` gets an answer and the move it means, if any."""

    sides: tuple[str, str]
    asked_for: Callable[[Game, Position], str]
    why_not: Callable[[Game, Position, str, int | None], str]


def words_of(of: Game) -> Words:
    """The words of this game; plain ones for a package that has none of its own."""
    return WORDS.get(of.family_name.split(".")[1], PLAIN)


def side_name(of: Game, position: Position) -> str:
    """The side of the board that is to move, as players call it."""
    return words_of(of).sides[position.side]


def legal_texts(of: Game, position: Position) -> str:
    """The legal moves in one line, as they are written on the board; numbers ascend."""
    texts = [of.move_text(position, move) for move in of.legal(position)]
    return " ".join(sorted(texts, key=lambda text: int(text) if text.isdigit() else 99))


# ---------------------------------------------------------------------- sowing


def own_holes(of: Game, position: Position) -> list[int]:
    """The numbers on the board of the mover's holes, ascending."""
    return sorted(int(of.move_text(position, move)) for move in range(of.rules.holes))


def hole_word(of: Game) -> str:
    """What the numbers on the board count."""
    return "pit" if of.rules.pits == "ring" else "hole"


def hole_asked_for(of: Game, position: Position) -> str:
    """Such as `hole (1 to 6)`; the swap is named where it can be played."""
    holes = own_holes(of, position)
    span = f"{holes[0]} to {holes[-1]}" if len(holes) > 1 else str(holes[0])
    swap = " or swap" if of.swap_move in of.legal(position) else ""
    return f"{hole_word(of)} ({span}){swap}"


def why_no_hole(of: Game, position: Position, answer: str, move: int | None) -> str:
    """What is wrong with a hole that cannot be sown."""
    word, asked = hole_word(of), hole_asked_for(of, position)
    if move is not None:
        if move == of.swap_move:
            return f"swap is only for North's first turn: choose a {asked}"
        return f"{word} {answer} is empty; not empty: {legal_texts(of, position)}"
    if not WHOLE_NUMBER.fullmatch(answer):
        return f"{quoted(answer)} is not the number of a {word}: choose a {asked}"
    if int(answer) in pot_numbers(of):
        return f"{answer} is a pot, its beans stay there: choose a {asked}"
    if of.rules.pits == "ring" and 0 <= int(answer) <= 2 * of.rules.holes:
        other = WORDS["sowing"].sides[1 - position.side]
        return f"pit {answer} is {other}'s: choose a {asked}"
    return f"there is no {word} {answer}: choose a {asked}"


def pot_numbers(of: Game) -> tuple[int, ...]:
    """The numbers by which people call the pots."""
    holes = of.rules.holes
    return (holes, 2 * holes + 1) if of.rules.pits == "ring" else (0,)


def swept_beans(of: Game, before: Position, move: int) -> tuple[int, int]:
    """Beans that the end swept to the first and the second player's pot, after the last move.

    The same move in the same game without a sweep shows what was left in the rows.
    """
    if of.family_name.split(".")[1] != "sowing":
        return 0, 0
    unswept = game(re.sub(r"(,sweep=[a-z]+)?\)$", ",sweep=nobody)", of.name))
    left = unswept.raw_score(unswept.play(before, move))
    final = of.raw_score(of.play(before, move))
    return final[0] - left[0], final[1] - left[1]


# --------------------------------------------------------------------- othello


def square_asked_for(of: Game, position: Position) -> str:
    """Such as `square (a1 to h8)`."""
    return f"square (a1 to {of.move_text(position, of.rules.cells - 1)})"


def why_no_square(of: Game, position: Position, answer: str, move: int | None) -> str:
    """What is wrong with a square where no disc can be put."""
    playable = f"playable: {legal_texts(of, position)}"
    if move is None:
        return f"{quoted(answer)} is not a {square_asked_for(of, position)}; {playable}"
    if move == of.pass_move:
        return f"you may pass only when you have no move; {playable}"
    discs, square = of.plain(position), of.move_text(position, move)
    if move in discs.own or move in discs.other:
        return f"{square} is taken; {playable}"
    wrong = "touches no disc" if of.rules.adjacency else "turns no disc"
    return f"a disc on {square} {wrong}; {playable}"


# ------------------------------------------------------------------- any other


def move_asked_for(of: Game, position: Position) -> str:
    """A game we know nothing else about asks for a move."""
    return "move"


def why_no_move(of: Game, position: Position, answer: str, move: int | None) -> str:
    """The game's own refusal."""
    try:
        of.parse_move(position, answer)
    except IllegalMove as error:
        return str(error)
    return f"{quoted(answer)} is not legal"


PLAIN = Words(("first", "second"), move_asked_for, why_no_move)
WORDS: Mapping[str, Words] = {
    "sowing": Words(("South", "North"), hole_asked_for, why_no_hole),
    "othello": Words(("X", "O"), square_asked_for, why_no_square),
}
