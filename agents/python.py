"""Bots from users' own files: `choose(view, legal, rng)`, or a class that has it."""

import operator
import random
from typing import Any

from agents.core import (
    AgentFailure,
    AgentSpec,
    Choice,
    Limit,
    Settings,
    SpecError,
    plain_table,
    refuse_finished,
)
from agents.kinds import UNKNOWN
from agents.user_files import is_the_persons, load_name, own_trace
from agents.view import View
from games import Game, Position
from games.keys import Key

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
)


def varies(_: Settings) -> str | None:
    """A bot may answer anything."""
    return UNKNOWN


def users_code(options: Settings) -> str | None:
    """The whole bot is the user's."""
    return f"{options['file']} chooses its moves"


class PythonAgent:
    """A user's code behind the interface of every agent; what it does wrong is an AgentFailure."""

    def __init__(self, spec: AgentSpec, of: Game) -> None:
        """Load the file; AgentFailure if it cannot be loaded."""
        self.spec = spec
        self.game = of
        self.file: str = spec.options["file"]
        self.path, loaded = load_name(self.file, "choose")
        self.bot = self._instance(loaded) if isinstance(loaded, type) else None
        if self.bot is None and "options" in spec.options:
            raise SpecError(f"options are for a class; choose in {self.file} is not one")
        self.function = self.bot.choose if self.bot is not None else loaded
        if not callable(self.function):
            message = f"cannot be loaded: choose is {type(self.function).__name__}, not a function"
            raise AgentFailure("unloadable", self.file, "", message)
        self.random = random.Random(0)

    def _instance(self, users_class: type) -> Any:
        """One object of the user's class, given the spec's options."""
        try:
            bot = users_class(**plain_table(self.spec.options.get("options", {})))
        except BaseException as error:
            if is_the_persons(error):
                raise
            trace = own_trace(error, self.path)
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
        """The bot's move, which it answers as a number or as text; else AgentFailure."""
        refuse_finished(self.game, position)
        view = View(self.game, position)
        legal = self.game.legal(position)
        answer = self._call(position, self.function, view, legal, self.random)
        return Choice(self._move(position, answer, legal))

    def _call(self, position: Position | None, function: Any, *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except BaseException as error:
            if is_the_persons(error):
                raise
            place = "" if position is None else self.game.text(position)
            trace = own_trace(error, self.path)
            raise AgentFailure("raised", self.file, place, "raised", trace) from None

    def _move(self, position: Position, answer: Any, legal: tuple[int, ...]) -> int:
        move: int | None
        if isinstance(answer, str):
            move = self.game.notation.parse_move(position, answer)
        else:
            try:
                move = None if isinstance(answer, bool) else operator.index(answer)
            except TypeError:
                move = None
        if move is None or move not in legal:
            message = f"answered {answer!r}, legal are {list(legal)},"
            raise AgentFailure("illegal", self.file, self.game.text(position), message)
        return move


def build(spec: AgentSpec, of: Game) -> PythonAgent:
    """The agent of the user's file."""
    return PythonAgent(spec, of)
