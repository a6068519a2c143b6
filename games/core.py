"""Game, Position and Notation: pure functions of positions."""

import importlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, wraps
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, TypeVarTuple, overload

import numpy as np
from numpy.typing import NDArray

from games import parts as packs
from games.base.errors import UserError
from games.base.text import listed, quote
from games.kernels.context import PASS, Context

Arguments = TypeVarTuple("Arguments")
Made = TypeVar("Made")
# A position in plain Python numbers; every notation has a form of its own.
Plain: TypeAlias = Any
Numbers = Sequence[int] | NDArray[np.integer[Any]]
Translation = NDArray[np.int16]


def once(function: Callable[[*Arguments], Made]) -> Callable[[*Arguments], Made]:
    """As `functools.cache`, but two threads that ask together get the same object."""
    lock, cached = threading.RLock(), cache(function)

    @wraps(function)
    def made(*arguments: *Arguments) -> Made:
        with lock:
            return cached(*arguments)

    return made


class Position(NamedTuple):
    """A state as its mover sees it, the mover, and whether the players have swapped sides."""

    state: Any  # a family's named tuple
    mover: int
    swapped: bool = False

    @property
    def side(self) -> int:
        """The side of the board to move: 0 South or Black, 1 North or White."""
        return self.mover ^ self.swapped


class Notation(Protocol):
    """How people write the moves and positions of a game."""

    def move_text(self, position: Position, move: int) -> str:
        """The move as it is printed on the board."""

    def parse_move(self, position: Position, text: str) -> int | None:
        """The move that `text` means, legal or not; `None` if it means none."""

    def split(self, text: str) -> list[str]:
        """The moves of a written game, one by one."""

    def text(self, position: Position) -> str:
        """The position in one line that `parse` reads back."""

    def parse(self, text: str) -> Position:
        """The position written in `text`; a GameError says what is wrong with it."""

    def draw(self, position: Position, names: tuple[str, str] | None) -> str:
        """The board as people draw it, with the names of the first and second player."""

    def standing(self, position: Position) -> tuple[int, int]:
        """The beans in the pots, or discs on the board, of the first and the second player."""

    def score(self, position: Position) -> tuple[int, int]:
        """The reported score of a finished game."""

    def plain(self, position: Position) -> Plain:
        """The position in plain Python numbers, the mover's first."""


class IllegalMove(ValueError):  # noqa: N818  # the word of the domain, as in `IndexError`'s family
    """A move that the position does not allow; the message says what it allows."""


class MoveError(UserError, ValueError):
    """A move of a written game that is unreadable or illegal, with its ply and what was legal."""

    def __init__(self, ply: int, move: str, legal: Sequence[str], why: str) -> None:
        """`ply` counts from 1."""
        self.ply, self.move, self.legal = ply, move, tuple(legal)
        allowed = f"legal: {' '.join(legal)}" if legal else "the game is over"
        super().__init__(f"ply {ply}: {quote(move)} {why}; {allowed}")


@cache
def kernels(family: str) -> SimpleNamespace:
    """The compiled drivers of a family, given by its module's name; loaded when first needed."""
    from games.kernels import drivers, jit  # noqa: PLC0415  # Numba loads only for a game

    return jit.bound(family, drivers.of_family)


def _looked_up(table: Translation, numbers: int | Numbers) -> int | Translation:
    if isinstance(numbers, int):  # for NumPy's integers kernels would be compiled again
        return int(table[numbers])
    translated: Translation = table[np.asarray(numbers, np.intp)]
    return translated


@dataclass(frozen=True, eq=False)
class Game:
    """One game with its sizes and rules fixed: pure functions of positions."""

    name: str
    rules: Any
    family_name: str
    notation: Notation
    pass_move: int | None = None
    swap_move: int | None = None
    source: Path | None = None  # the user's file that holds the rules
    digest: str = ""  # of that file

    def __reduce__(self) -> tuple[Callable[..., "Game"], tuple[str | Path, ...]]:
        """Games travel between processes by name."""
        from games import game  # noqa: PLC0415  # the table of games is above us

        if self.source is None:
            return game, (self.name,)
        return _reloaded, (self.name, self.source, self.digest)

    def __str__(self) -> str:
        return self.name

    @cached_property
    def package(self) -> str:
        """The module of the game's pack, such as "games.sowing"."""
        return packs.package_of(self.family_name)

    @property
    def pack(self) -> str:
        """The name of the game's pack, such as "sowing"."""
        return self.package.rpartition(".")[2]

    def has(self, role: str) -> bool:
        """Whether the pack has this optional part, one of `games.pack.PARTS`."""
        return packs.has(self.package, role)

    def part(self, role: str) -> ModuleType:
        """The module of an optional part; MissingPart says what needs it and what to write."""
        return packs.part(self.package, role, self.name)

    def missing(self, role: str) -> packs.MissingPart:
        """The error for a part that the pack does not have."""
        return packs.missing(self.package, role, self.name)

    @property
    def defaults(self) -> packs.Defaults:
        """The weights and the endgame threshold that come with the pack."""
        return packs.defaults(self.package, self.name)

    @cached_property
    def all_features(self) -> tuple[str, ...]:
        """Every feature of the pack; a weight stands at its place in this order."""
        return packs.features(self.package, self.name)

    @cached_property
    def features(self) -> tuple[str, ...]:
        """The features that mean something under the rules of this game."""
        needs = getattr(importlib.import_module(self.package), "FEATURE_NEEDS", {})
        return tuple(
            name for name in self.all_features if name not in needs or needs[name](self.rules)
        )

    @cached_property
    def family(self) -> ModuleType:
        """The module of the state on which this game is played."""
        return importlib.import_module(self.family_name)

    @cached_property
    def context(self) -> Context:
        """The rules as kernels read them; copy it for a kernel that counts."""
        made: Context = self.family.make_context(self.rules)
        return made

    @cached_property
    def slots(self) -> tuple[int, ...]:
        """The kernel's slot of every move number, ascending; a pass has none."""
        return tuple(self.family.slots(self.rules))

    @cached_property
    def _slot_by_move(self) -> Translation:
        return np.array([*self.slots, PASS], np.int16)  # a pass has the number after the last move

    @cached_property
    def _move_by_slot(self) -> Translation:
        moves = np.full(max(self.slots) + 2, -1, np.int16)
        moves[list(self.slots)] = np.arange(len(self.slots))
        moves[PASS] = -1 if self.pass_move is None else self.pass_move
        return moves

    @overload
    def slots_of(self, moves: int) -> int: ...
    @overload
    def slots_of(self, moves: Numbers) -> Translation: ...
    def slots_of(self, moves: int | Numbers) -> int | Translation:
        """The kernel's slots of move numbers; a forced pass is PASS."""
        return _looked_up(self._slot_by_move, moves)

    @overload
    def moves_of(self, slots: int) -> int: ...
    @overload
    def moves_of(self, slots: Numbers) -> Translation: ...
    def moves_of(self, slots: int | Numbers) -> int | Translation:
        """The move numbers of kernel slots; -1 for a slot that the game does not have."""
        return _looked_up(self._move_by_slot, slots)

    def start(self) -> Position:
        """The position before the first move."""
        return self._start

    @cached_property
    def _start(self) -> Position:
        return Position(self.family.start(self.rules), 0)

    def mover(self, position: Position) -> int:
        """The player to move: 0 moved first in the game, 1 second."""
        return position.mover

    def legal(self, position: Position) -> tuple[int, ...]:
        """The legal moves, ascending; a forced pass is the only one; none when the game is over."""
        slots = np.empty(
            len(self.slots), np.int64
        )  # new for every call: threads may share the game
        found = kernels(self.family_name).options(self.context, position.state, slots)
        if found > 0:
            return tuple(self.moves_of(slots[:found]).tolist())
        return () if found < 0 or self.pass_move is None else (self.pass_move,)

    def over(self, position: Position) -> bool:
        """Whether the game is finished."""
        slots = np.empty(len(self.slots), np.int64)
        return bool(kernels(self.family_name).options(self.context, position.state, slots) < 0)

    def play(self, position: Position, move: int) -> Position:
        """The position after a legal move; any other raises IllegalMove."""
        legal = self.legal(position)
        if move not in legal:
            raise IllegalMove(self._refusal(position, move, legal))
        slot = self.slots_of(int(move))
        state, same = kernels(self.family_name).step(self.context, position.state, slot)
        swapped = position.swapped ^ (move == self.swap_move)
        mover = position.mover if same else 1 - position.mover
        # Kernels return plain integers and would be compiled again for these: restore words.
        return Position(self.family.restored(state), mover, swapped)

    def _refusal(self, position: Position, move: int, legal: Sequence[int]) -> str:
        if not legal:
            return f"{self.name}: the game is over in '{self.text(position)}', no move is legal"
        return (
            f"{self.name}: move {move} is not legal in '{self.text(position)}'; "
            f"legal: {listed(legal)} (written {' '.join(self._texts(position, legal))})"
        )

    def _texts(self, position: Position, moves: Sequence[int]) -> list[str]:
        return [self.move_text(position, move) for move in moves]

    def margin(self, position: Position) -> int:
        """The final score, first player minus second; before the end, the pots or discs so far."""
        first, second = self.score(position)
        return first - second

    def score(self, position: Position) -> tuple[int, int]:
        """The final score of the first and the second player; before the end, the score so far."""
        if self.over(position):
            return self.notation.score(position)
        return self.notation.standing(position)

    def raw_score(self, position: Position) -> tuple[int, int]:
        """The score by the board alone: in Othello nobody gets the empty squares."""
        return self.notation.standing(position)

    def move_text(self, position: Position, move: int) -> str:
        """The move as players of the game write it."""
        return self.notation.move_text(position, move)

    def parse_move(self, position: Position, text: str) -> int:
        """The legal move that `text` means; IllegalMove says what was legal."""
        move = self.notation.parse_move(position, text)
        legal = self.legal(position)
        if move is None or move not in legal:
            why = "is not a move of this game" if move is None else "is not legal here"
            texts = self._texts(position, legal)
            allowed = f"legal: {' '.join(texts)}" if texts else "the game is over"
            raise IllegalMove(f"{quote(text)} {why}; {allowed}")
        return move

    def text(self, position: Position) -> str:
        """The position in one line that `parse` reads back."""
        return self.notation.text(position)

    def parse(self, text: str) -> Position:
        """The position that `text` describes, set up by hand."""
        return self.notation.parse(text)

    def draw(self, position: Position, names: tuple[str, str] | None = None) -> str:
        """The board as people draw it; `names` are the first and the second player's."""
        return self.notation.draw(position, names)

    def plain(self, position: Position) -> Plain:
        """The position in plain Python numbers, the mover's first."""
        return self.notation.plain(position)

    def replay(self, text: str, start: Position | None = None) -> list[Position]:
        """Every position of a written game, the start included; MoveError at the first bad move."""
        positions = [self.start() if start is None else start]
        for ply, word in enumerate(self.notation.split(text), 1):
            position = positions[-1]
            move = self.notation.parse_move(position, word)
            legal = self.legal(position)
            if move is None or move not in legal:
                why = "is unreadable" if move is None and legal else "is not legal"
                raise MoveError(ply, word, self._texts(position, legal), why)
            positions.append(self.play(position, move))
        return positions

    def write(self, moves: Sequence[int], start: Position | None = None) -> str:
        """The game as a line of moves that `replay` reads back."""
        position, words = self.start() if start is None else start, []
        for move in moves:
            words.append(self.move_text(position, move))
            position = self.play(position, move)
        return " ".join(words)


def _reloaded(name: str, source: Path, digest: str) -> Game:
    """A user's game in another process."""
    made: Game = importlib.import_module("games.user_games.load").reloaded(name, source, digest)
    return made


def move_noun(of: Game, position: Position) -> str:
    """The noun of a game that has no other."""
    return "move"


def why_no_move(of: Game, position: Position, answer: str, move: int | None) -> str:
    """Why an answer is refused, in any game."""
    try:
        of.parse_move(position, answer)
    except IllegalMove as error:
        return str(error)
    return f"{quote(answer)} is not legal"


def nothing_swept(of: Game, position: Position, move: int) -> tuple[int, int]:
    """Nothing is handed out after the last move."""
    return 0, 0


def no_rule(of: Game) -> Sequence[str]:
    """A game whose rules are not put into words."""
    return ()


class Words(NamedTuple):
    """The words of a pack; `why_not` gets an answer and the move that it means, if any.

    `swept` counts what the end of the game gave to the first and the second player; `rule` says
    in about five lines how the game is played.
    """

    sides: tuple[str, str] = ("first", "second")
    noun: Callable[[Game, Position], str] = move_noun
    why_not: Callable[[Game, Position, str, int | None], str] = why_no_move
    swept: Callable[[Game, Position, int], tuple[int, int]] = nothing_swept
    rule: Callable[[Game], Sequence[str]] = no_rule


def words_of(of: Game) -> Words:
    """The words of this game; the plain ones if its pack has none."""
    if not of.has("words"):
        return Words()
    words: Words = of.part("words").WORDS
    return words


def side_name(of: Game, position: Position) -> str:
    """The side of the board to move, as players call it."""
    return words_of(of).sides[position.side]


def legal_texts(of: Game, position: Position) -> str:
    """The legal moves in one line, as they are written on the board; numbers ascend."""
    texts = [of.move_text(position, move) for move in of.legal(position)]
    return " ".join(sorted(texts, key=lambda text: int(text) if text.isdigit() else 99))
