"""Our line protocol: one question and one answer per move.

docs/reference/line-protocol.md describes it:

`position;legal moves;seconds left;random number;game`

Moves are written as on the board. A bot keeps no state: an extra turn is another question.
"""

import random
from collections.abc import Mapping

from agents.core import Agent, Resignation, SpecError
from agents.protocols.conversation import (
    BotFault,
    Drop,
    FaultKind,
    Host,
    NoLine,
    Note,
    Question,
    Read,
    Steps,
    Write,
    choose_move,
    read_first_line,
)
from agents.protocols.line_forms import FORM_OPTIONS, FORMS, ConsoleHost, FormHost
from games import Game, Position
from games.base.schema import Key
from games.base.text import GameError, quote

DEFAULT_FORM = "board"
CONSOLE = "console"
RESIGN = "resign"
BANNER_SECONDS = 1.0
RANDOM_BELOW = 2**31  # fits an int of every language

OPTIONS = (
    Key(
        "form",
        "text",
        "the form of the question",
        DEFAULT_FORM,
        choices=(DEFAULT_FORM, *FORMS, CONSOLE),
    ),
    *FORM_OPTIONS,
    Key(
        "process",
        "text",
        "the lifetime of a process; the default depends on the form",
        choices=("run", "game", "move"),
    ),
)


def conversation(game: Game, options: Mapping[str, object]) -> Host:
    """Host a bot in the form that the options name."""
    form = options.get("form") or DEFAULT_FORM
    others = [key.name for key in FORM_OPTIONS if options.get(key.name) is not None]
    if options.get("process") == "move" and form in (DEFAULT_FORM, CONSOLE):
        raise SpecError(f'process = "move" is for other forms of the question than "{form}"')
    if form == DEFAULT_FORM and others:
        raise SpecError(f'{others[0]} is for other forms of the question than "{DEFAULT_FORM}"')
    if form == DEFAULT_FORM:
        return LineHost(game)
    if form == CONSOLE:
        return ConsoleHost(game, options)
    return FormHost(game, str(form), options)


class LineHost(Host):
    """One bot; the first answer of a new process has the time limit of a start."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.seed = 0
        self.is_new = True

    def greet(self) -> Steps[None]:
        """Note that the process is new."""
        self.is_new = True
        yield from ()

    def new_game(self, player: int, start: Position, seed: int) -> Steps[None]:
        """Store the seed; the bot is not notified."""
        self.seed = seed
        yield from ()

    def choose(self, question: Question) -> Steps[int]:
        """Ask; the first line that is not empty is the answer."""
        yield Drop()
        yield Write(format_question(self.game, question, self.seed) + "\n")
        line = yield from read_first_line(self.is_new)
        if self.is_new and not is_answer(self.game, question, line):
            line = yield from self._after_banner(line)
        self.is_new = False
        return parse_answer(self.game, question, line)

    def _after_banner(self, banner: str) -> Steps[str]:
        """Return the line that follows a banner at once, or else the banner."""
        yield Note(f"wrote a line before its first answer: {quote(banner)}")
        line = yield Read("grace", (NoLine.TIME_UP, NoLine.ENDED), BANNER_SECONDS)
        return line if isinstance(line, str) else banner


def format_question(game: Game, question: Question, seed: int) -> str:
    """Return the question without its line end."""
    position, seconds = question.position, question.seconds
    chance = random.Random(f"{seed} {question.ply}").randrange(RANDOM_BELOW)
    fields = (
        " ".join(game.text(position).replace(";", ",").split()),
        " ".join(game.move_text(position, move) for move in question.legal),
        "Infinity" if seconds is None else f"{seconds:.3f}",
        str(chance),
        game.name.rpartition(".py:")[2],
    )
    return ";".join(fields)


def is_answer(game: Game, question: Question, line: str) -> bool:
    """Return whether a line could be a move, legal or not."""
    word = normalize_answer(line)
    return (
        word == RESIGN
        or word.lstrip("+-").isdecimal()
        or game.notation.parse_move(question.position, word) is not None
    )


def normalize_answer(line: str) -> str:
    """Return a line without harmless decoration."""
    return line.strip("\"'. ").lower()


def parse_answer(game: Game, question: Question, line: str) -> int:
    """Return the legal move of an answer; harmless decoration is accepted."""
    word = normalize_answer(line)
    if word == RESIGN:
        raise Resignation
    move = game.notation.parse_move(question.position, word)
    if move is not None and move in question.legal:
        return move
    texts = " ".join(game.move_text(question.position, legal) for legal in question.legal)
    is_move = move is not None or word.lstrip("+-").isdecimal()
    kind: FaultKind = "illegal" if is_move else "unreadable"
    what = "not legal" if is_move else "not a move"
    raise BotFault(kind, f"answered {quote(line)}, which is {what}; legal: {texts}")


def serve(game: Game, agent: Agent, options: Mapping[str, object]) -> Steps[None]:
    """Answer questions until the input ends; an invalid one gets a `?`."""
    while True:
        line = yield Read("move", allowed=(NoLine.ENDED,))
        if not isinstance(line, str):
            return
        if not line:
            continue
        try:
            position = game.parse(line.split(";")[0])
        except GameError as error:
            yield Write(f"? {error}\n")
            continue
        if game.over(position):
            yield Write("? the game is over\n")
            continue
        move = yield from choose_move(position)
        yield Write(game.move_text(position, move) + "\n")
