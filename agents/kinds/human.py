"""A person at the terminal."""

import re
import sys
from typing import TextIO

from agents.core import AgentSpec, Choice, Limit, require_unfinished
from agents.registry import EXTERNAL, Kind
from games import Game, Position
from games.core import legal_move_texts, side_name

DEEPEST_LEVEL = 100
HELP = """\
undo      take back your last move
hint      what every move is worth, as far as it can be worked out
restart   begin again
level 6   let the computer look 6 moves ahead
quit      stop here
help      these lines"""


class PlayerCommand(Exception):  # noqa: N818  # a wish, not an error
    """A command that a person typed instead of a move, for the caller."""


class Undo(PlayerCommand):
    """Go back to the person's last choice."""


class Restart(PlayerCommand):
    """Restart the game."""


class Hint(PlayerCommand):
    """Show the value of every move."""


class Quit(PlayerCommand):
    """Stop playing; also raised at the end of input."""


class Level(PlayerCommand):
    """Set the search depth of computer players; `depth` is from 1 to DEEPEST_LEVEL."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        super().__init__(depth)


class Dialogue:
    """Questions to a person on two streams; None means standard input or output."""

    def __init__(self, source: TextIO | None = None, target: TextIO | None = None) -> None:
        self._source, self._target = source, target

    @property
    def source(self) -> TextIO:
        """The stream of the answers."""
        return self._source or sys.stdin

    def say(self, text: str = "") -> None:
        """Print lines for the person."""
        print(text, file=self._target or sys.stdout, flush=True)

    def ask(self, prompt: str) -> str:
        """Ask a question and return the answer, stripped; raises Quit at the end of input."""
        print(prompt, end="", file=self._target or sys.stdout, flush=True)
        line = self.source.readline()
        if not line or not self.source.isatty():
            self.say(line.strip())  # show piped input next to its question
        if not line:
            raise Quit
        return line.strip()

    def ask_with_commands(self, prompt: str, help_text: str) -> str:
        """Ask a question; answer `help` here and raise other commands."""
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


COMMANDS = {"undo": Undo, "restart": Restart, "hint": Hint, "quit": Quit, "exit": Quit}


def parse_level(text: str) -> int | None:
    """Return the depth in `text`, or None."""
    number = int(text) if re.fullmatch(r"\s*[0-9]{1,4}\s*", text) else 0
    return number if 1 <= number <= DEEPEST_LEVEL else None


class HumanAgent:
    """A person as an agent; `draws` is False if the caller shows the board."""

    def __init__(
        self,
        spec: AgentSpec,
        game: Game,
        dialogue: Dialogue | None = None,
        name: str = "human",
        draws: bool = True,
    ) -> None:
        self.spec, self.game, self.name, self.draws = spec, game, name, draws
        self.dialogue = dialogue or Dialogue()

    def start(self, seed: int) -> None:
        """Begin a game; there is nothing to do."""

    def choose(self, position: Position, limit: Limit | None = None) -> Choice:
        """Return the person's move; forced passes are only announced. Raises a PlayerCommand."""
        require_unfinished(self.game, position)
        if self.draws:
            self.dialogue.say(self.game.draw(position))
        legal = self.game.legal(position)
        if legal == (self.game.pass_move,):
            self.dialogue.say(f"{self.name} cannot move and passes.")
            return Choice(legal[0])
        while True:
            answer = self._ask(position)
            move = self.game.notation.parse_move(position, answer)
            if move is not None and move in legal:
                return Choice(move)
            self.dialogue.say(self.game.notation.refusal(self.game, position, answer, move))

    def _ask(self, position: Position) -> str:
        noun = self.game.notation.move_noun(self.game, position)
        prompt = f"{self.name} ({side_name(self.game, position)}), your {noun}: "
        now = f"Choose a {noun}; now you can choose {legal_move_texts(self.game, position)}."
        return self.dialogue.ask_with_commands(prompt, now)


def build(spec: AgentSpec, game: Game) -> HumanAgent:
    """A person at the terminal of this process."""
    return HumanAgent(spec, game)


KIND = Kind(build, randomness_reason=lambda _: EXTERNAL)
