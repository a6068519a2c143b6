"""Pairings played move by move: those of bots, of slow evaluations, of games cut off."""

import logging
from collections.abc import Callable, Iterable

import numpy as np

from agents import Agent
from arena.planning.drawing import DrawnPlan
from arena.planning.openings import moves_of
from arena.planning.pairings import Block
from arena.planning.records import PLAYED, Games, Termination
from arena.planning.tasks import CutOff, Verdicts
from arena.playing.compiled_loop import seeds_of
from arena.playing.referee import START, PlayedGame, game_id, play_game
from games import Game

log = logging.getLogger(__name__)


class RefereeLoop:
    """Plays blocks of pairings by the referee."""

    def __init__(self, drawn: DrawnPlan, agent: Callable[[int], Agent]) -> None:
        """`agent` returns the agent at a place, built if need be."""
        self.drawn, self.agent = drawn, agent

    def play(self, block: Block, verdicts: Verdicts) -> Games:
        """Both games of every pairing of the block; a verdict cuts its game off."""
        of, pairings = self.drawn.of, self.drawn.pairings
        openings = self.drawn.openings.slots[pairings.openings(block)]
        seeds = [seeds_of(pairings, block, leg).tolist() for leg in (0, 1)]
        games: list[PlayedGame] = []
        for i in range(block.size):
            pairing, opening = block.first + i, moves_of(of, openings[i])
            for leg in (0, 1):
                both = seeds[leg][i][0], seeds[leg][i][1]
                verdict = verdicts.get((pairing, leg))
                games.append(self._game(block, pairing, leg, opening, both, verdict))
        return records(of, games, self.drawn.plan.keep_moves)

    def _game(
        self,
        block: Block,
        pairing: int,
        leg: int,
        opening: list[int],
        seeds: tuple[int, int],
        verdict: CutOff | None,
    ) -> PlayedGame:
        places = (block.a, block.b) if leg == 0 else (block.b, block.a)
        seats = (lambda: self.agent(places[0])), (lambda: self.agent(places[1]))
        played = play_game(self.drawn.of, seats, opening, seeds, verdict)
        if played.trace:
            name = self.drawn.plan.names[places[played.result // 2]]
            reason = played.trace.partition("\n")[0]
            log.warning("pairing %d, game %d: %s forfeits: %s", pairing, leg + 1, name, reason)
        return played


def records(of: Game, games: list[PlayedGame], keep_moves: bool) -> Games:
    """The columns of finished games."""
    rows = {
        "game_id": [game_id(of, game.moves) for game in games],
        "result": [game.result for game in games],
        "margin": [game.margin for game in games],
        "plies": [len(game.moves) for game in games],
        "termination": [int(game.termination) for game in games],
    }
    for seat, name in enumerate(("first", "second")):
        rows |= {
            f"{name}_nodes": [game.nodes[seat] for game in games],
            f"{name}_nanoseconds": [game.nanoseconds[seat] for game in games],
            f"{name}_moves": [game.chosen[seat] for game in games],
        }
    columns = {name: np.array(rows[name], kind) for name, kind in PLAYED.items()}
    moves = np.array([move for game in games for move in game.moves], np.int16)
    traces = {row: game.trace for row, game in enumerate(games) if game.trace}
    return Games(columns, moves if keep_moves else None, traces)


def stored_verdicts(games: Games, pairings: Iterable[int]) -> Verdicts:
    """The verdicts on stored games that were cut off; with them the games are repeated at once."""
    verdicts = {}
    for row in (2 * pairing + leg for pairing in pairings for leg in (0, 1)):
        if games.termination[row] == Termination.TIMEOUT:
            seat, plies = 1 if games.result[row] else 0, int(games.plies[row])
            verdicts[divmod(row, 2)] = CutOff(plies or START, seat)
    return verdicts
