"""A game against a person, with undo and hints."""

from dataclasses import dataclass

from agents.core import Agent, GameFollower, Limit, Resignation
from agents.kinds.human import BeginAgain, Dialogue, Hint, Level, Quit, Undo
from agents.registry import kind_of
from games import Game, Position
from games.base.cli import shell_command
from games.base.errors import print_error
from games.base.text import quote
from games.core import side_name, words_of
from games.solving import Budget, SolverSettings, solver_of
from games.solving.solution import Solution, beside, steps
from games.solving.solver import Allowance, Bounds, Solver
from games.transcripts import replay_command

SECONDS = 3.0  # of looking, at most, before a move


class Hints:
    """Values of moves, exact or as bounds; what was found out serves the moves that follow."""

    def __init__(self, of: Game, seconds: float = SECONDS) -> None:
        """Nothing is solved yet."""
        self.of, self.seconds = of, seconds
        self.solver: Solver | None = None

    def beside(self, board: str, position: Position) -> str:
        """The drawn board with the value of every move on its right."""
        return board if self.of.over(position) else beside(board, self.lines(position))

    def lines(self, position: Position) -> list[str]:
        """Who wins, and a line a move."""
        known = self.found(position)
        outcome = known.bounds.outcome
        lines = [f"{outcome or 'nobody knows who wins'}: {words(known.bounds)}"]
        for move, bounds in known.moves:
            best = " best" if bounds.exact and bounds == known.bounds else ""
            lines.append(f"{self.of.move_text(position, move):>4} {words(bounds)}{best}")
        return lines

    def found(self, position: Position) -> Solution:
        """As much as is found out in a few seconds."""
        if self.solver is None:
            settings = SolverSettings(database_seconds=self.seconds)
            self.solver = solver_of(self.of, settings, print_error)
            self.solver.prepare()
        *_, known = steps(self.solver, position, Allowance(Budget(seconds=self.seconds)))
        return known


def words(bounds: Bounds) -> str:
    """`+8`, `-2 to +4`, or `?` where nothing is known."""
    if bounds.exact:
        return f"{bounds.low:+d}"
    if not (bounds.has_low and bounds.has_high):
        return "?"
    return f"{bounds.low:+d} to {bounds.high:+d}"


@dataclass(frozen=True, slots=True)
class Player:
    """A name and the agent behind it."""

    name: str
    agent: Agent

    @property
    def is_person(self) -> bool:
        """Whether a person chooses its moves."""
        return self.agent.spec.kind == "human"

    @property
    def looks_ahead(self) -> bool:
        """Whether it searches, so that its depth can be set."""
        return kind_of(self.agent.spec).option("depth") is not None


class HumanGame:
    """The game so far: positions and the moves between them."""

    def __init__(
        self,
        of: Game,
        players: tuple[Player, Player],
        dialogue: Dialogue,
        waits: bool = False,
        seconds: float | None = None,
        seed: int = 0,
        start: Position | None = None,
        hints: Hints | None = None,
    ) -> None:
        """`waits`: Enter shows the next move of two computers; `seconds` limit every level.

        `seed` is for who must be told of the game anew. `hints` tell people what moves are worth.
        """
        self.of, self.players, self.dialogue = of, players, dialogue
        self.waits = waits and not any(player.is_person for player in players)
        self.seconds, self.seed = seconds, seed
        self.limit: Limit | None = None
        self.moves: list[int] = []
        self.positions = [of.start() if start is None else start]
        self.hints = hints
        self.helper: Hints | None = None  # made when a person first asks
        self.ending = "The game is not over."

    @property
    def now(self) -> Position:
        """The position on the board."""
        return self.positions[-1]

    def play(self) -> None:
        """Play to the end, or until a person quits."""
        self.show_rule()
        self.show()
        while not self.of.over(self.now):
            try:
                self.ply()
            except Undo:
                self.take_back()
            except BeginAgain:
                self.restart()
            except Hint:
                self.hint()
            except Level as level:
                self.look_ahead(level.depth)
            except Quit:
                return self.end("The game was stopped.")
            except Resignation:
                return self.end(self.resignation())
        return self.end(self.verdict())

    def end(self, words: str) -> None:
        """Say how the game has ended."""
        self.ending = words.splitlines()[-1]
        self.dialogue.say(words)

    def show_rule(self) -> None:
        """Say how the game is played, to people who play it."""
        if any(player.is_person for player in self.players):
            self.dialogue.say("\n".join(words_of(self.of).rule(self.of)))

    def restart(self) -> None:
        """Begin again from the first position."""
        del self.moves[:], self.positions[1:]
        self.tell_again()
        self.dialogue.say("The game begins again.")
        self.show()

    def hint(self) -> None:
        """Say what every move is worth, exactly or in bounds."""
        self.helper = self.helper or self.hints or Hints(self.of)
        self.dialogue.say("\n".join(self.helper.lines(self.now)))

    def show(self) -> None:
        """Show the board with the names of the players."""
        names = self.players[0].name, self.players[1].name
        board = self.of.draw(self.now, names)
        if self.hints is not None and (self.waits or self.players[self.now.mover].is_person):
            board = self.hints.beside(board, self.now)
        self.dialogue.say(f"\n{board}\n")

    def ply(self) -> None:
        """One move of the player to move; a forced pass is played without asking."""
        player = self.players[self.of.mover(self.now)]
        legal = self.of.legal(self.now)
        if legal == (self.of.pass_move,):
            move = legal[0]
        else:
            if self.waits:
                self.wait()
            limit = self.limit if player.looks_ahead else None
            move = player.agent.choose(self.now, limit).move
        before = self.now
        self.moves.append(move)
        self.positions.append(self.of.play(before, move))
        self.tell(before, move, self.now)
        self.dialogue.say(self.move_report(player, before, move))
        self.show()

    def tell(self, before: Position, move: int, after: Position) -> None:
        """Tell those who follow the game of a move."""
        for player in self.players:
            if isinstance(player.agent, GameFollower):
                player.agent.played(move, before, after)

    def tell_again(self) -> None:
        """Tell those who follow the game all of it, as a new one."""
        for player in self.players:
            if isinstance(player.agent, GameFollower):
                player.agent.finish()
                player.agent.start(self.seed)
        for place, move in enumerate(self.moves):
            self.tell(self.positions[place], move, self.positions[place + 1])

    def resignation(self) -> str:
        """Who has given up, and who has won."""
        loser = self.of.mover(self.now)
        return f"{self.players[loser].name} resigns: {self.players[1 - loser].name} wins."

    def move_report(self, player: Player, before: Position, move: int) -> str:
        """The move in words."""
        who = f"{player.name} ({side_name(self.of, before)})"
        if move == self.of.pass_move:
            return f"{who} cannot move and passes."
        if move == self.of.swap_move:
            return f"{who} swaps: the players change sides."
        goes_on = not self.of.over(self.now) and self.of.mover(self.now) == self.of.mover(before)
        again = " and moves again" if goes_on else ""
        return f"{who} plays {self.of.move_text(before, move)}{again}."

    def wait(self) -> None:
        """Wait until a spectator presses Enter; commands are obeyed here too."""
        what = "Enter shows the next move"
        while answer := self.dialogue.ask_with_commands(f"{what}: ", what):
            self.dialogue.say(f"{quote(answer)} means nothing here: press Enter, or type help")

    def take_back(self) -> None:
        """Return to where a person last chose, or in a game of computers by one move."""
        chosen = [place for place in range(len(self.moves)) if self.was_choice(place)]
        if not chosen:
            self.dialogue.say("There is no move to take back.")
            return
        del self.moves[chosen[-1] :], self.positions[chosen[-1] + 1 :]
        self.tell_again()
        self.show()

    def was_choice(self, place: int) -> bool:
        """Whether a person, if there is one, chose the move at `place`."""
        before = self.positions[place]
        mine = self.waits or self.players[self.of.mover(before)].is_person
        return mine and self.moves[place] != self.of.pass_move

    def look_ahead(self, depth: int) -> None:
        """Search to `depth` from the next move on."""
        names = [player.name for player in self.players if player.looks_ahead]
        if not names:
            self.dialogue.say("No player looks ahead.")
            return
        self.limit = Limit(depth=depth, seconds=self.seconds)
        self.dialogue.say(f"{' and '.join(names)}: looking {plural(depth, 'move')} ahead.")

    def verdict(self) -> str:
        """The beans that were swept, the final score, the winner."""
        of, names = self.of, [player.name for player in self.players]
        swept = words_of(of).swept(of, self.positions[-2], self.moves[-1])
        lines = [
            f"The game is over. {plural(beans, 'bean')} left in the rows swept to {name}'s pot."
            for name, beans in zip(names, swept, strict=True)
            if beans
        ]
        first, second = of.score(self.now)
        score = f"Final score: {names[0]} {first}, {names[1]} {second}"
        raw = of.raw_score(self.now)
        if raw != (first, second):
            score += f" ({raw[0]} and {raw[1]} without the empty squares)"
        winner = "a tie" if first == second else f"{names[0 if first > second else 1]} wins"
        return "\n".join([*(lines or ["The game is over."]), f"{score}: {winner}."])

    def command(self) -> str:
        """The command that shows this game again."""
        return shell_command(replay_command(self.of, self.moves, self.positions[0]))


def plural(number: int, word: str) -> str:
    """Such as `1 bean` or `2 beans`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
