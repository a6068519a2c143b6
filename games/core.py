"""Game, Position and Notation: pure functions of positions."""

import importlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, wraps
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias, TypeVar, TypeVarTuple, overload

import numpy as np
from numpy.typing import NDArray

from games import parts
from games.base.errors import UserError
from games.base.text import join_names, quote
from games.kernels.context import PASS, Context

Arguments = TypeVarTuple("Arguments")
Made = TypeVar("Made")
# A position in plain Python numbers; each notation has its own type.
Plain: TypeAlias = Any
Numbers = Sequence[int] | NDArray[np.integer[Any]]
Translation = NDArray[np.int16]


def thread_safe_cache(function: Callable[[*Arguments], Made]) -> Callable[[*Arguments], Made]:
    """Cache like `functools.cache`; concurrent calls return the same object, too."""
    lock, cached = threading.RLock(), cache(function)

    @wraps(function)
    def wrapper(*arguments: *Arguments) -> Made:
        with lock:
            return cached(*arguments)

    return wrapper


class Position(NamedTuple):
    """A state as its mover sees it, the mover, and whether the players have swapped sides."""

    state: Any  # a named tuple of the family
    mover: int
    swapped: bool = False

    @property
    def side(self) -> int:
        """Return the side of the board that moves: 0 is South or Black, 1 is North or White."""
        return self.mover ^ self.swapped


class Notation(Protocol):
    """How people write the moves and positions of a game, and the words for its moves and rules."""

    sides: ClassVar[tuple[str, str]] = ("first", "second")

    def move_text(self, position: Position, move: int) -> str:
        """Return the move as printed on the board."""

    def parse_move(self, position: Position, text: str) -> int | None:
        """Return the move that a text means, legal or not; None if it is unreadable."""

    def split(self, text: str) -> list[str]:
        """Split a written game into its moves."""

    def text(self, position: Position) -> str:
        """Return the position as one line that `parse` can read."""

    def parse(self, text: str) -> Position:
        """Return the position that a text describes; raise a GameError that names the problem."""

    def draw(self, position: Position, names: tuple[str, str] | None) -> str:
        """Draw the board, with the names of the first and second player."""

    def current_score(self, position: Position) -> tuple[int, int]:
        """Return the beans in pots, or discs, of the first and the second player."""

    def score(self, position: Position) -> tuple[int, int]:
        """Return the reported score of a finished game."""

    def plain(self, position: Position) -> Plain:
        """Return the position in plain Python numbers, the mover's first."""

    def move_noun(self, game: "Game", position: Position) -> str:
        """Return the noun for a move."""
        return "move"

    def refusal(self, game: "Game", position: Position, answer: str, move: int | None) -> str:
        """Return the reason for refusing an answer; `move` is the move that it means, if any."""
        try:
            game.parse_move(position, answer)
        except IllegalMove as error:
            return str(error)
        return f"{quote(answer)} is not legal"

    def end_gains(self, game: "Game", position: Position, move: int) -> tuple[int, int]:
        """Return the points that the end of the game gave to the first and the second player."""
        return 0, 0

    def rule_lines(self, game: "Game") -> Sequence[str]:
        """Describe in about five lines how the game is played."""
        return ()


class IllegalMove(ValueError):  # noqa: N818  # the usual term in games
    """A move that is illegal in the position; the message names the legal moves."""


class MoveError(UserError, ValueError):
    """An unreadable or illegal move of a written game, with its ply and the legal moves."""

    def __init__(self, ply: int, move: str, legal: Sequence[str], why: str) -> None:
        """`ply` counts from 1."""
        self.ply, self.move, self.legal = ply, move, tuple(legal)
        allowed = f"legal: {' '.join(legal)}" if legal else "the game is over"
        super().__init__(f"ply {ply}: {quote(move)} {why}; {allowed}")


@cache
def family_drivers(family: str) -> SimpleNamespace:
    """Return the compiled drivers of a family, given by its module's name."""
    from games.kernels import drivers, jit  # noqa: PLC0415  # Numba loads only for a game

    return jit.family_kernels(family, drivers.bind_drivers)


def _look_up(table: Translation, numbers: int | Numbers) -> int | Translation:
    if isinstance(numbers, int):  # NumPy integers would trigger another compilation of kernels
        return int(table[numbers])
    translated: Translation = table[np.asarray(numbers, np.intp)]
    return translated


@dataclass(frozen=True, eq=False)
class Game:
    """One game with fixed sizes and rules: pure functions of positions."""

    name: str
    rules: Any
    family_name: str
    notation: Notation
    pass_move: int | None = None
    swap_move: int | None = None
    source: Path | None = None  # a user's game file
    digest: str = ""  # of that file

    def __reduce__(self) -> tuple[Callable[..., "Game"], tuple[str | Path, ...]]:
        """Pickle games by name."""
        from games import game  # noqa: PLC0415  # that module imports this one

        if self.source is None:
            return game, (self.name,)
        return _reload_user_game, (self.name, self.source, self.digest)

    def __str__(self) -> str:
        return self.name

    @cached_property
    def package(self) -> str:
        """Return the module of the game's package, such as "games.sowing"."""
        return parts.package_of(self.family_name)

    @property
    def pack(self) -> str:
        """Return the name of the game's package, such as "sowing"."""
        return self.package.rpartition(".")[2]

    def has_part(self, role: str) -> bool:
        """Return whether the package has this optional part, one of `games.parts.PARTS`."""
        return parts.has_part(self.package, role)

    def load_part(self, role: str) -> ModuleType:
        """Return the module of an optional part; MissingPart tells the user how to add it."""
        return parts.load_part(self.package, role, self.name)

    def missing_part(self, role: str) -> parts.MissingPart:
        """Return the error for a part that the package lacks."""
        return parts.missing_part(self.package, role, self.name)

    @property
    def defaults(self) -> parts.Defaults:
        """Return the default weights and the endgame threshold of the package."""
        return parts.load_defaults(self.package, self.name)

    @cached_property
    def all_features(self) -> tuple[str, ...]:
        """Return all features of the package; their order is that of the weights."""
        return parts.features(self.package, self.name)

    @cached_property
    def features(self) -> tuple[str, ...]:
        """Return the features that are meaningful under the rules of this game."""
        needs = getattr(importlib.import_module(self.package), "FEATURE_NEEDS", {})
        return tuple(
            name for name in self.all_features if name not in needs or needs[name](self.rules)
        )

    @cached_property
    def family(self) -> ModuleType:
        """Return the module of the state family."""
        return importlib.import_module(self.family_name)

    @cached_property
    def context(self) -> Context:
        """Return the rules in the kernels' layout; copy it for kernels that write counters."""
        context: Context = self.family.make_context(self.rules)
        return context

    @cached_property
    def slots(self) -> tuple[int, ...]:
        """Return the kernels' slot of every move number, in ascending order; a pass has none."""
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
        """Return the kernel slots of move numbers; a forced pass is PASS."""
        return _look_up(self._slot_by_move, moves)

    @overload
    def moves_of(self, slots: int) -> int: ...
    @overload
    def moves_of(self, slots: Numbers) -> Translation: ...
    def moves_of(self, slots: int | Numbers) -> int | Translation:
        """Return the move numbers of kernel slots; -1 for slots that the game lacks."""
        return _look_up(self._move_by_slot, slots)

    def start(self) -> Position:
        """Return the position before the first move."""
        return self._start

    @cached_property
    def _start(self) -> Position:
        return Position(self.family.start(self.rules), 0)

    def mover(self, position: Position) -> int:
        """Return the player to move: 0 moved first in the game, 1 second."""
        return position.mover

    def legal(self, position: Position) -> tuple[int, ...]:
        """Return the legal moves, ascending: a forced pass alone, or none when the game is over."""
        slots = np.empty(len(self.slots), np.int64)  # per call, because threads may share the game
        count = family_drivers(self.family_name).options(self.context, position.state, slots)
        if count > 0:
            return tuple(self.moves_of(slots[:count]).tolist())
        return () if count < 0 or self.pass_move is None else (self.pass_move,)

    def over(self, position: Position) -> bool:
        """Return whether the game is finished."""
        slots = np.empty(len(self.slots), np.int64)
        return bool(
            family_drivers(self.family_name).options(self.context, position.state, slots) < 0
        )

    def play(self, position: Position, move: int) -> Position:
        """Return the position after a legal move; raise IllegalMove for any other."""
        legal = self.legal(position)
        if move not in legal:
            raise IllegalMove(self._refusal(position, move, legal))
        slot = self.slots_of(int(move))
        state, same = family_drivers(self.family_name).step(self.context, position.state, slot)
        swapped = position.swapped ^ (move == self.swap_move)
        mover = position.mover if same else 1 - position.mover
        # Kernels return Python integers. Passing these to a kernel would compile it once more.
        return Position(self.family.from_words(state), mover, swapped)

    def _refusal(self, position: Position, move: int, legal: Sequence[int]) -> str:
        if not legal:
            return f"{self.name}: the game is over in '{self.text(position)}', no move is legal"
        return (
            f"{self.name}: move {move} is not legal in '{self.text(position)}'; "
            f"legal: {join_names(legal)} (written {' '.join(self._texts(position, legal))})"
        )

    def _texts(self, position: Position, moves: Sequence[int]) -> list[str]:
        return [self.move_text(position, move) for move in moves]

    def margin(self, position: Position) -> int:
        """Return the first player's score minus the second's; before the end, the score so far."""
        first, second = self.score(position)
        return first - second

    def score(self, position: Position) -> tuple[int, int]:
        """Return the final score of both players; before the end, the score so far."""
        if self.over(position):
            return self.notation.score(position)
        return self.notation.current_score(position)

    def raw_score(self, position: Position) -> tuple[int, int]:
        """Return the score on the board: in Othello, empty squares count for neither player."""
        return self.notation.current_score(position)

    def move_text(self, position: Position, move: int) -> str:
        """Return the move as players of the game write it."""
        return self.notation.move_text(position, move)

    def parse_move(self, position: Position, text: str) -> int:
        """Return the legal move of a text; IllegalMove names the legal moves."""
        move = self.notation.parse_move(position, text)
        legal = self.legal(position)
        if move is None or move not in legal:
            why = "is not a move of this game" if move is None else "is not legal here"
            texts = self._texts(position, legal)
            allowed = f"legal: {' '.join(texts)}" if texts else "the game is over"
            raise IllegalMove(f"{quote(text)} {why}; {allowed}")
        return move

    def text(self, position: Position) -> str:
        """Return the position as one line that `parse` can read."""
        return self.notation.text(position)

    def parse(self, text: str) -> Position:
        """Return the position that `text` describes."""
        return self.notation.parse(text)

    def draw(self, position: Position, names: tuple[str, str] | None = None) -> str:
        """Draw the board, with the names of the first and second player if they are given."""
        return self.notation.draw(position, names)

    def plain(self, position: Position) -> Plain:
        """Return the position in plain Python numbers, the mover's first."""
        return self.notation.plain(position)

    def replay(self, text: str, start: Position | None = None) -> list[Position]:
        """Return all positions of a written game; raise MoveError at the first bad move."""
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
        """Return the moves as one line that `replay` can read."""
        position, words = self.start() if start is None else start, []
        for move in moves:
            words.append(self.move_text(position, move))
            position = self.play(position, move)
        return " ".join(words)


def _reload_user_game(name: str, source: Path, digest: str) -> Game:
    """Load a user's game in another process."""
    made: Game = importlib.import_module("games.user_games.load").reload_user_game(
        name, source, digest
    )
    return made


def side_name(game: Game, position: Position) -> str:
    """Return the name of the side to move."""
    return game.notation.sides[position.side]


def legal_move_texts(game: Game, position: Position) -> str:
    """Return the legal moves in one line, numbers in ascending order."""
    texts = [game.move_text(position, move) for move in game.legal(position)]
    return " ".join(sorted(texts, key=lambda text: int(text) if text.isdigit() else 99))
