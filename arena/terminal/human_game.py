"""A game at the terminal against a person, with undo and hints."""

from dataclasses import dataclass

from agents.core import Agent, GameFollower, Limit, Resignation
from agents.kinds.human import Dialogue, Hint, Level, Quit, Restart, Undo
from agents.registry import kind_of
from games import Game, Position
from games.base.cli import shell_command
from games.base.errors import print_error
from games.base.text import count_noun, quote
from games.core import side_name
from games.solving import Budget, SolverSettings, solver_of
from games.solving.solution import Solution, side_by_side, solve_steps
from games.solving.solver import Allowance, Bounds, Solver
from games.transcripts import replay_command

SECONDS = 3.0  # of solving before each move


class MoveValues:
    """Values of moves, exact or as bounds; one solver serves the whole game."""

    def __init__(self, game: Game, seconds: float = SECONDS) -> None:
        self.game, self.seconds = game, seconds
        self.solver: Solver | None = None

    def board_with_values(self, board: str, position: Position) -> str:
        """Return the board with the value of every move on its right."""
        return board if self.game.over(position) else side_by_side(board, self.lines(position))

    def lines(self, position: Position) -> list[str]:
        """Return the outcome, and a line for each move."""
        known = self.solve(position)
        outcome = known.bounds.outcome
        lines = [f"{outcome or 'winner unknown'}: {bounds_text(known.bounds)}"]
        for move, bounds in known.moves:
            best = " best" if bounds.exact and bounds == known.bounds else ""
            lines.append(f"{self.game.move_text(position, move):>4} {bounds_text(bounds)}{best}")
        return lines

    def solve(self, position: Position) -> Solution:
        """Return the values that the solver finds within the time."""
        if self.solver is None:
            settings = SolverSettings(database_seconds=self.seconds)
            self.solver = solver_of(self.game, settings, print_error)
            self.solver.prepare()
        *_, known = solve_steps(self.solver, position, Allowance(Budget(seconds=self.seconds)))
        return known


def bounds_text(bounds: Bounds) -> str:
    """Return bounds as `+8`, `-2 to +4`, or `?` if they are unknown."""
    if bounds.exact:
        return f"{bounds.low:+d}"
    if not (bounds.has_low and bounds.has_high):
        return "?"
    return f"{bounds.low:+d} to {bounds.high:+d}"


@dataclass(frozen=True, slots=True)
class Player:
    """A name and its agent."""

    name: str
    agent: Agent

    @property
    def is_person(self) -> bool:
        """Return whether a person chooses the moves."""
        return self.agent.spec.kind == "human"

    @property
    def searches(self) -> bool:
        """Return whether the agent searches to a depth that can be set."""
        return kind_of(self.agent.spec).option("depth") is not None


class HumanGame:
    """The game so far, as positions and the moves between them.

    With `waits`, Enter shows the next move of two computers. `seconds` limit every level, `seed`
    is for agents that follow the game, and `values` show people the values of moves.
    """

    def __init__(
        self,
        game: Game,
        players: tuple[Player, Player],
        dialogue: Dialogue,
        waits: bool = False,
        seconds: float | None = None,
        seed: int = 0,
        start: Position | None = None,
        hints: MoveValues | None = None,
    ) -> None:
        self.game, self.players, self.dialogue = game, players, dialogue
        self.waits = waits and not any(player.is_person for player in players)
        self.seconds, self.seed = seconds, seed
        self.limit: Limit | None = None
        self.moves: list[int] = []
        self.positions = [game.start() if start is None else start]
        self.hints = hints
        self.helper: MoveValues | None = None  # created at the first hint
        self.ending = "The game is not over."

    @property
    def position(self) -> Position:
        """Return the position on the board."""
        return self.positions[-1]

    def play(self) -> None:
        """Play until the game is over or a person quits."""
        self.print_rules()
        self.print_board()
        while not self.game.over(self.position):
            try:
                self.play_ply()
            except Undo:
                self.take_back()
            except Restart:
                self.restart()
            except Hint:
                self.print_hint()
            except Level as level:
                self.set_depth(level.depth)
            except Quit:
                return self.finish("The game was stopped.")
            except Resignation:
                return self.finish(self.resignation_text())
        return self.finish(self.result_text())

    def finish(self, words: str) -> None:
        """Print how the game ended."""
        self.ending = words.splitlines()[-1]
        self.dialogue.say(words)

    def print_rules(self) -> None:
        """Print the rules if a person plays."""
        if any(player.is_person for player in self.players):
            self.dialogue.say("\n".join(self.game.notation.rule_lines(self.game)))

    def restart(self) -> None:
        """Start again from the first position."""
        del self.moves[:], self.positions[1:]
        self.restart_followers()
        self.dialogue.say("The game starts again.")
        self.print_board()

    def print_hint(self) -> None:
        """Print the value of every move, exact or as bounds."""
        self.helper = self.helper or self.hints or MoveValues(self.game)
        self.dialogue.say("\n".join(self.helper.lines(self.position)))

    def print_board(self) -> None:
        """Print the board with the names of the players."""
        names = self.players[0].name, self.players[1].name
        board = self.game.draw(self.position, names)
        if self.hints is not None and (self.waits or self.players[self.position.mover].is_person):
            board = self.hints.board_with_values(board, self.position)
        self.dialogue.say(f"\n{board}\n")

    def play_ply(self) -> None:
        """Play one move; a forced pass needs no answer."""
        player = self.players[self.game.mover(self.position)]
        legal = self.game.legal(self.position)
        if legal == (self.game.pass_move,):
            move = legal[0]
        else:
            if self.waits:
                self.wait()
            limit = self.limit if player.searches else None
            move = player.agent.choose(self.position, limit).move
        self.make_move(move)

    def make_move(self, move: int) -> None:
        """Make a legal move and report it."""
        player, before = self.players[self.game.mover(self.position)], self.position
        self.moves.append(move)
        self.positions.append(self.game.play(before, move))
        self.notify_followers(before, move, self.position)
        self.dialogue.say(self.move_report(player, before, move))
        self.print_board()

    def notify_followers(self, before: Position, move: int, after: Position) -> None:
        """Send a move to agents that follow the game."""
        for player in self.players:
            if isinstance(player.agent, GameFollower):
                player.agent.note_move(move, before, after)

    def restart_followers(self) -> None:
        """Send all moves as a new game to agents that follow the game."""
        for player in self.players:
            if isinstance(player.agent, GameFollower):
                player.agent.finish()
                player.agent.start(self.seed)
        for place, move in enumerate(self.moves):
            self.notify_followers(self.positions[place], move, self.positions[place + 1])

    def resignation_text(self) -> str:
        """Return who resigned and who won."""
        loser = self.game.mover(self.position)
        return f"{self.players[loser].name} resigns: {self.players[1 - loser].name} wins."

    def move_report(self, player: Player, before: Position, move: int) -> str:
        """Return a sentence about a move."""
        name = f"{player.name} ({side_name(self.game, before)})"
        if move == self.game.pass_move:
            return f"{name} cannot move and passes."
        if move == self.game.swap_move:
            return f"{name} swaps: the players change sides."
        goes_on = not self.game.over(self.position) and self.game.mover(
            self.position
        ) == self.game.mover(before)
        again = " and moves again" if goes_on else ""
        return f"{name} plays {self.game.move_text(before, move)}{again}."

    def wait(self) -> None:
        """Wait until a spectator presses Enter; commands work here, too."""
        prompt = "Enter shows the next move"
        while answer := self.dialogue.ask_with_commands(f"{prompt}: ", prompt):
            self.dialogue.say(f"{quote(answer)} is not a command: press Enter, or type help")

    def take_back(self) -> None:
        """Return to the last choice of a person, or by one move in a game of computers."""
        chosen = [place for place in range(len(self.moves)) if self.is_choice(place)]
        if not chosen:
            self.dialogue.say("There is no move to take back.")
            return
        del self.moves[chosen[-1] :], self.positions[chosen[-1] + 1 :]
        self.restart_followers()
        self.print_board()

    def is_choice(self, place: int) -> bool:
        """Return whether a person, if one plays, chose the move at `place`."""
        before = self.positions[place]
        mine = self.waits or self.players[self.game.mover(before)].is_person
        return mine and self.moves[place] != self.game.pass_move

    def set_depth(self, depth: int) -> None:
        """Search to `depth` from the next move on."""
        names = [player.name for player in self.players if player.searches]
        if not names:
            self.dialogue.say("No player looks ahead.")
            return
        self.limit = Limit(depth=depth, seconds=self.seconds)
        self.dialogue.say(f"{' and '.join(names)}: looking {count_noun(depth, 'move')} ahead.")

    def result_text(self) -> str:
        """Return the final sweep of beans, the score, and the winner."""
        game, names = self.game, [player.name for player in self.players]
        swept = game.notation.end_gains(game, self.positions[-2], self.moves[-1])
        lines = [
            f"The game is over. {count_noun(beans, 'bean')} left in the rows swept to {name}'s pot."
            for name, beans in zip(names, swept, strict=True)
            if beans
        ]
        first, second = game.score(self.position)
        score = f"Final score: {names[0]} {first}, {names[1]} {second}"
        raw = game.raw_score(self.position)
        if raw != (first, second):
            score += f" ({raw[0]} and {raw[1]} without the empty squares)"
        winner = "a tie" if first == second else f"{names[0 if first > second else 1]} wins"
        return "\n".join([*(lines or ["The game is over."]), f"{score}: {winner}."])

    def command(self) -> str:
        """Return the command that shows this game again."""
        return shell_command(replay_command(self.game, self.moves, self.positions[0]))
