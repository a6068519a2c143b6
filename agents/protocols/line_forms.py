"""Other forms of the line protocol, and programs made for people."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from string import Formatter
from typing import Any

from agents.core import SpecError
from agents.protocols.conversation import (
    SEAT,
    BotFault,
    Drop,
    FaultKind,
    Host,
    NoLine,
    Note,
    Question,
    Read,
    Restart,
    Steps,
    Write,
    read_first_line,
    read_line,
)
from games import Game, Position
from games.base.schema import Key
from games.base.text import did_you_mean, join_names, quote

Sowing = Callable[[Any, Position, int], object]  # of the rows, the position and the ply
SWAP_ALLOWED = "pie"  # 1 if a swap of sides (the answer 0) is legal, otherwise 0
SQUARES = "squares"


def _rows_of_side(rows: Any, position: Position, side: int) -> tuple[tuple[int, ...], int]:
    both = (rows.own, rows.own_pot), (rows.other, rows.other_pot)
    return both[position.side ^ side]


# Fields of a question about a sowing game; rows are in the sowing order of their owner.
FIELDS: Mapping[str, Sowing] = {
    "size": lambda rows, position, ply: len(rows.own),
    "own": lambda rows, position, ply: rows.own,
    "own_pot": lambda rows, position, ply: rows.own_pot,
    "other": lambda rows, position, ply: rows.other,
    "other_pot": lambda rows, position, ply: rows.other_pot,
    "first": lambda rows, position, ply: _rows_of_side(rows, position, 0)[0],
    "first_pot": lambda rows, position, ply: _rows_of_side(rows, position, 0)[1],
    "second": lambda rows, position, ply: _rows_of_side(rows, position, 1)[0],
    "second_pot": lambda rows, position, ply: _rows_of_side(rows, position, 1)[1],
    "turn": lambda rows, position, ply: ply + 1,
    "mover": lambda rows, position, ply: position.side + 1,
}


@dataclass(frozen=True, slots=True)
class LineForm:
    """A form of the question; `seats` are the arguments for a first and for a second player."""

    question: str  # a template: {own} writes a row with blanks, {own:,} with commas between
    base: int  # the number of the first hole or square
    seats: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    ping: bool = False  # a new process gets a ping and answers pong
    single: bool = False  # whether a process lives for one move
    answer: str = r"[+-]?[0-9]+"  # the pattern of an answer; searched in the line if it has a group

    @property
    def fields(self) -> list[str]:
        """The names of the fields in the question."""
        return [name for _, name, _, _ in Formatter().parse(self.question) if name is not None]


SEATS = (("1",), ("2",))
FORMS: Mapping[str, LineForm] = {
    "17": LineForm("{first} {first_pot} {second} {second_pot} {turn} {mover} {pie}", 1),
    "14": LineForm("{first} {first_pot} {second} {second_pot}", 1, SEATS),
    "size": LineForm("{size} {own_pot} {other_pot} {own} {other}", 0, single=True),
    "squares": LineForm("{squares}", 0, (("BLACK",), ("WHITE",)), ping=True),
}

QUESTION_FIELDS = (*FIELDS, SWAP_ALLOWED, SQUARES)
FORM_OPTIONS = (
    Key(
        "question",
        "text",
        'the template of a question, such as "{size} {own:,} {other:,}"; its fields are '
        f"{join_names(QUESTION_FIELDS)}",
    ),
    Key("base", "int", "the number of the first hole or square in an answer", low=0, high=1),
    Key("answer", "text", "the pattern of an answer; its group, if it has one, is the number"),
)


def read_form(base: LineForm, options: Mapping[str, Any]) -> LineForm:
    """Return the form with the changes of the options; SpecError names a wrong option."""
    template, answer = options.get("question") or base.question, options.get("answer")
    process, number = options.get("process"), options.get("base")
    try:
        fields = [name for _, name, _, _ in Formatter().parse(template) if name is not None]
    except ValueError as error:
        raise SpecError(f"question {quote(template)} is not a template: {error}") from None
    for name in fields:
        if name not in QUESTION_FIELDS:
            near = did_you_mean(name, QUESTION_FIELDS)
            fields_text = f"there are {join_names(QUESTION_FIELDS)}"
            raise SpecError(f"question has an unknown field {quote(name)} ({fields_text}){near}")
    try:
        re.compile(answer or "")
    except re.error as error:
        raise SpecError(f"answer {quote(str(answer))} is not a pattern: {error}") from None
    has_place = any(SEAT in word for word in options.get("command") or ())
    return replace(
        base,
        question=template,
        base=base.base if number is None else number,
        seats=SEATS if has_place and not any(base.seats) else base.seats,
        single=base.single if process is None else process == "move",
        answer=answer or base.answer,
    )


class FormHost(Host):
    """A bot that gets questions of numbers and answers with a number.

    SpecError if the form cannot write this game.
    """

    def __init__(self, game: Game, name: str, options: Mapping[str, object]) -> None:
        self.game, self.form = game, read_form(FORMS[name], options)
        pack = "othello" if SQUARES in self.form.fields else "sowing"
        if game.pack != pack:
            raise SpecError(f'the form "{name}" is for games of {pack}, not for {game.name}')
        self.player = 0
        self.arguments: tuple[str, ...] = ()  # of the current process
        self.is_new = True

    def greet(self) -> Steps[None]:
        """Greet a process without a seat; others are greeted when the seat is known."""
        self.arguments, self.is_new = (), True
        if not any(self.form.seats):
            yield from self._ping()

    def _ping(self) -> Steps[None]:
        if self.form.ping:
            yield Write("ping\n")
            while (yield from read_line("start")) != "pong":
                pass
            self.is_new = False

    def _restart(self, arguments: tuple[str, ...]) -> Steps[None]:
        yield Restart(arguments)
        self.arguments, self.is_new = arguments, True
        yield from self._ping()

    def new_game(self, player: int, start: Position, seed: int) -> Steps[None]:
        """Start a process that knows its seat, unless each move has its own process."""
        self.player = player
        if self.form.seats[player] != self.arguments:
            yield from self._restart(self.form.seats[player])

    def choose(self, question: Question) -> Steps[int]:
        """Ask, and return the first number, or the last one of a process that plays one move."""
        if self.form.single:
            yield from self._restart(self.form.seats[self.player])
        else:
            yield Drop()
        yield Write(self.question_text(question) + "\n")
        return (yield from self._last(question) if self.form.single else self._first(question))

    def question_text(self, question: Question) -> str:
        """Return the question with its fields filled in."""
        position = question.position
        rows = None if SQUARES in self.form.fields else self.game.plain(position)
        words = []
        for text, name, separator, _ in Formatter().parse(self.form.question):
            words.append(text)
            if name == SQUARES:
                words.append(self.game.text(position).split()[0])
            elif name == SWAP_ALLOWED:
                words.append(str(int(self.game.swap_move in question.legal)))
            elif name is not None:
                value = FIELDS[name](rows, position, question.ply)
                numbers = value if isinstance(value, tuple) else (value,)
                words.append((separator or " ").join(map(str, numbers)))
        return "".join(words)

    def _first(self, question: Question) -> Steps[int]:
        chatter = 0
        line = yield from read_first_line(self.is_new)
        self.is_new = False
        while (number := find_number(self.form.answer, line)) is None:
            chatter += 1
            line = yield from read_line("move")
        if chatter:
            yield Note(f"wrote {chatter} other lines before its answer")
        move = self.move_of(number, question.legal)
        if move is None:
            raise BotFault("illegal", f"answered {number}, {self._legal(question.legal)}")
        return move

    def _last(self, question: Question) -> Steps[int]:
        """Return the last legal number before the process ends or its time is up."""
        numbers: list[int] = []
        while True:
            line = yield Read("move", allowed=(NoLine.ENDED, NoLine.TIME_UP))
            if isinstance(line, str):
                number = find_number(self.form.answer, line)
                numbers += [] if number is None else [number]
                continue
            moves = [self.move_of(number, question.legal) for number in numbers]
            legal = [move for move in moves if move is not None]
            if legal:
                return legal[-1]
            if numbers:
                raise BotFault("illegal", f"answered {numbers[-1]}, {self._legal(question.legal)}")
            kind: FaultKind = "crashed" if line is NoLine.ENDED else "timeout"
            raise BotFault(kind, "gave no answer")

    def move_of(self, number: int, legal: Sequence[int]) -> int | None:
        """Return the legal move of a number, or None."""
        swap = self.game.swap_move
        if SWAP_ALLOWED in self.form.fields and number == self.form.base - 1:
            return swap if swap in legal else None
        move = number - self.form.base
        return move if move in legal and move != swap else None

    def _legal(self, legal: Sequence[int]) -> str:
        swap = self.game.swap_move
        numbers = [self.form.base - 1 if move == swap else move + self.form.base for move in legal]
        return f"which is not legal; legal: {' '.join(map(str, sorted(numbers)))}"


def find_number(answer: str, line: str) -> int | None:
    """Return the number in an answer: the whole line, or the group of its pattern."""
    pattern = re.compile(answer)
    found = pattern.search(line) if pattern.groups else pattern.fullmatch(line)
    text = found[found.re.groups and 1] if found else ""
    return int(text) if text and re.fullmatch(r"[+-]?[0-9]{1,9}", text) else None


# The prompt has no line end and precedes the next line, so the pattern is searched in the line.
CONSOLE_FORM = LineForm("", 0, answer=r"chooses ([0-9]+)")


class ConsoleHost(Host):
    """A program with its own board that reads the opponent's moves one by one.

    SpecError for options that a console program does not have.
    """

    def __init__(self, game: Game, options: Mapping[str, object]) -> None:
        self.game, self.form = game, read_form(CONSOLE_FORM, options)
        if options.get("question"):
            raise SpecError("a console program gets no question: leave out question")
        self.player, self.sent_plies, self.is_new = 0, 0, True

    def new_game(self, player: int, start: Position, seed: int) -> Steps[None]:
        """Start a process whose arguments name its seat."""
        self.player, self.sent_plies, self.is_new = player, 0, True
        yield Restart(self.form.seats[player])

    def choose(self, question: Question) -> Steps[int]:
        """Send the opponent's moves since its last one, then read its move."""
        for ply in question.plies[self.sent_plies :]:
            if ply.before.mover == self.player:
                reason = "is a console program, which cannot be given moves it did not choose"
                raise BotFault("unloadable", reason)
            yield Write(f"{ply.move + self.form.base}\n")
        self.sent_plies = question.ply + 1
        line = yield from read_first_line(self.is_new)
        self.is_new = False
        while (number := find_number(self.form.answer, line)) is None:
            line = yield from read_first_line(False)
        move = number - self.form.base
        if move not in question.legal:
            raise BotFault("illegal", f"played {number} in {quote(line)}, which is not legal")
        return move
