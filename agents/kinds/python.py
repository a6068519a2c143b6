"""A user's Python file."""

import operator
import random
from typing import TYPE_CHECKING, Any

from agents.core import (
    AgentFailure,
    AgentSpec,
    Choice,
    Limit,
    Options,
    SpecError,
    require_unfinished,
    to_plain_table,
)
from agents.options import bot_options, external_reason
from agents.registry import Kind
from agents.user_files import is_keyboard_interrupt, load_object, user_traceback
from games import Game, Position
from games.base.schema import Key
from games.board import Board, board_numbers

if TYPE_CHECKING:
    from agents.view import View

LONGEST_ANSWER = 200  # characters of an answer in text

OPTIONS = (
    Key(
        "file",
        "file",
        "your file, or path.py:name",
        required=True,
        example=', as in file = "bots/mine.py"',
        default_function="choose",
    ),
    Key("options", "table", "the arguments of your class"),
    Key("seconds", "float", "the time limit per move, in seconds", above=0, high=86_400),
    *bot_options(),
)


class PythonAgent:
    """A user's code as an agent; all of its errors become AgentFailures."""

    def __init__(self, spec: AgentSpec, game: Game) -> None:
        self.spec = spec
        self.game = game
        self.file: str = spec.options["file"]
        self.path, loaded = load_object(self.file, "choose")
        self.bot = self._create_bot(loaded) if isinstance(loaded, type) else None
        if self.bot is None and "options" in spec.options:
            raise SpecError(f"options are for a class; choose in {self.file} is not one")
        self.function = self.bot.choose if self.bot is not None else loaded
        if not callable(self.function):
            message = f"cannot be loaded: choose is {type(self.function).__name__}, not a function"
            raise AgentFailure("unloadable", self.file, "", message)
        self.random = random.Random(0)
        self.numbers = board_numbers(game)
        self.board = Board(game)
        self.view: View | None = None  # of the last move

    def _create_bot(self, users_class: type) -> Any:
        try:
            bot = users_class(**to_plain_table(self.spec.options.get("options", {})))
        except BaseException as error:
            if is_keyboard_interrupt(error):
                raise
            trace = user_traceback(error, self.path)
            raise AgentFailure("unloadable", self.file, "", "cannot be created:", trace) from None
        if not callable(getattr(bot, "choose", None)):
            message = f"cannot be loaded: class {users_class.__name__} has no method choose"
            raise AgentFailure("unloadable", self.file, "", message)
        return bot

    def start(self, seed: int) -> None:
        """Begin a game; a class may have a method `start(seed)`."""
        self.random = random.Random(seed)
        begin = getattr(self.bot, "start", None)
        if begin is not None:
            self._call(None, begin, seed)

    def choose(self, position: Position, limit: Limit | None = None) -> Choice:
        """Return the bot's move; forced passes are made without the bot."""
        require_unfinished(self.game, position)
        self.board.set_position(position)
        if self.board.move_count == 0:
            return Choice(self.game.legal(position)[0])
        return Choice(self.game.moves_of(self.answer(self.board)))

    def answer(self, board: Board) -> int:
        """Return the slot of the bot's move on a board."""
        numbers, slots = self.numbers[board.side], board.slots
        legal = tuple([numbers.number[slot] for slot in slots])
        from agents.view import View  # noqa: PLC0415  # it loads the compiler

        view = View.of_board(board, self.numbers)
        self.view = view
        answer = self._call(board, self.function, view, legal, self.random)
        simple = type(answer) is int  # the usual case, without a function call
        slot = numbers.slot.get(answer) if simple else self._parse_answer(board, answer)
        if slot is None or slot not in slots:
            raise self._illegal_answer(board, answer, legal)
        return slot

    @property
    def data(self) -> dict[str, object]:
        """The data that the bot noted for its last move."""
        return {} if self.view is None else self.view.noted

    def _call(self, board: Board | None, function: Any, *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except BaseException as error:
            if is_keyboard_interrupt(error):
                raise
            place = "" if board is None else self.game.text(board.position)
            trace = user_traceback(error, self.path)
            raise AgentFailure("raised", self.file, place, "raised", trace) from error

    def _parse_answer(self, board: Board, answer: object) -> int | None:
        """Return the slot of an answer that is not a plain int, or None."""
        if isinstance(answer, str):
            move = self.game.notation.parse_move(board.position, answer[:LONGEST_ANSWER])
            return None if move is None else self.game.slots_of(move)
        try:
            number = None if isinstance(answer, bool) else operator.index(answer)  # type: ignore[arg-type]
        except TypeError:
            return None
        return None if number is None else self.numbers[board.side].slot.get(number)

    def _illegal_answer(self, board: Board, answer: object, legal: tuple[int, ...]) -> AgentFailure:
        kind = "illegal"
        if isinstance(answer, str | bytes) and len(answer) > LONGEST_ANSWER:
            kind, answer = "unreadable", answer[:LONGEST_ANSWER]
        message = f"answered {short_repr(answer)}, the legal moves are {list(legal)},"
        return AgentFailure(kind, self.file, self.game.text(board.position), message)


def short_repr(answer: object) -> str:
    """Return the repr of an answer; Python cannot print integers of thousands of digits."""
    if isinstance(answer, int) and answer.bit_length() > 64:
        return f"a number of {answer.bit_length()} bits"
    return repr(answer)


def build(spec: AgentSpec, game: Game) -> PythonAgent:
    """A user's Python file."""
    return PythonAgent(spec, game)


def user_code_reason(options: Options) -> str:
    """Return the statement that the user's file chooses the moves."""
    return f"{options['file']} chooses its moves"


KIND = Kind(build, OPTIONS, (), external_reason, user_code_reason)
