"""Our own line protocol: one question a move, one answer; docs/bots.md is its page.

    position;legal moves;seconds left;random number;game

Moves are written as on the board. A bot keeps no state: an extra turn is another question.
"""

import random
from collections.abc import Mapping, Sequence

from agents.core import Agent, Resignation, SpecError
from agents.protocols.conversation import (
    BotFault,
    Drop,
    Host,
    NoLine,
    Note,
    Ply,
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
RANDOM_BELOW = 2**31  # fits the int of every language

OPTIONS = (
    Key(
        "form",
        "text",
        "how the question is written",
        DEFAULT_FORM,
        choices=(DEFAULT_FORM, *FORMS, CONSOLE),
    ),
    *FORM_OPTIONS,
    Key(
        "process",
        "text",
        "how long a process lives; usually as its form says",
        choices=("run", "game", "move"),
    ),
)


def conversation(of: Game, options: Mapping[str, object]) -> Host:
    """Ask a bot in the form that the options name."""
    form = options.get("form") or DEFAULT_FORM
    others = [key.name for key in FORM_OPTIONS if options.get(key.name) is not None]
    if options.get("process") == "move" and form in (DEFAULT_FORM, CONSOLE):
        raise SpecError(f'process = "move" is for other forms of the question than "{form}"')
    if form == DEFAULT_FORM and others:
        raise SpecError(f'{others[0]} is for other forms of the question than "{DEFAULT_FORM}"')
    if form == DEFAULT_FORM:
        return LineHost(of)
    if form == CONSOLE:
        return ConsoleHost(of, options)
    return FormHost(of, str(form), options)


class LineHost:
    """Question and answer in the words of the board."""

    def __init__(self, of: Game) -> None:
        """The conversation has not begun."""
        self.of = of
        self.seed = 0
        self.is_new = True

    def greet(self) -> Steps[None]:
        """There is no greeting: a new process may take its time for the first answer."""
        self.is_new = True
        yield from ()

    def new_game(self, player: int, start: Position, seed: int) -> Steps[None]:
        """Nothing to send: a bot does not hear that a game begins."""
        self.seed = seed
        yield from ()

    def choose(self, question: Question) -> Steps[int]:
        """Ask; the first line that is not empty is the answer."""
        yield Drop()
        yield Write(format_question(self.of, question, self.seed) + "\n")
        line = yield from read_first_line(self.is_new)
        if self.is_new and not is_answer(self.of, question, line):
            line = yield from self._after_banner(line)
        self.is_new = False
        return parse_answer(self.of, question, line)

    def _after_banner(self, banner: str) -> Steps[str]:
        """The line that follows at once what a new process says of itself; else that."""
        yield Note(f"wrote a line before its first answer: {quote(banner)}")
        line = yield Read("grace", (NoLine.TIME_UP, NoLine.ENDED), BANNER_SECONDS)
        return line if isinstance(line, str) else banner

    def game_over(self, plies: Sequence[Ply]) -> Steps[None]:
        """Nothing to send: a bot does not hear that a game ends."""
        yield from ()

    def bye(self) -> Steps[None]:
        """Nothing to send: a bot ends when its input does."""
        yield from ()


def format_question(of: Game, question: Question, seed: int) -> str:
    """The question without its line end."""
    position, seconds = question.position, question.seconds
    chance = random.Random(f"{seed} {question.ply}").randrange(RANDOM_BELOW)
    fields = (
        " ".join(of.text(position).replace(";", ",").split()),
        " ".join(of.move_text(position, move) for move in question.legal),
        "Infinity" if seconds is None else f"{seconds:.3f}",
        str(chance),
        of.name.rpartition(".py:")[2],
    )
    return ";".join(fields)


def is_answer(of: Game, question: Question, line: str) -> bool:
    """Whether a line can be meant as a move, legal or not."""
    word = normalize_answer(line)
    return (
        word == RESIGN
        or word.lstrip("+-").isdecimal()
        or of.notation.parse_move(question.position, word) is not None
    )


def normalize_answer(line: str) -> str:
    """What a line says, without what cannot be misread."""
    return line.strip("\"'. ").lower()


def parse_answer(of: Game, question: Question, line: str) -> int:
    """The legal move that an answer means, tolerating what cannot be misread."""
    word = normalize_answer(line)
    if word == RESIGN:
        raise Resignation
    move = of.notation.parse_move(question.position, word)
    if move is not None and move in question.legal:
        return move
    texts = " ".join(of.move_text(question.position, each) for each in question.legal)
    is_move = move is not None or word.lstrip("+-").isdecimal()
    raise BotFault(
        "illegal" if is_move else "unreadable",
        f"answered {quote(line)}, which is {'not legal' if is_move else 'no move'}; legal: {texts}",
    )


def serve(of: Game, agent: Agent, options: Mapping[str, object]) -> Steps[None]:
    """Answer questions until they end; an unreadable one gets a `?`."""
    while True:
        line = yield Read("move", allowed=(NoLine.ENDED,))
        if not isinstance(line, str):
            return
        if not line:
            continue
        try:
            position = of.parse(line.split(";")[0])
        except GameError as error:
            yield Write(f"? {error}\n")
            continue
        if of.over(position):
            yield Write("? the game is over\n")
            continue
        move = yield from choose_move(position)
        yield Write(of.move_text(position, move) + "\n")
