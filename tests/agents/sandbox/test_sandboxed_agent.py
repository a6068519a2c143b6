"""A Python bot behind the wall: its answers come, and whatever it does is one failure."""

import math
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.core import AgentFailure, AgentSpec, HostSettings
from agents.sandbox import transports, usage
from agents.sandbox.bot_server import THINK, THOUGHT
from agents.sandbox.messages import BotLimits
from agents.sandbox.sandbox import Sandbox, SpawnerLost
from agents.sandbox.sandboxed_agent import SandboxedAgent
from agents.sandbox.transports import VoidGame
from games import game
from tests.lent_spawners import own_spawners

OF = game("kalah(6,4)")


@pytest.fixture(scope="module")
def wall() -> Iterator[Sandbox]:
    made = Sandbox()
    yield made
    made.close()


def bot(wall: Sandbox, directory: Path, text: str, seconds: float = 30.0) -> SandboxedAgent:
    path = directory / "mine.py"
    path.write_text(text)
    spec = AgentSpec("python", file=str(path))
    return SandboxedAgent(
        spec, OF, HostSettings(wall, seconds), (path,), BotLimits(start_seconds=60)
    )


def failure(agent: SandboxedAgent) -> AgentFailure:
    with pytest.raises(AgentFailure) as failed:
        agent.start(1)
        agent.choose(OF.start())
    return failed.value


def test_it_answers_in_numbers_on_the_board_and_remembers_its_game(wall, tmp_path):
    text = """
asked = 0
def choose(view, legal, rng):
    global asked
    asked += 1
    assert legal == view.legal == (1, 2, 3, 4, 5, 6)
    return asked
"""
    agent = bot(wall, tmp_path, text)
    agent.start(1)
    assert [agent.choose(OF.start()).move for _ in range(3)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("kind", "told", "code"),
    [
        ("illegal", "answered 9, legal are", "return 9"),
        ("raised", "ZeroDivisionError", "1 / 0"),
        ("raised", "PermissionError|FileNotFoundError", "open('/etc/hostname')"),
        ("raised", "exception str() failed", "raise Silent"),
        ("crashed", "exit status 3", "os._exit(3)"),
        ("crashed", "exit status 4", "sys.exit(4)"),
        ("crashed", "SIGABRT", "os.abort()"),
        ("crashed", "closed its end", "os.closerange(0, 99), time.sleep(9)"),
        ("unreadable", "wrote", "os.write(4, b'nonsense')"),
        ("memory", "MemoryError", "return bytearray(1 << 40)"),
    ],
)
def test_whatever_it_does_is_one_failure_and_it_plays_again(
    wall, tmp_path, monkeypatch, kind, told, code
):
    if "closerange" in code:  # it does not end: it is waited for in vain
        monkeypatch.setattr(transports, "MOMENT_SECONDS", 0.05)
    text = f"""
import os, sys, time
class Silent(Exception):
    def __str__(self):
        raise self
def choose(view, legal, rng):
    {code}
    return legal[0]
"""
    agent = bot(wall, tmp_path, text)
    for _ in range(2):
        error = failure(agent)
        assert error.kind == kind
        assert_told(told, str(error))
        assert str(error).replace("\n", "").isprintable()


def assert_told(words: str, text: str) -> None:
    assert any(word in text for word in words.split("|")), text


def test_what_was_there_before_a_bot_is_no_garbage_of_its_own(wall, tmp_path):
    # A collection would look through all that the spawner has loaded, and copy it.
    text = """
import gc
def choose(view, legal, rng):
    return legal[0 if gc.get_freeze_count() > 10 * len(gc.get_objects()) else 1]
"""
    agent = bot(wall, tmp_path, text)
    agent.start(1)
    assert agent.choose(OF.start()).move == 0


def test_a_silent_bot_is_ended_and_begun_again(wall, tmp_path):
    agent = bot(wall, tmp_path, "def choose(view, legal, rng):\n    while view.text: pass", 0.2)
    assert failure(agent).kind == "timeout"
    assert failure(agent).kind == "timeout"


def test_a_file_that_does_not_load_is_unloadable(wall, tmp_path):
    error = failure(bot(wall, tmp_path, "import nothing_like_this"))
    assert error.kind == "unloadable"
    assert "ModuleNotFoundError" in error.trace


def test_the_last_lines_of_its_log_are_told_without_control_characters(wall, tmp_path):
    text = """
import math
import os
def choose(view, legal, rng):
    print("\\x1b[2Jhello", flush=True)
    os._exit(1)
"""
    error = failure(bot(wall, tmp_path, text))
    assert "hello" in error.trace
    assert "\x1b" not in str(error)


def test_nothing_is_left_when_the_wall_is_closed(tmp_path):
    with own_spawners():
        wall = Sandbox()
        wall.open()
    text = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
def choose(view, legal, rng):
    return legal[0]
"""
    agent = bot(wall, tmp_path, text)
    agent.start(1)
    assert agent.choose(OF.start()).move == 0
    process = agent.bot.spawner.where(agent.bot.number)
    children = [process, *usage.descendants(wall.process)]
    wall.close()
    assert not any(Path(f"/proc/{each}").exists() for each in children)


def test_whatever_a_view_offers_is_compiled_before_the_first_question(wall, tmp_path):
    text = """
from games.kernels.compile_cache import on_compilation
compiled = []
def choose(view, legal, rng):
    on_compilation(lambda: compiled.append(1))
    after = view.play(legal[0])
    repr((view.margin, view.rows, view.text, str(view), after.over, after.margin))
    return legal[len(compiled)]
"""
    agent = bot(wall, tmp_path, text)
    agent.start(1)
    assert agent.choose(OF.start()).move == 0


def test_a_bot_sees_how_long_it_may_think(wall, tmp_path):
    text = """
def choose(view, legal, rng):
    assert view.play(legal[0]).seconds is None
    return round(view.seconds)
"""
    agent = bot(wall, tmp_path, text, 5.0)
    agent.start(1)
    assert agent.choose(OF.start()).move == 4  # the fifth hole
    agent.board.place(OF.start())
    assert agent.answer(agent.board, rest=2.0)[0] == OF.slots_of(1)


def test_a_bot_that_the_machine_does_not_let_run_is_no_fault_of_its_own(
    wall, tmp_path, monkeypatch
):
    monkeypatch.setattr(transports, "MORE_SECONDS", 0.0)
    text = "import time\ndef choose(view, legal, rng):\n    time.sleep(9)\n"
    agent = bot(wall, tmp_path, text, 0.5)  # far more than its own processor time
    agent.start(1)
    monkeypatch.setattr(usage, "run_delay", lambda _: 2 * time.monotonic_ns())
    with pytest.raises(VoidGame, match="the machine is too busy"):
        agent.choose(OF.start())


@pytest.mark.slow
def test_with_another_spawner_a_bot_plays_on(tmp_path):
    with own_spawners():
        wall = Sandbox()
        wall.open()
    try:
        agent = bot(wall, tmp_path, "def choose(view, legal, rng):\n    return legal[0]\n")
        agent.start(1)
        assert not wall.restart_if_lost()
        os.kill(wall.process, signal.SIGKILL)
        with pytest.raises(SpawnerLost):
            while True:  # it may answer once more before it ends with its spawner
                agent.choose(OF.start())
        assert wall.restart_if_lost()
        agent.start(2)
        assert agent.choose(OF.start()).move == 0
    finally:
        wall.close()


THOUGHTFUL = """
def choose(view, legal, rng):
    view.data("value", 2.5)
    for number in range(40):
        view.data(f"n{number}", "\\u00e4\\x1b[31m" * 300)
    return legal[0]
"""


def test_a_bot_that_is_asked_tells_what_it_thought_and_no_more_than_it_may(wall, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(THOUGHTFUL)
    spec = AgentSpec("python", file=str(path))
    terms = HostSettings(wall, 30.0, thoughts=True)
    agent = SandboxedAgent(spec, OF, terms, (path,), BotLimits(start_seconds=60))
    agent.start(1)
    move = agent.choose(OF.start()).move
    thought = agent.thought(OF.start(), move)
    agent.close()
    assert (move, thought.value, thought.depth, thought.line) == (0, 2.5, None, "")
    assert len(thought.data) < 16
    assert all(text.isprintable() and len(text) <= 80 for text in thought.data.values())


@pytest.mark.parametrize(
    "said",
    [b"", b"{", b"[]", b"3", b"\xff\xfe", b'{"data": 3}', b'{"data": {"a b": 1}}', b"[" * 3000,
     b'{"data": {"n": ' + b"1" * 3000 + b"}}"],
)  # fmt: skip
def test_what_is_no_thought_is_none(wall, tmp_path, said):
    agent = bot(wall, tmp_path, "def choose(view, legal, rng):\n    return legal[0]\n")
    agent.thoughtful = THINK.pack(THOUGHT, 0, 0, 0, math.nan, 0) + said
    thought = agent.thought(OF.start(), 0)
    assert thought is None or all(len(text) <= 80 for text in thought.data.values())
    agent.searches = True
    agent.thoughtful = THINK.pack(THOUGHT, 0, 0, -5, 1.0, -3) + said
    assert agent.thought(OF.start(), 0) is None
