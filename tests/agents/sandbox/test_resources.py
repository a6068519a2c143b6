"""A machine that lacks something while a bot is started: unfinished, never the bot's fault."""

import os
import resource
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from agents.core import AgentFailure, AgentSpec, HostSettings
from agents.sandbox import usage
from agents.sandbox.messages import BotLimits
from agents.sandbox.protocol_agent import Program, ProtocolAgent
from agents.sandbox.sandbox import Sandbox, SpawnerLost
from agents.sandbox.sandboxed_agent import SandboxedAgent
from agents.sandbox.spawner import SPARE_DESCRIPTORS
from agents.sandbox.transports import BotProcess, VoidGame
from agents.sandbox.usage import remove_directory
from games import game
from games.base.errors import Unfinished
from tests.agents.sandbox.test_protocol_agent import Numbers
from tests.lent_spawners import own_spawners

pytestmark = pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs prlimit")
OF = game("kalah(4,3)")


@pytest.fixture(params=["namespaces", "landlock", "limits"])
def sandbox(request, monkeypatch) -> Iterator[Sandbox]:
    monkeypatch.setenv("PITFLIP_SANDBOX", request.param)
    with own_spawners():
        made = Sandbox()
        made.open()
    if made.level.name != request.param:
        pytest.skip(f"the level here is {made.level.name}")
    yield made
    made.close()


def bot(sandbox: Sandbox, directory: Path) -> SandboxedAgent:
    path = directory / "mine.py"
    path.write_text("def choose(view, legal, rng):\n    return legal[0]\n")
    limits = BotLimits(start_seconds=60)
    spec = AgentSpec("python", file=str(path))
    return SandboxedAgent(spec, OF, HostSettings(sandbox), (path,), limits)


def mapped_bytes(process: int) -> int:
    return int(Path(f"/proc/{process}/statm").read_text().split()[0]) * 4096


def start_with(
    sandbox: Sandbox, agent: SandboxedAgent, name: int, most: Callable[[int], int],
    of: tuple[str, ...] = ("spawner", "server"),
) -> str:  # fmt: skip
    """How a start ends while the spawner and what it forks from have no more than this."""
    before = resource.prlimit(sandbox.spawner_id, name)
    server = usage.children(sandbox.spawner_id)[0]
    processes = [{"spawner": sandbox.spawner_id, "server": server}[each] for each in of]
    for each in processes:
        resource.prlimit(each, name, (most(each), before[1]))
    try:
        agent.start(1)
        return "started"
    except (VoidGame, SpawnerLost) as error:
        return type(error).__name__
    finally:
        for each in processes:
            with suppress(ProcessLookupError):
                resource.prlimit(each, name, before)
        agent.close()


@pytest.mark.parametrize(("of", "least", "most"), [("spawner", 6, 40), ("server", 6, 60)])
def test_too_few_descriptors_are_no_fault_of_a_bot(sandbox, tmp_path, of, least, most):
    agent = bot(sandbox, tmp_path)
    agent.start(1)  # loaded, and connected
    agent.close()
    limit = resource.RLIMIT_NOFILE
    counts = [*range(least, most, 3), SPARE_DESCRIPTORS, SPARE_DESCRIPTORS + 60]
    ends = [start_with(sandbox, agent, limit, lambda _, n=n: n, (of,)) for n in counts]
    assert "VoidGame" in ends
    assert ends[-1] == "started"
    assert set(ends) <= {"VoidGame", "started"}
    agent.start(1)
    assert agent.choose(OF.start()).move == 0


def test_a_check_of_a_bot_has_the_descriptors_that_it_needs(sandbox, tmp_path):
    """Else what is in directories that cannot be opened would not count."""
    agent = bot(sandbox, tmp_path)
    agent.start(1)
    agent.close()
    most = SPARE_DESCRIPTORS - 1
    assert start_with(sandbox, agent, resource.RLIMIT_NOFILE, lambda _: most) == "VoidGame"


def test_a_lost_scratch_directory_is_made_again(sandbox, tmp_path):
    agent = bot(sandbox, tmp_path)
    agent.start(1)
    agent.close()
    (scratch,) = Path(tempfile.gettempdir()).glob(f"pitflip-sandbox-{sandbox.spawner_id}-*")
    remove_directory(scratch)
    agent.start(1)
    assert agent.choose(OF.start()).move == 0


def test_no_error_of_the_spawner_is_the_fault_of_a_bot(sandbox, tmp_path):
    agent = bot(sandbox, tmp_path)
    agent.start(1)
    agent.close()
    (scratch,) = Path(tempfile.gettempdir()).glob(f"pitflip-sandbox-{sandbox.spawner_id}-*")
    remove_directory(scratch)
    scratch.write_text("")  # in the place of the directory
    with pytest.raises(VoidGame):
        agent.start(1)
    scratch.unlink()


def test_a_spawner_locks_its_scratch_directory(sandbox):
    (scratch,) = Path(tempfile.gettempdir()).glob(f"pitflip-sandbox-{sandbox.spawner_id}-*")
    assert usage.lock_directory(scratch) is None


def test_too_little_memory_for_the_start_is_no_fault_of_a_bot(sandbox, tmp_path):
    agent = bot(sandbox, tmp_path)
    agent.start(1)
    agent.close()
    ends = start_with(sandbox, agent, resource.RLIMIT_AS, mapped_bytes)
    assert ends in ("VoidGame", "SpawnerLost", "started")  # never a failure of the bot


@pytest.mark.skipif(os.getuid() == 0, reason="root may have any number of processes")
def test_too_few_processes_are_no_fault_of_a_bot(sandbox, tmp_path):
    agent = bot(sandbox, tmp_path)
    agent.start(1)
    agent.close()
    assert start_with(sandbox, agent, resource.RLIMIT_NPROC, lambda _: 1) == "VoidGame"
    agent.start(1)


def test_a_bot_cannot_say_that_the_machine_lacked_something(sandbox, tmp_path):
    agent = bot(sandbox, tmp_path)
    (tmp_path / "mine.py").write_text(
        "import os\nfor each in range(3, 99):\n    try: os.write(each, b'no room')\n"
        "    except OSError: pass\nos._exit(127)\n"
    )
    with pytest.raises(AgentFailure):
        agent.start(1)


def test_a_program_that_cannot_be_started_for_lack_of_memory_is_unfinished(sandbox):
    process = BotProcess("bot", sandbox, BotLimits(start_seconds=60))
    program = Program(("/bin/cat",))
    agent = ProtocolAgent(AgentSpec("random"), OF, Numbers(), program, process, 1.0)
    with pytest.raises(Unfinished):
        mapped = mapped_bytes(sandbox.spawner_id)
        resource.prlimit(sandbox.spawner_id, resource.RLIMIT_AS, (mapped, -1))
        agent.start(1)
