"""The referee with scripted agents: results, faults and cutoffs."""

from types import MappingProxyType

import numpy as np
import pytest

from agents.core import FAILURES, AgentFailure, AgentSpec, Choice, Resignation
from agents.registry import build
from agents.search import game_loop as loop
from arena.planning.games import DRAW, LOSS, WIN, Termination
from arena.playing import referee
from arena.playing.referee import START, Cutoff, game_id, play_game
from games import game
from games.board import Board

OF = game("kalah(4,3)")


class Scripted:
    """Plays the first legal move until its script says otherwise."""

    def __init__(self, **faults):
        self.faults, self.asked, self.seeds, self.positions = faults, 0, [], []

    def start(self, seed):
        self.seeds.append(seed)
        if "start" in self.faults:
            raise failure(self.faults["start"])

    def choose(self, position, limit=None):
        self.asked += 1
        self.positions.append(position)
        if f"move{self.asked}" in self.faults:
            raise failure(self.faults[f"move{self.asked}"])
        return Choice(OF.legal(position)[0], nodes=10)


def failure(kind):
    return AgentFailure(kind, "bot.py", "", "did something")


def factory(agent):
    return lambda: agent


def play(first, second, opening=(), cutoff=None, of=OF):
    slots = [of.slots_of(move) for move in opening]
    return play_game(Board(of), (factory(first), factory(second)), slots, (3, 4), cutoff)


def move_counts(record):
    return [clock.moves for clock in record.clocks]


class Delayed(Scripted):
    """Gives search information, and could not run for most of each move."""

    data = MappingProxyType({"mood": "calm"})

    class bot:  # noqa: N801
        delay_within = staticmethod(lambda taken: taken - 5)


def test_search_information_has_the_thinking_time_of_the_clock(monkeypatch):
    monkeypatch.setattr(referee, "LAG_CHECK_NS", 0)
    seats = factory(Delayed()), factory(Delayed())
    record = play_game(Board(OF), seats, (), (3, 4), keep_search_info=True)
    for side, clock in enumerate(record.clocks):
        own = [each.nanoseconds for each in record.search_info if each.side == side]
        assert sum(own) == clock.nanoseconds
        assert len(own) == clock.moves


def test_game_ends_by_the_rules():
    first, second = Scripted(), Scripted()
    record = play(first, second, opening=(1, 2))
    assert record.moves[:2] == (1, 2)
    assert record.termination is Termination.NORMAL
    assert record.result == (WIN if record.margin > 0 else DRAW if record.margin == 0 else LOSS)
    assert (first.seeds, second.seeds) == ([3], [4])
    assert move_counts(record) == [first.asked, second.asked]
    assert sum(move_counts(record)) == len(record.moves) - 2
    assert [clock.nodes for clock in record.clocks] == [10 * first.asked, 10 * second.asked]
    assert min(clock.nanoseconds for clock in record.clocks) > 0


FAULTS = [(kind, Termination[kind.upper()]) for kind in FAILURES]


@pytest.mark.parametrize(("kind", "termination"), FAULTS)
@pytest.mark.parametrize("guilty", [0, 1])
@pytest.mark.parametrize("when", ["start", "move2"])
def test_fault_loses_the_game(kind, termination, guilty, when):
    agents = [Scripted(), Scripted()]
    agents[guilty] = Scripted(**{when: kind})
    record = play(*agents)
    assert record.termination is termination
    assert record.result == (LOSS if guilty == 0 else WIN)
    assert "did something" in record.trace


class Following(Scripted):
    """Records the moves and the end of the game."""

    def __init__(self, **faults):
        super().__init__(**faults)
        self.moves, self.ends = [], 0

    def note_move(self, move, before, after):
        assert OF.play(before, move) == after
        self.moves.append(move)

    def finish(self):
        self.ends += 1


def test_follower_gets_every_move_and_the_end():
    first, second = Following(), Following(move3="crashed")
    record = play(first, second, opening=(1, 2))
    assert first.moves == second.moves == list(record.moves)
    assert first.ends == second.ends == 1


def test_resignation_is_a_loss_without_a_fault():
    class Resigning(Scripted):
        def choose(self, position, limit=None):
            raise Resignation

    record = play(Scripted(), Resigning())
    assert (record.termination, record.result) == (Termination.RESIGNED, WIN)
    assert record.termination.is_fair


def test_agent_that_cannot_be_built_forfeits():
    def unloadable():
        raise failure("unloadable")

    record = play_game(Board(OF), (factory(Scripted()), unloadable), (), (1, 2))
    assert (record.termination, record.result) == (Termination.UNLOADABLE, WIN)
    assert record.moves == ()


def test_our_own_errors_are_no_forfeits():
    class Broken(Scripted):
        def choose(self, position, limit=None):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        play(Broken(), Scripted())


def test_cutoff_ends_the_game_at_its_ply():
    second = Scripted()
    whole = play(Scripted(), second)
    position, ply = OF.start(), 0
    while position != second.positions[2]:
        position, ply = OF.play(position, whole.moves[ply]), ply + 1
    record = play(Scripted(), Scripted(), cutoff=Cutoff(ply, 1))
    assert record.moves == whole.moves[:ply]
    assert (record.termination, record.result) == (Termination.TIMEOUT, WIN)
    never = play(Scripted(), Scripted(), cutoff=Cutoff(ply, 0))
    assert never.moves == whole.moves


def test_cutoff_at_the_start_asks_no_agent():
    first, second = Scripted(), Scripted()
    record = play(first, second, (1, 2), cutoff=Cutoff(START, 1))
    assert (record.moves, record.termination, second.seeds) == ((), Termination.TIMEOUT, [])


def test_endless_game_is_a_draw(monkeypatch):
    monkeypatch.setattr(referee, "MAX_PLIES", 5)
    record = play(Scripted(), Scripted())
    assert (record.termination, record.result) == (Termination.TOO_LONG, DRAW)
    assert len(record.moves) == 5


def test_forced_pass_is_not_a_chosen_move():
    of = game("othello(4)")
    seats = [factory(build(AgentSpec("random"), of)) for _ in range(2)]
    found = 0
    for seed in range(10):
        record = play_game(Board(of), (seats[0], seats[1]), (), (seed, seed))
        passes = record.moves.count(of.pass_move)
        assert sum(move_counts(record)) == len(record.moves) - passes
        found += passes
    assert found


def test_game_ids_equal_those_of_the_compiled_loop():
    agents = [build(AgentSpec(kind), OF) for kind in ("first", "last")]
    record = play(*agents)
    slots, results = np.empty((1, 200), np.int16), np.empty((1, loop.RESULTS), np.int64)
    agents[0].kernels.play_games(
        agents[0].context, agents[1].context, OF.start().state,
        np.empty((1, 0), np.int16), np.array([[3, 4]], np.uint64), slots, results,
    )  # fmt: skip
    assert results[0, loop.GAME_ID].view(np.uint64) == game_id(OF, record.moves)
    assert results[0, loop.LENGTH] == len(record.moves)
