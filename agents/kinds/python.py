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
from agents.user_files import is_keyboard_interrupt, load_object, user_traceback
from games import Game, Position
from games.base.schema import Key
from games.board import Board, printed_moves

if TYPE_CHECKING:
    from agents.view import View

LONGEST_ANSWER = 200  # characters of a move in words

OPTIONS = (
    Key(
        "file",
        "file",
        "your file, or path.py:name",
        required=True,
        example=', as in file = "bots/mine.py"',
        entry="choose",
    ),
    Key("options", "table", "the arguments of your class"),
    Key("seconds", "float", "how long it may think about a move", above=0, high=86_400),
    *bot_options(),
)


def varies(options: Options) -> str | None:
    """A bot may answer anything, unless its user says that it does not."""
    return external_reason(options)


def users_code(options: Options) -> str | None:
    """The whole bot is the user's."""
    return f"{options['file']} chooses its moves"


class PythonAgent:
    """A user's code behind the interface of every agent; what it does wrong is an AgentFailure."""

    def __init__(self, spec: AgentSpec, of: Game) -> None:
        """Load the file; AgentFailure if it cannot be loaded."""
        self.spec = spec
        self.game = of
        self.file: str = spec.options["file"]
        self.path, loaded = load_object(self.file, "choose")
        self.bot = self._instance(loaded) if isinstance(loaded, type) else None
        if self.bot is None and "options" in spec.options:
            raise SpecError(f"options are for a class; choose in {self.file} is not one")
        self.function = self.bot.choose if self.bot is not None else loaded
        if not callable(self.function):
            message = f"cannot be loaded: choose is {type(self.function).__name__}, not a function"
            raise AgentFailure("unloadable", self.file, "", message)
        self.random = random.Random(0)
        self.numbers = printed_moves(of)
        self.board = Board(of)
        self.view: View | None = None  # of its last move

    def _instance(self, users_class: type) -> Any:
        """One object of the user's class, given the spec's options."""
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
        """Begin a game; a class may have a method `start` that gets the seed."""
        self.random = random.Random(seed)
        begin = getattr(self.bot, "start", None)
        if begin is not None:
            self._call(None, begin, seed)

    def choose(self, position: Position, limit: Limit | None = None) -> Choice:
        """The bot's move, a number or text, else AgentFailure; a forced pass is nobody's choice."""
        require_unfinished(self.game, position)
        self.board.place(position)
        if self.board.move_count == 0:
            return Choice(self.game.legal(position)[0])
        return Choice(self.game.moves_of(self.answer(self.board)))

    def answer(self, board: Board) -> int:
        """The slot of the bot's move on a board."""
        numbers, slots = self.numbers[board.side], board.slots
        legal = tuple([numbers.number[slot] for slot in slots])
        from agents.view import View  # noqa: PLC0415  # it loads the compiler

        view = View.of_board(board, self.numbers)
        self.view = view
        answer = self._call(board, self.function, view, legal, self.random)
        simple = type(answer) is int  # nearly always
        slot = numbers.slot.get(answer) if simple else self._meant(board, answer)
        if slot is None or slot not in slots:
            raise self._illegal(board, answer, legal)
        return slot

    @property
    def said(self) -> dict[str, object]:
        """What it noted of its last move."""
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

    def _meant(self, board: Board, answer: object) -> int | None:
        """The slot that an answer means that is not simply a number; None if it means none."""
        if isinstance(answer, str):
            move = self.game.notation.parse_move(board.position, answer[:LONGEST_ANSWER])
            return None if move is None else self.game.slots_of(move)
        try:
            number = None if isinstance(answer, bool) else operator.index(answer)  # type: ignore[arg-type]
        except TypeError:
            return None
        return None if number is None else self.numbers[board.side].slot.get(number)

    def _illegal(self, board: Board, answer: object, legal: tuple[int, ...]) -> AgentFailure:
        kind = "illegal"
        if isinstance(answer, str | bytes) and len(answer) > LONGEST_ANSWER:
            kind, answer = "unreadable", answer[:LONGEST_ANSWER]
        message = f"answered {short_repr(answer)}, legal are {list(legal)},"
        return AgentFailure(kind, self.file, self.game.text(board.position), message)


def short_repr(answer: object) -> str:
    """An answer in words; Python writes no number of thousands of digits."""
    if isinstance(answer, int) and answer.bit_length() > 64:
        return f"a number of {answer.bit_length()} bits"
    return repr(answer)


def build(spec: AgentSpec, of: Game) -> PythonAgent:
    """The agent of the user's file."""
    return PythonAgent(spec, of)
