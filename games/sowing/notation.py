"""Sowing games as text: move numbers, boards, one-line positions, messages, rules."""

import re
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

import games as registry
from games.base.text import GameError, quote
from games.core import Game, Notation, Position, legal_move_texts
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
WHOLE_NUMBER = re.compile(r"-?[0-9]{1,9}")
ENDS = {
    "owner": "beans left in a row go to its owner's pot",
    "ender": "beans left go to the pot of the last mover",
    "nobody": "beans left in the rows do not count",
}


@dataclass(frozen=True)
class SowingNotation(Notation):
    """The text forms of one sowing game; its family converts states to rows."""

    sides = SIDES

    name: str
    rules: SowingRules
    family_name: str

    @property
    def family(self) -> ModuleType:
        """Return the module of the state family; loaded on first use."""
        return import_module(self.family_name)

    def plain(self, position: Position) -> Rows:
        """Return the position in plain numbers, the mover's row first, in sowing order."""
        rows: Rows = self.family.unpack(position.state, self.rules.holes)
        return rows

    def move_text(self, position: Position, move: int) -> str:
        """Return the printed hole number, in Owari the pit on the ring; `swap` for the swap."""
        holes = self.rules.holes
        if move == holes:
            return "swap"
        if self.rules.pits == "ring":
            return str(move + position.side * (holes + 1))
        return str(holes - move if position.side else move + 1)

    def parse_move(self, position: Position, text: str) -> int | None:
        """Return the hole that a printed number means on the mover's side of the board."""
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
        """Split moves at spaces or commas."""
        return text.replace(",", " ").split()

    def text(self, position: Position) -> str:
        """Return rows left to right, pots and mover, then the phase and `sides swapped` if any."""
        rows = self.plain(position)
        south, north = _by_side(position, rows)
        words = [
            f"S {_join_row(south[0])}",
            f"N {_join_row(north[0][::-1])}",
            f"pots {south[1]}-{north[1]}",
            f"{SIDES[position.side]} to move",
        ]
        if rows.phase != SETTLED:
            words.append(PHASE_WORDS[rows.phase])
        if position.swapped:
            words.append("sides swapped")
        return ", ".join(words)

    def parse(self, text: str) -> Position:
        """Parse a position. If the mover has no beans, the game is over and the rows are swept."""
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
            rows = sweep_rows(self.rules, rows)
        return Position(self.family.pack(rows), side ^ swapped, swapped)

    def _row(self, side: str, text: str) -> tuple[int, ...]:
        row = tuple(int(word) for word in text.split())
        if len(row) != self.rules.holes:
            raise GameError(
                f"{self.name}: {side}'s row has {self.rules.holes} holes, got {len(row)} numbers"
            )
        return row

    def _specials(self, text: str, side: int) -> tuple[int, bool]:
        """Return the phase, and whether the players have swapped sides."""
        phase, swapped = SETTLED, False
        for word in (part.strip().lower() for part in text.split(",")[1:]):
            if word == "sides swapped" and self.rules.swap == "yes" and not swapped:
                swapped = True
            elif word in self._phases() and phase == SETTLED:
                phase = self._phases()[word]
            else:
                raise GameError(
                    f"{self.name}: {SHAPE}, and {quote(word)} is not a phase of this game"
                )
        if phase != SETTLED and (swapped or side != (phase == SWAP_OPEN)):
            whose = SIDES[phase == SWAP_OPEN]
            raise GameError(
                f'{self.name}: "{PHASE_WORDS[phase]}" needs {whose} to move and no swap before, '
                f"got {SIDES[side]} to move{', sides swapped' if swapped else ''}"
            )
        return phase, swapped

    def _phases(self) -> dict[str, int]:
        """Return the phases that games under these rules can have, by their names."""
        last = SWAP_OPEN if self.rules.swap == "yes" else FIRST_PLY
        words = {word: phase for phase, word in PHASE_WORDS.items() if phase <= last}
        return words if self.rules.has_phases else {}

    def current_score(self, position: Position) -> tuple[int, int]:
        """Return the pots of the first and the second player."""
        rows = self.plain(position)
        pots = (rows.own_pot, rows.other_pot)
        return pots if position.mover == 0 else pots[::-1]

    def score(self, position: Position) -> tuple[int, int]:
        """Return the pots; the sweep has emptied the rows."""
        return self.current_score(position)

    def draw(self, position: Position, names: tuple[str, str] | None) -> str:
        """Draw the board: North's row on top, its pot on the left."""
        (south, south_pot), (north, north_pot) = _by_side(position, self.plain(position))
        width = max(len(str(beans)) for beans in (*north, *south, north_pot, south_pot))
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

    def _own_holes(self, game: Game, position: Position) -> list[int]:
        """Return the printed numbers of the mover's holes, ascending."""
        return sorted(int(game.move_text(position, move)) for move in range(self.rules.holes))

    @property
    def _hole_word(self) -> str:
        return "pit" if self.rules.pits == "ring" else "hole"

    def move_noun(self, game: Game, position: Position) -> str:
        """Return a noun such as `hole (1 to 6)`, with the swap where it is legal."""
        holes = self._own_holes(game, position)
        span = f"{holes[0]} to {holes[-1]}" if len(holes) > 1 else str(holes[0])
        swap = " or swap" if game.swap_move in game.legal(position) else ""
        return f"{self._hole_word} ({span}){swap}"

    def refusal(self, game: Game, position: Position, answer: str, move: int | None) -> str:
        """Return why the answer is not a legal hole."""
        word, noun, holes = self._hole_word, self.move_noun(game, position), self.rules.holes
        if move is not None:
            if move == game.swap_move:
                return f"swap is only for North's first turn: choose a {noun}"
            return f"{word} {answer} is empty: choose from {legal_move_texts(game, position)}"
        if not WHOLE_NUMBER.fullmatch(answer):
            return f"{quote(answer)} is not the number of a {word}: choose a {noun}"
        ring = self.rules.pits == "ring"
        if int(answer) in ((holes, 2 * holes + 1) if ring else (0,)):
            return f"{answer} is a pot, whose beans cannot be sown: choose a {noun}"
        if ring and 0 <= int(answer) <= 2 * holes:
            return f"pit {answer} is {SIDES[1 - position.side]}'s: choose a {noun}"
        return f"there is no {word} {answer}: choose a {noun}"

    def end_gains(self, game: Game, position: Position, move: int) -> tuple[int, int]:
        """Return the beans that the last move swept into the first and the second player's pot.

        They are the difference to the same move under `sweep=nobody`, where they do not count.
        """
        unswept = registry.game(re.sub(r"(,sweep=[a-z]+)?\)$", ",sweep=nobody)", self.name))
        left = unswept.raw_score(unswept.play(position, move))
        final = game.raw_score(game.play(position, move))
        return final[0] - left[0], final[1] - left[1]

    def rule_lines(self, game: Game) -> tuple[str, ...]:
        """Describe how this game is played."""
        rules, word = self.rules, self._hole_word
        pots = "both pots" if rules.opponent_pot == "yes" else "your own pot, not the other's"
        skipped = f", skipping the {word} it began in" if rules.skip_start == "yes" else ""
        return (
            f"Each side has {rules.holes} {word}s of {rules.beans} beans; South's row is below.",
            f"A move sows all beans of one of your {word}s counterclockwise, one into each {word} "
            f"and into {pots}{skipped}.",
            self._turn_line(),
            self._capture_line(),
            self._end_line(),
        )

    def _turn_line(self) -> str:
        again = "If your last bean falls into your own pot, you move again"
        line = {
            "yes": f"{again}.",
            "no": "Then it is the other side's turn, wherever the last bean falls.",
            "not-first": f"{again}, except on the first move.",
        }[self.rules.extra_turn]
        swap = " North may swap sides on its first turn."
        return line + swap if self.rules.swap == "yes" else line

    def _capture_line(self) -> str:
        rules, word = self.rules, self._hole_word
        if rules.capture == "none":
            return "Nothing is captured."
        needs = rules.capture_needs_nonempty == "yes"
        opposite = f", and the {word} opposite has beans" if needs else ""
        taken = "it and the beans" if rules.capture == "both" else "the beans"
        where = f"an empty {word} of yours{opposite}"
        return f"If the last bean falls into {where}, {taken} opposite go to your pot."

    def _end_line(self) -> str:
        rules = self.rules
        whose = "a row" if rules.end_when == "either" else "the row of the side to move"
        half = (
            ", or one pot has more than half of the beans" if rules.majority_ends == "yes" else ""
        )
        end = f"The game ends when {whose} is empty{half}"
        return f"{end}; then {ENDS[rules.sweep]}. The player with more beans in the pot wins."


def sweep_rows(rules: SowingRules, rows: Rows) -> Rows:
    """Return a finished position with empty rows; the mover's opponent made the last ply."""
    own, other = sum(rows.own), sum(rows.other)
    if SWEEPS[rules.sweep] == TO_ENDER:
        own, other = 0, own + other
    elif SWEEPS[rules.sweep] == TO_NOBODY:
        own, other = 0, 0
    empty = (0,) * len(rows.own)
    return Rows(empty, rows.own_pot + own, empty, rows.other_pot + other)


def _by_side(position: Position, rows: Rows) -> tuple[tuple[tuple[int, ...], int], ...]:
    """Return South's row and pot, then North's."""
    sides = (rows.own, rows.own_pot), (rows.other, rows.other_pot)
    return sides if position.side == 0 else sides[::-1]


def _join_row(row: tuple[int, ...]) -> str:
    return " ".join(str(beans) for beans in row)


def _columns(row: tuple[int, ...], width: int) -> str:
    return " ".join(f"{beans:>{width}}" for beans in row)
