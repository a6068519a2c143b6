"""The words of sowing games: holes or pits, pots, the sweep at the end."""

import re

from games import game
from games.base.text import quote
from games.core import Game, Position, Words, legal_texts

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
        return f"{quote(answer)} is not the number of a {word}: choose a {noun}"
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


ENDS = {
    "owner": "beans left in a row go to its owner's pot",
    "ender": "beans left go to the pot of whoever moved last",
    "nobody": "beans left in the rows count for nobody",
}


def rule_lines(of: Game) -> tuple[str, ...]:
    """How this game is played."""
    rules, word = of.rules, hole_word(of)
    pots = "both pots" if rules.opponent_pot == "yes" else "your own pot but not the other's"
    skipped = f", skipping the {word} it began in" if rules.skip_start == "yes" else ""
    return (
        f"Each side has {rules.holes} {word}s of {rules.beans} beans; South's row is below.",
        f"A move sows all beans of one of your {word}s, one by one counterclockwise, into {pots}"
        f"{skipped}.",
        _turn_line(of),
        _capture_line(of),
        _end_line(of),
    )


def _turn_line(of: Game) -> str:
    rules = of.rules
    again = "If your last bean falls into your own pot, you move again"
    line = {
        "yes": f"{again}.",
        "no": "Then it is the other side's turn, wherever the last bean falls.",
        "not-first": f"{again}, save on the first move.",
    }[rules.extra_turn]
    return f"{line} North may swap sides on its first turn." if rules.swap == "yes" else line


def _capture_line(of: Game) -> str:
    rules, word = of.rules, hole_word(of)
    if rules.capture == "none":
        return "Nothing is captured."
    which = " and the one opposite is not" if rules.capture_needs_nonempty == "yes" else ""
    taken = "it and the beans" if rules.capture == "both" else "the beans"
    where = f"a {word} of yours that was empty{which}"
    return f"If the last bean falls into {where}, {taken} opposite go to your pot."


def _end_line(of: Game) -> str:
    rules = of.rules
    whose = "a row" if rules.end_when == "either" else "the row of the side to move"
    half = ", or one pot has more than half of the beans" if rules.majority_ends == "yes" else ""
    return f"The game ends when {whose} is empty{half}: {ENDS[rules.sweep]}; most beans win."


WORDS = Words(SIDES, hole_noun, why_no_hole, swept_beans, rule_lines)
