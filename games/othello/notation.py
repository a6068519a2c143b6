"""How people write and draw Othello: squares from a1 at the top left, one-line positions."""

import re
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

from games.base.text import GameError, quote
from games.core import Position
from games.othello.rules import Discs, OthelloRules

BLACK, WHITE, EMPTY = "XO-"
READ = str.maketrans("*xBboW0w.", "XXXXOOOO-")
SQUARE = re.compile(r"([a-p])(1[0-6]|[1-9])")
PASSES = ("pass", "pa", "--")


@dataclass(frozen=True)
class OthelloNotation:
    """The text forms of one Othello game; its state is packed and unpacked by its family."""

    name: str
    rules: OthelloRules
    family_name: str

    @property
    def family(self) -> ModuleType:
        """The module that packs and unpacks states; loaded when first needed."""
        return import_module(self.family_name)

    def plain(self, position: Position) -> Discs:
        """The mover's squares and the other side's."""
        discs: Discs = self.family.unpack(position.state, self.rules.size)
        return discs

    def colours(self, position: Position) -> tuple[frozenset[int], frozenset[int]]:
        """Black's squares and White's."""
        discs = self.plain(position)
        return (discs.own, discs.other) if position.mover == 0 else (discs.other, discs.own)

    def move_text(self, position: Position, move: int) -> str:
        """The square, column letter first, or `pass`."""
        if move == self.rules.cells:
            return "pass"
        row, col = divmod(move, self.rules.size)
        return f"{chr(ord('a') + col)}{row + 1}"

    def parse_move(self, position: Position, text: str) -> int | None:
        """The square that `text` means, in either case."""
        word = text.strip().lower()
        if word in PASSES:
            return self.rules.cells
        found = SQUARE.fullmatch(word)
        if not found:
            return None
        col, row = ord(found[1]) - ord("a"), int(found[2]) - 1
        return row * self.rules.size + col if max(row, col) < self.rules.size else None

    def split(self, text: str) -> list[str]:
        """Moves separated by blanks or commas, or squares written without a gap."""
        words: list[str] = []
        for word in text.replace(",", " ").split():
            glued = re.fullmatch(r"(?:[a-pA-P](?:1[0-6]|[1-9])){2,}", word)
            words += re.findall(r"[a-pA-P](?:1[0-6]|[1-9])", word) if glued else [word]
        return words

    def text(self, position: Position) -> str:
        """All squares row by row from a1, a blank, and the side to move."""
        return f"{self._squares(position)} {'XO'[position.mover]}"

    def _squares(self, position: Position) -> str:
        black, white = self.colours(position)
        return "".join(
            BLACK if square in black else WHITE if square in white else EMPTY
            for square in range(self.rules.cells)
        )

    def parse(self, text: str) -> Position:
        """A position set up by hand; blanks between rows are allowed."""
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

    def standing(self, position: Position) -> tuple[int, int]:
        """Discs of Black and White."""
        black, white = self.colours(position)
        return len(black), len(white)

    def score(self, position: Position) -> tuple[int, int]:
        """Discs of Black and White; empty squares go to the winner, half to each in a tie."""
        black, white = self.standing(position)
        empties = self.rules.cells - black - white
        if black == white:
            return black + empties // 2, white + empties // 2
        return (black + empties, white) if black > white else (black, white + empties)

    def draw(self, position: Position, names: tuple[str, str] | None) -> str:
        """The board with its letters and numbers, and who plays which disc."""
        size, squares = self.rules.size, self._squares(position)
        letters = "   " + " ".join(chr(ord("a") + col) for col in range(size))
        lines = [letters]
        for row in range(size):
            lines.append(f"{row + 1:>2} " + " ".join(squares[row * size : (row + 1) * size]))
        black, white = self.standing(position)
        first, second = names or ("Black", "White")
        return "\n".join([*lines, f"{BLACK} {first}: {black}   {WHITE} {second}: {white}"])
