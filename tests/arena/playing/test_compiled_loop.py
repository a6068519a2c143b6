"""The compiled loop: room for moves grows between the legs of a pairing, and nothing is lost."""

import numpy as np

from arena.config.experiment import load
from arena.planning.schedule import make_schedule
from arena.playing import compiled_loop
from arena.playing.compiled_loop import CompiledLoop
from arena.playing.worker import Worker
from tests.arena.running import experiment_file, small
from tests.arena.test_pipeline import NOISY


def with_room(loop: CompiledLoop, plies: int) -> CompiledLoop:
    """The loop with room for games of so many plies."""
    loop.longest = plies
    loop._make_room()
    return loop


def test_what_the_first_leg_played_stays_when_the_second_needs_more_room(tmp_path):
    drawn = make_schedule(load(experiment_file(tmp_path, small(40) + NOISY)).plan)
    worker, grown = Worker(drawn), 0
    for block in (piece for each in drawn.pairings.blocks(0, 40) for piece in each.pieces(1)):
        agents = worker.agent(block.a), worker.agent(block.b)
        roomy = CompiledLoop(drawn).play(block, agents)
        first, second = roomy.columns["plies"].tolist()
        if first >= second:
            continue
        loop = with_room(CompiledLoop(drawn), first)
        cramped = loop.play(block, agents)
        for name in ("plies", "margin", "game_id", "first_moves", "first_nodes", "second_nodes"):
            assert np.array_equal(cramped.columns[name], roomy.columns[name]), name
        assert cramped.moves.tolist() == roomy.moves.tolist()
        grown += loop.longest > first
    assert grown > 5


def test_room_grows_up_to_twenty_thousand_plies():
    # No game of ours is longer: at most so many plies are played, then it is a draw.
    assert compiled_loop.LONGEST == 20_000
