"""The words of sowing games: holes or pits, pots, the sweep at the end."""

import re

from games import game
from games.core import Game
from games.names import quoted
from games.position import Position
from games.words import Words, legal_texts

WHOLE_NUMBER = re.compile(r"-?[0-9]{1,9}")
SIDES = ("South", "North")


def own_holes(of: Game, position: Position) -> list[int]:
    """The numbers on the board of the mover's holes, ascending."""
    return sorted(int(of.move_text(position, move)) for move in range(of.rules.holes))


def hole_word(of: Game) -> str:
    """The noun for what the numbers on the board count."""
    return "pit" if of.rules.pits == "ring" else "hole"


def hole_noun(of: Game, position: Position) -> str:
    """Such as `hole (1 to 6)`; the swap is named where it can be played."""
    holes = own_holes(of, position)
    span = f"{holes[0]} to {holes[-1]}" if len(holes) > 1 else str(holes[0])
    swap = " or swap" if of.swap_move in of.legal(position) else ""
    return f"{hole_word(of)} ({span}){swap}"


def why_no_hole(of: Game, position: Position, answer: str, move: int | None) -> str:
    """What is wrong with a hole that cannot be sown."""
    word, noun = hole_word(of), hole_noun(of, position)
    if move is not None:
        if move == of.swap_move:
            return f"swap is only for North's first turn: choose a {noun}"
        return f"{word} {answer} is empty; not empty: {legal_texts(of, position)}"
    if not WHOLE_NUMBER.fullmatch(answer):
        return f"{quoted(answer)} is not the number of a {word}: choose a {noun}"
    if int(answer) in pot_numbers(of):
        return f"{answer} is a pot, its beans stay there: choose a {noun}"
    if of.rules.pits == "ring" and 0 <= int(answer) <= 2 * of.rules.holes:
        other = SIDES[1 - position.side]
        return f"pit {answer} is {other}'s: choose a {noun}"
    return f"there is no {word} {answer}: choose a {noun}"


def pot_numbers(of: Game) -> tuple[int, ...]:
    """The numbers by which people call the pots."""
    holes = of.rules.holes
    return (holes, 2 * holes + 1) if of.rules.pits == "ring" else (0,)


def swept_beans(of: Game, position: Position, move: int) -> tuple[int, int]:
    """Beans that were swept into the first and the second player's pot after the last move.

    The same move in the same game without a sweep shows what was left in the rows.
    """
    unswept = game(re.sub(r"(,sweep=[a-z]+)?\)$", ",sweep=nobody)", of.name))
    left = unswept.raw_score(unswept.play(position, move))
    final = of.raw_score(of.play(position, move))
    return final[0] - left[0], final[1] - left[1]


WORDS = Words(SIDES, hole_noun, why_no_hole, swept_beans)
