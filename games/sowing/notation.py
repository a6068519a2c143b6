"""How people write and draw sowing games: display numbers, Owari pits, one-line positions."""

import re
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

from games.base.text import GameError, quote
from games.core import Position
from games.sowing.rules import (
    FIRST_PLY,
    FIRST_TURN,
    SETTLED,
    SWAP_OPEN,
    SWEEPS,
    TO_ENDER,
    TO_NOBODY,
    Rows,
    SowingRules,
)

SIDES = ("South", "North")
PHASE_WORDS = {FIRST_PLY: "first ply", FIRST_TURN: "first turn", SWAP_OPEN: "swap open"}
SHAPE = (
    'a position is written like "S 4 4 4 4 4 4, N 4 4 4 4 4 4, pots 0-0, South to move" '
    "(rows left to right as on the board)"
)
COUNT = "[0-9]{1,9}"
ROW = rf"{COUNT}(?:\s+{COUNT})*"
LINE = re.compile(
    rf"S\s+(?P<south>{ROW})\s*,\s*N\s+(?P<north>{ROW})\s*,\s*"
    rf"pots\s+(?P<pot>{COUNT})\s*-\s*(?P<north_pot>{COUNT})\s*,\s*"
    r"(?P<mover>South|North)\s+to\s+move(?P<more>(\s*,\s*[a-z ]+)*)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class SowingNotation:
    """The text forms of one sowing game; its state is packed and unpacked by its family."""

    name: str
    rules: SowingRules
    family_name: str

    @property
    def family(self) -> ModuleType:
        """The module that packs and unpacks states; loaded when first needed."""
        return import_module(self.family_name)

    def plain(self, position: Position) -> Rows:
        """The position in plain numbers, the mover's row first, in sowing order."""
        rows: Rows = self.family.unpack(position.state, self.rules.holes)
        return rows

    def move_text(self, position: Position, move: int) -> str:
        """The hole's display number, in Owari its pit on the ring; `swap` for the swap."""
        holes = self.rules.holes
        if move == holes:
            return "swap"
        if self.rules.pits == "ring":
            return str(move + position.side * (holes + 1))
        return str(holes - move if position.side else move + 1)

    def parse_move(self, position: Position, text: str) -> int | None:
        """The hole that the number means on the mover's side of the board."""
        word, holes = text.strip().lower(), self.rules.holes
        if word == "swap" and self.rules.swap == "yes":
            return holes
        if not re.fullmatch(r"[0-9]{1,3}", word):
            return None
        number = int(word)
        if self.rules.pits == "ring":
            hole = number - position.side * (holes + 1)
        else:
            hole = holes - number if position.side else number - 1
        return hole if 0 <= hole < holes else None

    def split(self, text: str) -> list[str]:
        """Moves separated by blanks or commas."""
        return text.replace(",", " ").split()

    def text(self, position: Position) -> str:
        """South's and North's row left to right, the pots, who moves, then phase or swap if any."""
        rows = self.plain(position)
        south, north = _by_side(position, rows)
        words = [
            f"S {_spaced(south[0])}",
            f"N {_spaced(north[0][::-1])}",
            f"pots {south[1]}-{north[1]}",
            f"{SIDES[position.side]} to move",
        ]
        if rows.phase != SETTLED:
            words.append(PHASE_WORDS[rows.phase])
        if position.swapped:
            words.append("sides swapped")
        return ", ".join(words)

    def parse(self, text: str) -> Position:
        """A position set up by hand: only a mover without beans ends the game, and is swept."""
        found = LINE.fullmatch(text.strip())
        if not found:
            raise GameError(f"{self.name}: {SHAPE}, got {quote(text)}")
        south = self._row("South", found["south"])
        north = self._row("North", found["north"])[::-1]
        side = SIDES.index(found["mover"].capitalize())
        phase, swapped = self._specials(found["more"], side)
        sides = (south, int(found["pot"])), (north, int(found["north_pot"]))
        rows = Rows(*sides[side], *sides[1 - side], phase)
        most = self.family.MOST_BEANS
        if rows.total > most:
            raise GameError(f"{self.name}: a position holds at most {most} beans, got {rows.total}")
        if not any(rows.own):
            rows = swept_rows(self.rules, rows)
        return Position(self.family.pack(rows), side ^ swapped, swapped)

    def _row(self, side: str, text: str) -> tuple[int, ...]:
        row = tuple(int(word) for word in text.split())
        if len(row) != self.rules.holes:
            raise GameError(
                f"{self.name}: {side}'s row has {self.rules.holes} holes, got {len(row)} numbers"
            )
        return row

    def _specials(self, text: str, side: int) -> tuple[int, bool]:
        """The phase and whether the players have changed sides."""
        phase, swapped = SETTLED, False
        for word in (part.strip().lower() for part in text.split(",")[1:]):
            if word == "sides swapped" and self.rules.swap == "yes" and not swapped:
                swapped = True
            elif word in self._phases() and phase == SETTLED:
                phase = self._phases()[word]
            else:
                raise GameError(f"{self.name}: {SHAPE}, and {quote(word)} means nothing here")
        if phase != SETTLED and (swapped or side != (phase == SWAP_OPEN)):
            whose = SIDES[phase == SWAP_OPEN]
            raise GameError(
                f'{self.name}: "{PHASE_WORDS[phase]}" is {whose}\'s turn, before any swap; '
                f"got {SIDES[side]} to move{', sides swapped' if swapped else ''}"
            )
        return phase, swapped

    def _phases(self) -> dict[str, int]:
        """The phases that a game under these rules goes through, by their words."""
        last = SWAP_OPEN if self.rules.swap == "yes" else FIRST_PLY
        words = {word: phase for phase, word in PHASE_WORDS.items() if phase <= last}
        return words if self.rules.phased else {}

    def standing(self, position: Position) -> tuple[int, int]:
        """The pots of the first and the second player."""
        rows = self.plain(position)
        pots = (rows.own_pot, rows.other_pot)
        return pots if position.mover == 0 else pots[::-1]

    def score(self, position: Position) -> tuple[int, int]:
        """The pots; the sweep has emptied the rows."""
        return self.standing(position)

    def draw(self, position: Position, names: tuple[str, str] | None) -> str:
        """The board as in the rules: North's row on top, its pot on the left."""
        (south, south_pot), (north, north_pot) = _by_side(position, self.plain(position))
        width = max(len(str(held)) for held in (*north, *south, north_pot, south_pot))
        across = (width + 1) * self.rules.holes - 1
        ring = self.rules.pits == "ring"
        indent = " " * (width + (2 if ring else 3))
        gap = " " * (across + (8 if ring else 4))
        board = [
            indent + _columns(north[::-1], width),
            f"{'' if ring else ' '}{north_pot:>{width}}{gap}{south_pot:>{width}}",
            indent + _columns(south, width),
        ]
        if not ring:
            numbers = indent + _columns(tuple(range(1, self.rules.holes + 1)), width)
            line = " ".join("-" * ((len(board[1]) + 2) // 2))
            board = [numbers, line, *board, line, numbers]
        if names and position.swapped:
            names = names[::-1]
        if names or not ring:
            lower, upper = names or ("South player", "North player")
            board = [upper, *board, " " * (len(indent) + across + 1) + lower]
        return "\n".join(board)


def swept_rows(rules: SowingRules, rows: Rows) -> Rows:
    """A finished position with its rows emptied; the side not to move made the last ply."""
    own, other = sum(rows.own), sum(rows.other)
    if SWEEPS[rules.sweep] == TO_ENDER:
        own, other = 0, own + other
    elif SWEEPS[rules.sweep] == TO_NOBODY:
        own, other = 0, 0
    empty = (0,) * len(rows.own)
    return Rows(empty, rows.own_pot + own, empty, rows.other_pot + other)


def _by_side(position: Position, rows: Rows) -> tuple[tuple[tuple[int, ...], int], ...]:
    """South's row and pot, then North's."""
    sides = (rows.own, rows.own_pot), (rows.other, rows.other_pot)
    return sides if position.side == 0 else sides[::-1]


def _spaced(row: tuple[int, ...]) -> str:
    return " ".join(str(held) for held in row)


def _columns(row: tuple[int, ...], width: int) -> str:
    return " ".join(f"{held:>{width}}" for held in row)
