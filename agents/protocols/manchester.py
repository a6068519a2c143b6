"""The Manchester Kalah protocol, both directions."""

import re
from collections.abc import Mapping, Sequence

from agents.core import Agent, SpecError
from agents.protocols.conversation import (
    BotFault,
    Drop,
    Ply,
    Question,
    Read,
    Restart,
    Silence,
    Steps,
    Write,
    chosen,
    first_line,
)
from games import Game, GameError, Position
from games.base.schema import Key
from games.base.text import quoted

SIDES = ("South", "North")
__all__ = ["OPTIONS", "conversation", "serve"]
OPTIONS: tuple[Key, ...] = ()
SOUTH, NORTH = "START;South\n", "START;North\n"


def state_text(of: Game, position: Position) -> str:
    """North's holes and pot, then South's, each side in its own sowing order."""
    rows = of.plain(position)
    south, north = (*rows.own, rows.own_pot), (*rows.other, rows.other_pot)
    if position.side == 1:
        south, north = north, south
    return ",".join(map(str, north + south))


def position_of(of: Game, state: str, side: int, more: str) -> Position:
    """The position of a state with this side to move; `more` is what is special about it."""
    numbers = state.split(",")
    half = len(numbers) // 2
    north, south = numbers[:half], numbers[half:]
    rows = f"S {' '.join(south[:-1])}, N {' '.join(north[-2::-1])}, pots {south[-1]}-{north[-1]}"
    return of.parse(f"{rows}, {SIDES[side]} to move{more}")


def serve(of: Game, agent: Agent, options: Mapping[str, object]) -> Steps[None]:
    """Play one game; a swap exchanges our side, the board stays as the state says."""
    side, actions = 0, 0
    while True:
        line = yield Read("move", allowed=(Silence.ENDED,))
        if not isinstance(line, str) or line == "END":
            return
        word, *fields = line.split(";")
        if word == "START" and fields[:1] in (["South"], ["North"]):
            side = SIDES.index(fields[0])
            position = of.start()
            asked = side == 0
        elif word == "CHANGE" and len(fields) == 3:
            action, state, turn = fields
            actions += 1
            side = 1 - side if action == "SWAP" else side
            may_swap = of.swap_move is not None and actions == 1 and side == 1 and action != "SWAP"
            asked = turn == "YOU"
            if asked:
                try:
                    position = position_of(of, state, side, ", swap open" if may_swap else "")
                except (GameError, IndexError):
                    continue  # a state that says nothing: the engine will end this
                if of.over(position):
                    continue
        else:
            continue
        if asked:
            move = yield from chosen(position)
            if move == of.swap_move:
                side = 1 - side
                yield Write("SWAP\n")
            else:
                yield Write(f"MOVE;{move + 1}\n")


def conversation(of: Game, options: Mapping[str, object]) -> "ManchesterHost":
    """Ask an agent."""
    if of.pack != "sowing":
        raise SpecError(f"manchester is for sowing games, not for {of.name}")
    return ManchesterHost(of)


class ManchesterHost:
    """One agent, which lives for one game and follows the position from what it hears.

    It speaks whenever it is told that it is to move, so it is told only when it is asked. An
    opening is shown to it as it stands: as South it chooses a first move, which is thrown away.
    """

    def __init__(self, of: Game) -> None:
        """The conversation has not begun."""
        self.of = of
        self.player, self.told, self.begun, self.is_new = 0, 0, False, True

    def greet(self) -> Steps[None]:
        """There is no greeting: a new process may take its time for the first answer."""
        self.is_new = True
        yield from ()

    def new_game(self, player: int, start: Position, seed: int) -> Steps[None]:
        """Start a new process."""
        self.player, self.told, self.begun, self.is_new = player, 0, False, True
        yield Restart()

    def choose(self, question: Question) -> Steps[int]:
        """Send what was played, so that it is its turn, then read its action."""
        yield Drop()
        if not self.begun:
            yield from self._begin(question)
        yield from self._tell(question.plies)
        return self._move(question, (yield from self._answer()))

    def _begin(self, question: Question) -> Steps[None]:
        """The side of the board on which it moves, without the right to a swap that is over."""
        plies, self.begun = question.plies, True
        north = question.position.side == 1
        yield Write(NORTH if north and len(plies) < 2 else SOUTH)
        if len(plies) < 1 + north:
            return
        yield from self._answer()  # South's first move, which the opening has taken from it
        if north:  # South that hears of a swap is North from then on
            first = state_text(self.of, plies[0].after)
            yield Write(f"CHANGE;{plies[0].move + 1};{first};OPP\n")
            yield Write(f"CHANGE;SWAP;{state_text(self.of, question.position)};YOU\n")
        else:
            yield self._change(plies[-1])
        self.told = len(plies)

    def _tell(self, plies: Sequence[Ply]) -> Steps[None]:
        for ply in plies[self.told :]:
            if ply.move != self.of.swap_move or ply.before.mover != self.player:
                yield self._change(ply)
        self.told = len(plies)

    def _change(self, ply: Ply) -> Write:
        action = "SWAP" if ply.move == self.of.swap_move else str(ply.move + 1)
        turn = "YOU" if ply.after.mover == self.player else "OPP"
        if self.of.over(ply.after):
            turn = "END"
        return Write(f"CHANGE;{action};{state_text(self.of, ply.after)};{turn}\n")

    def _answer(self) -> Steps[str]:
        line = yield from first_line(self.is_new)
        self.is_new = False
        return line

    def _move(self, question: Question, line: str) -> int:
        """The action that a line means."""
        found = re.fullmatch(r"MOVE;\s*([+-]?[0-9]{1,9})", line)
        if not found and line != "SWAP":
            raise BotFault("unreadable", f"answered {quoted(line)}, which is no action")
        swap = self.of.swap_move
        move = int(found[1]) - 1 if found else swap
        if move is None or move not in question.legal or (found and move == swap):
            raise BotFault("illegal", f"answered {quoted(line)}, which is not legal")
        return move

    def game_over(self, plies: Sequence[Ply]) -> Steps[None]:
        """The rest of the game if it knows the beginning, and the end."""
        if self.begun:
            yield from self._tell(plies)
            yield Write("END\n")

    def bye(self) -> Steps[None]:
        """After the end it is expected to end by itself."""
        yield from ()
