"""Programs made for people: their moves are found in what they print, ours are numbers."""

from collections.abc import Mapping, Sequence

from agents.core import SpecError
from agents.protocols.conversation import BotFault, Ply, Question, Restart, Steps, Write, first_line
from agents.protocols.line_forms import Form, form_of, number_in
from games import Game, Position
from games.names import quoted

# Its prompt has no line end: it stands before the next line, which is why an answer is searched.
CONSOLE_FORM = Form((), 0, process="game", answer=r"chooses ([0-9]+)")


class Console:
    """A program with its own board, which is given its opponent's moves one by one."""

    def __init__(self, of: Game, options: Mapping[str, object]) -> None:
        """SpecError if the options leave no way to find its moves."""
        self.of, self.form = of, form_of(CONSOLE_FORM, options)
        if options.get("fields") or options.get("separator"):
            raise SpecError("a console program is asked no question: leave out fields, separator")
        self.player, self.told, self.is_new = 0, 0, True

    def greet(self) -> Steps[None]:
        """There is no greeting: it speaks to people."""
        yield from ()

    def new_game(self, player: int, start: Position, seed: int) -> Steps[None]:
        """Start a process whose arguments say who begins."""
        self.player, self.told, self.is_new = player, 0, True
        yield Restart(self.form.arguments[player])

    def choose(self, question: Question) -> Steps[int]:
        """Send the other side's moves since its last one, then find its own."""
        for ply in question.plies[self.told :]:
            if ply.before.mover == self.player:
                reason = "is a console program, which cannot be given moves it did not choose"
                raise BotFault("unloadable", reason)
            yield Write(f"{ply.move + self.form.base}\n")
        self.told = question.ply + 1
        line = yield from first_line(self.is_new)
        self.is_new = False
        while (number := number_in(self.form.answer, line)) is None:
            line = yield from first_line(False)
        move = number - self.form.base
        if move not in question.legal:
            raise BotFault("illegal", f"played {number} in {quoted(line)}, which is not legal")
        return move

    def game_over(self, plies: Sequence[Ply]) -> Steps[None]:
        """Nothing to send: its own board shows the end."""
        yield from ()

    def bye(self) -> Steps[None]:
        """Nothing to send: it ends when its input does."""
        yield from ()
