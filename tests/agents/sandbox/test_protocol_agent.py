"""Programs asked in a conversation: late or excessive output is their fault."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.core import AgentFailure, AgentSpec
from agents.protocols.conversation import BotFault, Drop, NoLine, Read, Write, read
from agents.sandbox.messages import BotLimits
from agents.sandbox.protocol_agent import Program, ProtocolAgent
from agents.sandbox.sandbox import Sandbox
from agents.sandbox.sandboxed_agent import python_directories
from agents.sandbox.transports import BotProcess
from games import game
from tests.agents.sandbox.levels import machine_is_idle

OF = game("kalah(6,4)")


class Numbers:
    """A conversation in which a bot answers every line with a move's number."""

    def greet(self):
        yield Write("hello\n")
        assert (yield from read("start")) == "ready"

    def new_game(self, player, start, seed):
        yield Write(f"game {player} {seed}\n")

    def choose(self, question):
        yield Drop()
        yield Write(f"move {len(question.plies)}\n")
        line = yield Read("move", allowed=(NoLine.ENDED,))
        if not isinstance(line, str):
            return 0
        if not line.isdecimal():
            raise BotFault("unreadable", f"answered {line[:9]}")
        return int(line)

    def game_over(self, plies):
        yield Write("over\n")

    def bye(self):
        yield Write("bye\n")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    made = Sandbox()
    yield made
    made.close()


def make_agent(
    sandbox: Sandbox, directory: Path, answer: str, seconds: float = 30.0
) -> ProtocolAgent:
    path = directory / "bot.py"
    lines = ["import os, sys, time", "for line in sys.stdin:"]
    lines += ["    if line == 'hello\\n': print('\\ufeffready\\r', flush=True)"]
    lines += [f"    if line.startswith('move'):\n        {answer}"]
    path.write_text("\n".join(lines))
    program = Program((sys.executable, "-IS", str(path)), python_directories())
    bot = BotProcess("bot.py", sandbox, BotLimits(start_seconds=60))
    return ProtocolAgent(AgentSpec("random"), OF, Numbers(), program, bot, seconds)


def play_moves(agent: ProtocolAgent) -> list[int]:
    agent.start(1)
    position, moves = OF.start(), []
    for _ in range(3):
        moves.append(agent.choose(position).move)
        after = OF.play(position, moves[-1])
        agent.note_move(moves[-1], position, after)
    return moves


def test_one_process_plays_game_after_game(sandbox, tmp_path):
    agent = make_agent(sandbox, tmp_path, "print(line.split()[1], flush=True)")
    assert play_moves(agent) == [0, 1, 2]
    process = agent.bot.number
    assert play_moves(agent) == [0, 1, 2]
    assert agent.bot.number == process
    agent.close()


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        ("crashed", "os.kill(os.getpid(), 11)"),
        ("unreadable", "[print('x' * 4096) for _ in range(10000)]"),
        ("flooded", "print('x' * (1 << 17), end='')"),
        ("illegal", "print(17, flush=True)"),
    ],
)
def test_a_fault_ends_the_process_and_the_next_game_has_a_new_one(sandbox, tmp_path, kind, answer):
    agent = make_agent(sandbox, tmp_path, f"{answer}; print(0, flush=True)")
    if kind == "crashed":
        agent.conversation.choose = quick  # type: ignore[method-assign]
    for _ in range(2):
        with pytest.raises(AgentFailure) as failed:
            play_moves(agent)
        assert failed.value.kind == kind


def quick(question):
    yield Write("move 0\n")
    return int((yield from read("move")))


def test_half_a_line_is_no_answer(sandbox, tmp_path):
    agent = make_agent(
        sandbox,
        tmp_path,
        "[print('0', end='', flush=True) or time.sleep(.1) for _ in line * 99]",
        0.3,
    )
    with pytest.raises(AgentFailure, match="did not answer within") as failed:
        play_moves(agent)
    assert failed.value.kind == "timeout"


def test_output_without_a_question_is_noted_and_is_no_answer(sandbox, tmp_path):
    answer = "print(line.split()[1] + '\\nunasked', flush=True); time.sleep(.2)"
    agent = make_agent(sandbox, tmp_path, answer)
    agent.start(1)
    assert agent.choose(OF.start()).move == 0


def test_a_missing_program_cannot_be_loaded(sandbox):
    bot = BotProcess("nothing", sandbox, BotLimits())
    agent = ProtocolAgent(
        AgentSpec("random"), OF, Numbers(), Program(("/nowhere/at/all",)), bot, 1.0
    )
    with pytest.raises(AgentFailure, match="nothing") as failed:
        agent.start(1)
    assert failed.value.kind == "unloadable"


def test_a_program_that_ends_between_games_is_started_again(sandbox, tmp_path):
    agent = make_agent(
        sandbox,
        tmp_path,
        "print(line.split()[1], flush=True)\n    if line == 'over\\n': sys.exit(0)",
    )
    assert play_moves(agent) == play_moves(agent) == [0, 1, 2]


class ManyLines(Numbers):
    """A conversation that ignores lines which are no answer."""

    def choose(self, question):
        yield Drop()
        yield Write(f"move {len(question.plies)}\n")
        while not (line := (yield from read("move"))).isdecimal():
            pass
        return int(line)


@pytest.mark.parametrize(
    "flood",
    [
        "print('\\n' * 1000000)",
        "print('data n = 1\\n' * 90000)",
        "print('a\\n' * 500000)",
        "[print('a', flush=True) or time.sleep(.0005) for _ in range(9999)]",
    ],
    ids=["empty", "data", "words", "slowly"],
)
def test_lines_before_an_answer_cost_neither_time_nor_our_processor(sandbox, tmp_path, flood):
    agent = make_agent(sandbox, tmp_path, f"{flood}; print(0, flush=True)", 1.0)
    agent.conversation = ManyLines()
    agent.start(1)
    idle, begun, ran = machine_is_idle(), time.monotonic(), time.process_time()
    with pytest.raises(AgentFailure) as failed:
        agent.choose(OF.start())
    assert failed.value.kind in ("flooded", "timeout")
    assert time.process_time() - ran < 1.0
    assert not idle or time.monotonic() - begun < 3.5
