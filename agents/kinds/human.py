"""A person at the terminal."""

import re
import sys
from typing import TextIO

from agents.core import AgentSpec, Choice, Limit, Options, require_unfinished
from agents.registry import EXTERNAL
from games import Game, Position
from games.core import legal_texts, side_name, words_of

DEEPEST_LEVEL = 100
HELP = """\
undo      take back your last move
hint      what every move is worth, as far as it can be worked out
restart   begin again
level 6   let the computer look 6 moves ahead
quit      stop here
help      these lines"""


class PlayerCommand(Exception):  # noqa: N818  # a wish, not an error
    """What a person typed instead of a move, for whoever runs the game."""


class Undo(PlayerCommand):
    """Go back to where the person last chose."""


class BeginAgain(PlayerCommand):
    """Begin the game again."""


class Hint(PlayerCommand):
    """Show what every move is worth."""


class Quit(PlayerCommand):
    """Stop playing; also raised at the end of input."""


class Level(PlayerCommand):
    """Let computers look `depth` plies ahead from now on."""

    def __init__(self, depth: int) -> None:
        """`depth` is from 1 to DEEPEST_LEVEL."""
        self.depth = depth
        super().__init__(depth)


class Dialogue:
    """Questions to a person and the answers: on the terminal, a pipe, or two other streams."""

    def __init__(self, source: TextIO | None = None, target: TextIO | None = None) -> None:
        """`None` means standard input or output, looked up when used."""
        self._source, self._target = source, target

    @property
    def source(self) -> TextIO:
        """Where answers come from."""
        return self._source or sys.stdin

    def say(self, text: str = "") -> None:
        """Print lines for the person."""
        print(text, file=self._target or sys.stdout, flush=True)

    def ask(self, prompt: str) -> str:
        """Ask for an answer, which comes stripped; Quit at the end of input."""
        print(prompt, end="", file=self._target or sys.stdout, flush=True)
        line = self.source.readline()
        if not line or not self.source.isatty():
            self.say(line.strip())  # what comes through a pipe is shown beside its question
        if not line:
            raise Quit
        return line.strip()

    def ask_with_commands(self, prompt: str, help_text: str) -> str:
        """As `ask`, but `help` is answered here and other commands are raised."""
        while True:
            answer = self.ask(prompt)
            command, _, rest = answer.lower().partition(" ")
            if command in ("help", "?"):
                self.say(f"{help_text}\n{HELP}")
            elif command == "level":
                if depth := parse_level(rest):
                    raise Level(depth)
                self.say(f"level needs a number from 1 to {DEEPEST_LEVEL}, such as: level 6")
            elif answer.lower() in COMMANDS:
                raise COMMANDS[answer.lower()]
            else:
                return answer


COMMANDS = {"undo": Undo, "restart": BeginAgain, "hint": Hint, "quit": Quit, "exit": Quit}


def parse_level(text: str) -> int | None:
    """The plies to look ahead that `text` says, `None` if it says none."""
    number = int(text) if re.fullmatch(r"\s*[0-9]{1,4}\s*", text) else 0
    return number if 1 <= number <= DEEPEST_LEVEL else None


class HumanAgent:
    """A person behind the interface that every agent has."""

    def __init__(
        self,
        spec: AgentSpec,
        of: Game,
        dialogue: Dialogue | None = None,
        name: str = "human",
        draws: bool = True,
    ) -> None:
        """`draws` is False where whoever runs the game shows the board."""
        self.spec, self.game, self.name, self.draws = spec, of, name, draws
        self.dialogue = dialogue or Dialogue()

    def start(self, seed: int) -> None:
        """Begin a game; a person draws no lots."""

    def choose(self, position: Position, limit: Limit | None = None) -> Choice:
        """The person's move; a forced pass is only announced. A Command is raised."""
        require_unfinished(self.game, position)
        if self.draws:
            self.dialogue.say(self.game.draw(position))
        legal = self.game.legal(position)
        if legal == (self.game.pass_move,):
            self.dialogue.say(f"{self.name} cannot move and passes.")
            return Choice(legal[0])
        while True:
            answer = self._answer(position)
            move = self.game.notation.parse_move(position, answer)
            if move is not None and move in legal:
                return Choice(move)
            self.dialogue.say(words_of(self.game).why_not(self.game, position, answer, move))

    def _answer(self, position: Position) -> str:
        noun = words_of(self.game).noun(self.game, position)
        prompt = f"{self.name} ({side_name(self.game, position)}), your {noun}: "
        now = f"Choose a {noun}; now you can choose {legal_texts(self.game, position)}."
        return self.dialogue.ask_with_commands(prompt, now)


def varies(_: Options) -> str | None:
    """A person may answer anything."""
    return EXTERNAL


def build(spec: AgentSpec, of: Game) -> HumanAgent:
    """A person at the terminal of this process."""
    return HumanAgent(spec, of)
