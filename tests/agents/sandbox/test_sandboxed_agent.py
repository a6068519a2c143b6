"""A Python bot in the sandbox: it answers, and any misbehaviour is one failure."""

import math
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.core import AgentFailure, AgentSpec, HostSettings
from agents.sandbox import transports, usage
from agents.sandbox.bot_server import THINK, THOUGHT
from agents.sandbox.messages import BotLimits
from agents.sandbox.sandbox import Sandbox
from agents.sandbox.sandboxed_agent import SandboxedAgent
from agents.sandbox.transports import VoidGame
from games import game
from tests.lent_spawners import own_spawners

OF = game("kalah(6,4)")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    made = Sandbox()
    yield made
    made.close()


def bot(sandbox: Sandbox, directory: Path, text: str, seconds: float = 30.0) -> SandboxedAgent:
    path = directory / "mine.py"
    path.write_text(text)
    spec = AgentSpec("python", file=str(path))
    return SandboxedAgent(
        spec, OF, HostSettings(sandbox, seconds), (path,), BotLimits(start_seconds=60)
    )


def failure(agent: SandboxedAgent) -> AgentFailure:
    with pytest.raises(AgentFailure) as failed:
        agent.start(1)
        agent.choose(OF.start())
    return failed.value


def test_a_bot_answers_with_slots_and_keeps_its_state(sandbox, tmp_path):
    text = """
asked = 0
def choose(view, legal, rng):
    global asked
    asked += 1
    assert legal == view.legal == (1, 2, 3, 4, 5, 6)
    return asked
"""
    agent = bot(sandbox, tmp_path, text)
    agent.start(1)
    assert [agent.choose(OF.start()).move for _ in range(3)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("kind", "told", "code"),
    [
        ("illegal", "answered 9, the legal moves are", "return 9"),
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
def test_any_misbehaviour_is_one_failure_and_the_bot_plays_again(
    sandbox, tmp_path, monkeypatch, kind, told, code
):
    if "closerange" in code:  # it does not end: it is waited for in vain
        monkeypatch.setattr(transports, "EXIT_SECONDS", 0.05)
    text = f"""
import os, sys, time
class Silent(Exception):
    def __str__(self):
        raise self
def choose(view, legal, rng):
    {code}
    return legal[0]
"""
    agent = bot(sandbox, tmp_path, text)
    for _ in range(2):
        error = failure(agent)
        assert error.kind == kind
        assert_mentions(told, str(error))
        assert str(error).replace("\n", "").isprintable()


def assert_mentions(words: str, text: str) -> None:
    assert any(word in text for word in words.split("|")), text


def test_objects_of_the_fork_server_are_frozen_for_the_collector(sandbox, tmp_path):
    # A collection would look at, and so copy, everything that was loaded before the fork.
    text = """
import gc
def choose(view, legal, rng):
    return legal[0 if gc.get_freeze_count() > 10 * len(gc.get_objects()) else 1]
"""
    agent = bot(sandbox, tmp_path, text)
    agent.start(1)
    assert agent.choose(OF.start()).move == 0


def test_a_silent_bot_is_ended_and_started_again(sandbox, tmp_path):
    agent = bot(sandbox, tmp_path, "def choose(view, legal, rng):\n    while view.text: pass", 0.2)
    assert failure(agent).kind == "timeout"
    assert failure(agent).kind == "timeout"


def test_a_file_that_does_not_load_is_unloadable(sandbox, tmp_path):
    error = failure(bot(sandbox, tmp_path, "import nothing_like_this"))
    assert error.kind == "unloadable"
    assert "ModuleNotFoundError" in error.trace


def test_a_failure_has_the_end_of_the_log_without_control_characters(sandbox, tmp_path):
    text = """
import math
import os
def choose(view, legal, rng):
    print("\\x1b[2Jhello", flush=True)
    os._exit(1)
"""
    error = failure(bot(sandbox, tmp_path, text))
    assert "hello" in error.trace
    assert "\x1b" not in str(error)


def test_no_process_is_left_when_the_sandbox_is_closed(tmp_path):
    with own_spawners():
        sandbox = Sandbox()
        sandbox.open()
    text = """
import os, time
if os.fork() == 0:
    try:
        os.setsid()
    except OSError:
        pass
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
def choose(view, legal, rng):
    return legal[0]
"""
    agent = bot(sandbox, tmp_path, text)
    agent.start(1)
    assert agent.choose(OF.start()).move == 0
    process = agent.bot.spawner.find_process(agent.bot.number)
    children = [process, *usage.descendants(sandbox.spawner_id)]
    sandbox.close()
    assert not any(Path(f"/proc/{each}").exists() for each in children)


def test_views_are_compiled_before_the_first_question(sandbox, tmp_path):
    text = """
from games.kernels.compile_cache import on_compilation
compiled = []
def choose(view, legal, rng):
    on_compilation(lambda: compiled.append(1))
    after = view.play(legal[0])
    repr((view.margin, view.rows, view.text, str(view), after.over, after.margin))
    return legal[len(compiled)]
"""
    agent = bot(sandbox, tmp_path, text)
    agent.start(1)
    assert agent.choose(OF.start()).move == 0


def test_a_bot_sees_how_long_it_may_think(sandbox, tmp_path):
    text = """
def choose(view, legal, rng):
    assert view.play(legal[0]).seconds is None
    return round(view.seconds)
"""
    agent = bot(sandbox, tmp_path, text, 5.0)
    agent.start(1)
    assert agent.choose(OF.start()).move == 4  # the fifth hole
    agent.board.set_position(OF.start())
    assert agent.answer(agent.board, rest=2.0)[0] == OF.slots_of(1)


def test_a_bot_that_could_not_run_has_a_void_game(sandbox, tmp_path, monkeypatch):
    monkeypatch.setattr(transports, "EXTRA_WAIT_SECONDS", 0.0)
    text = "import time\ndef choose(view, legal, rng):\n    time.sleep(9)\n"
    agent = bot(sandbox, tmp_path, text, 0.5)  # far more than its own processor time
    agent.start(1)
    monkeypatch.setattr(usage, "longest_run_delay", lambda _: 2 * time.monotonic_ns())
    with pytest.raises(VoidGame, match="the machine is too busy"):
        agent.choose(OF.start())


THOUGHTFUL = """
def choose(view, legal, rng):
    view.data("value", 2.5)
    for number in range(40):
        view.data(f"n{number}", "\\u00e4\\x1b[31m" * 300)
    return legal[0]
"""


def test_search_info_of_a_bot_is_cut_to_its_limits(sandbox, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(THOUGHTFUL)
    spec = AgentSpec("python", file=str(path))
    terms = HostSettings(sandbox, 30.0, search_info=True)
    agent = SandboxedAgent(spec, OF, terms, (path,), BotLimits(start_seconds=60))
    agent.start(1)
    move = agent.choose(OF.start()).move
    thought = agent.search_info(OF.start(), move)
    agent.close()
    assert (move, thought.value, thought.depth, thought.line) == (0, 2.5, None, "")
    assert len(thought.data) < 16
    assert all(text.isprintable() and len(text) <= 80 for text in thought.data.values())


@pytest.mark.parametrize(
    "said",
    [b"", b"{", b"[]", b"3", b"\xff\xfe", b'{"data": 3}', b'{"data": {"a b": 1}}', b"[" * 3000,
     b'{"data": {"n": ' + b"1" * 3000 + b"}}"],
)  # fmt: skip
def test_unreadable_search_info_is_none(sandbox, tmp_path, said):
    agent = bot(sandbox, tmp_path, "def choose(view, legal, rng):\n    return legal[0]\n")
    agent.last_info = THINK.pack(THOUGHT, 0, 0, 0, math.nan, 0) + said
    thought = agent.search_info(OF.start(), 0)
    assert thought is None or all(len(text) <= 80 for text in thought.data.values())
    agent.searches = True
    agent.last_info = THINK.pack(THOUGHT, 0, 0, -5, 1.0, -3) + said
    assert agent.search_info(OF.start(), 0) is None
