"""Othello as text: squares from a1 at the top left, one-line positions, messages, rules."""

import re
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

from games.base.text import GameError, quote
from games.core import Game, Notation, Position, legal_move_texts
from games.othello.rules import Discs, OthelloRules

BLACK, WHITE, EMPTY = "XO-"
READ = str.maketrans("*xBboW0w.", "XXXXOOOO-")
SQUARE = re.compile(r"([a-p])(1[0-6]|[1-9])")
PASSES = ("pass", "pa", "--")


@dataclass(frozen=True)
class OthelloNotation(Notation):
    """The text forms of one Othello game; its family converts states to discs."""

    sides = ("X", "O")

    name: str
    rules: OthelloRules
    family_name: str

    @property
    def family(self) -> ModuleType:
        """Return the module of the state family; loaded on first use."""
        return import_module(self.family_name)

    def plain(self, position: Position) -> Discs:
        """Return the squares of the mover and of the opponent."""
        discs: Discs = self.family.unpack(position.state, self.rules.size)
        return discs

    def colours(self, position: Position) -> tuple[frozenset[int], frozenset[int]]:
        """Return the squares of Black and of White."""
        discs = self.plain(position)
        return (discs.own, discs.other) if position.mover == 0 else (discs.other, discs.own)

    def move_text(self, position: Position, move: int) -> str:
        """Return the square, column letter first, or `pass`."""
        if move == self.rules.cells:
            return "pass"
        row, col = divmod(move, self.rules.size)
        return f"{chr(ord('a') + col)}{row + 1}"

    def parse_move(self, position: Position, text: str) -> int | None:
        """Return the square of a text, in upper or lower case."""
        word = text.strip().lower()
        if word in PASSES:
            return self.rules.cells
        found = SQUARE.fullmatch(word)
        if not found:
            return None
        col, row = ord(found[1]) - ord("a"), int(found[2]) - 1
        return row * self.rules.size + col if max(row, col) < self.rules.size else None

    def split(self, text: str) -> list[str]:
        """Split moves at spaces or commas, or squares written without a gap."""
        words: list[str] = []
        for word in text.replace(",", " ").split():
            glued = re.fullmatch(r"(?:[a-pA-P](?:1[0-6]|[1-9])){2,}", word)
            words += re.findall(r"[a-pA-P](?:1[0-6]|[1-9])", word) if glued else [word]
        return words

    def text(self, position: Position) -> str:
        """Return all squares row by row from a1, a space, and the side to move."""
        return f"{self._squares(position)} {'XO'[position.mover]}"

    def _squares(self, position: Position) -> str:
        black, white = self.colours(position)
        return "".join(
            BLACK if square in black else WHITE if square in white else EMPTY
            for square in range(self.rules.cells)
        )

    def parse(self, text: str) -> Position:
        """Parse a position; spaces between rows are allowed."""
        words = text.split()
        squares = "".join(words[:-1]).translate(READ)
        mover = words[-1].translate(READ) if words else ""
        if len(squares) != self.rules.cells or mover not in (BLACK, WHITE):
            raise GameError(
                f"{self.name}: a position is {self.rules.cells} squares of X, O and - row by row "
                f"and then the side to move, X or O, got {len(squares)} squares and "
                f"{quote(words[-1] if words else '')}"
            )
        if strange := set(squares) - {BLACK, WHITE, EMPTY}:
            raise GameError(f"{self.name}: squares are X, O or -, got {quote(sorted(strange)[0])}")
        sides = [
            frozenset(place for place, held in enumerate(squares) if held == disc)
            for disc in (BLACK, WHITE)
        ]
        side = (BLACK, WHITE).index(mover)
        state = self.family.pack(Discs(sides[side], sides[1 - side]), self.rules.size)
        return Position(state, side)

    def current_score(self, position: Position) -> tuple[int, int]:
        """Return the discs of Black and White."""
        black, white = self.colours(position)
        return len(black), len(white)

    def score(self, position: Position) -> tuple[int, int]:
        """Return the discs; empty squares go to the winner, half to each in a tie."""
        black, white = self.current_score(position)
        empties = self.rules.cells - black - white
        if black == white:
            return black + empties // 2, white + empties // 2
        return (black + empties, white) if black > white else (black, white + empties)

    def draw(self, position: Position, names: tuple[str, str] | None) -> str:
        """Draw the board with its letters and numbers and the discs of each player."""
        size, squares = self.rules.size, self._squares(position)
        letters = "   " + " ".join(chr(ord("a") + col) for col in range(size))
        lines = [letters]
        for row in range(size):
            lines.append(f"{row + 1:>2} " + " ".join(squares[row * size : (row + 1) * size]))
        black, white = self.current_score(position)
        first, second = names or ("Black", "White")
        return "\n".join([*lines, f"{BLACK} {first}: {black}   {WHITE} {second}: {white}"])

    def move_noun(self, game: Game, position: Position) -> str:
        """Return a noun such as `square (a1 to h8)`."""
        return f"square (a1 to {game.move_text(position, self.rules.cells - 1)})"

    def refusal(self, game: Game, position: Position, answer: str, move: int | None) -> str:
        """Return why a disc cannot be placed there."""
        playable = f"playable: {legal_move_texts(game, position)}"
        if move is None:
            return f"{quote(answer)} is not a {self.move_noun(game, position)}; {playable}"
        if move == game.pass_move:
            return f"you may pass only when you have no move; {playable}"
        discs, square = game.plain(position), game.move_text(position, move)
        if move in discs.own or move in discs.other:
            return f"{square} is taken; {playable}"
        wrong = "touches no disc" if self.rules.adjacency else "flips no disc"
        return f"a disc on {square} {wrong}; {playable}"

    def rule_lines(self, game: Game) -> tuple[str, ...]:
        """Describe how this game is played."""
        place = (
            "It must trap at least one line of the other's discs between itself and one of yours."
        )
        if self.rules.adjacency:
            sides = "" if self.rules.adjacency == 8 else " by a side, not only a corner"
            place = f"It must touch another disc{sides}; it need not trap any."
        return (
            "X moves first. A move puts a disc of yours on an empty square.",
            place,
            "All discs that it traps in straight lines, diagonals too, become yours.",
            "A player without a move passes.",
            "The game ends when neither can move; most discs win.",
        )
