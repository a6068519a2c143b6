"""The Manchester Kalah engine: our agent as its child."""

from collections.abc import Mapping

from agents.core import Agent
from agents.protocols.conversation import Read, Silence, Steps, Write, chosen
from games import Game, GameError, Position

SIDES = ("South", "North")


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
