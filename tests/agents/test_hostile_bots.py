"""Hostile bots: each loses its own games, and affects nothing else.

`tests/agents/hostile/` has one file for each behaviour; its second line says how they end.
"""

import os
import re
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from agents.sandbox import usage
from agents.sandbox.sandbox import Sandbox
from agents.sandbox.transports import VoidGame
from arena.config.experiment import load_experiment
from arena.planning.games import RESULT_COLUMNS, TIMING_COLUMNS, Games, Termination
from arena.planning.schedule import make_schedule
from arena.planning.tasks import Task
from arena.playing.worker import Worker
from tests.lent_spawners import own_spawners

pytestmark = pytest.mark.usefixtures("own_spawners")
HOSTILE = Path(__file__).parent / "hostile"
BOTS = sorted(path.stem for path in HOSTILE.glob("*.py") if path.stem != "__init__")
# One for each way to end a game; the others are slow.
USUAL = ("exits", "kills_the_owner", "loops", "raises_escape_codes", "reads_the_canary",
         "replaces_the_rules", "takes_memory")  # fmt: skip
# For a move: a bot that a timeout must not end has more time than a busy machine takes from it.
SECONDS, SECONDS_WITHOUT_TIMEOUT = 0.25, 30.0
TRIES = 5  # of a run on a busy machine
MOST_OWN_SECONDS = 20.0  # of the processor: about one, and no load makes it twenty
EXPERIMENT = """
game = "kalah(4,3)"
pairs = 1
seed = 5
move_seconds = {seconds}
openings = {{ random_plies = 3 }}
[agents.bot]
kind = "python"
file = "bot.py"
memory = "96MB"
processes = 12
start_seconds = 3
[agents.random]
kind = "random"
[agents.harmless]
kind = "python"
file = "harmless.py"
"""
HARMLESS = "def choose(view, legal, rng):\n    return rng.choice(legal)\n"
# At level `limits` these could reach us or others, or stay behind.
BEYOND_LIMITS = (
    "bombs_with_forks", "changes_the_mode_of_the_canary", "clones_siblings", "connects",
    "kills_everybody", "kills_its_parent", "kills_the_owner", "leaves_shared_memory",
    "limits_the_owner", "makes_namespaces", "mounts", "raises_its_limits", "reads_the_canary",
    "reads_the_first_process", "sends_datagrams", "signals_by_its_pipe", "slows_the_owner",
    "stops_its_siblings", "survives_its_parent", "takes_a_segment", "takes_leases",
    "traces_the_owner", "types_into_the_terminal", "watches_files", "writes_its_own_source",
    "writes_the_canary", "writes_the_owners_memory",
)  # fmt: skip


@dataclass
class Field:
    """A directory with a file that is not the bots', a service, and a sandbox."""

    directory: Path
    canary: Path
    service: socket.socket
    sandbox: Sandbox
    expected: Games

    def place(self, source: str, seconds: float = SECONDS) -> None:
        """Write the bot and the experiment, with seconds for a move."""
        text = EXPERIMENT.format(seconds=seconds)
        (self.directory / "experiment.toml").write_text(text)
        words = {
            "@canary@": str(self.canary),
            "@port@": str(self.service.getsockname()[1]),
            "@owner@": str(os.getpid()),
        }
        text = re.sub("@[a-z]+@", lambda found: words[found[0]], source)
        (self.directory / "bot.py").write_text(text)

    def play(self) -> Games:
        """Play all games of the experiment; again if they are void, as a run does."""
        drawn = make_schedule(load_experiment(self.directory / "experiment.toml").plan)
        for tries_left in reversed(range(TRIES)):
            try:
                return Worker(drawn, self.sandbox).play(Task(0, drawn.pairs.total, {}))
            except VoidGame:
                if not tries_left:
                    raise
            finally:
                self.sandbox.close_connection()
        raise AssertionError("the last try returns or raises")


@pytest.fixture(scope="module", params=["namespaces", "landlock", "limits"])
def field(request, tmp_path_factory) -> Iterator[Field]:
    directory = tmp_path_factory.mktemp("hostile")
    (directory / "harmless.py").write_text(HARMLESS)
    canary = tmp_path_factory.getbasetemp() / "canary"
    canary.write_text("alive")
    with socket.socket() as service:
        service.bind(("127.0.0.1", 0))
        service.listen()
        with pytest.MonkeyPatch.context() as patch, own_spawners():
            patch.setenv("PITFLIP_SANDBOX", request.param)
            sandbox = Sandbox()
            sandbox.open()
        if sandbox.level.name != request.param:
            sandbox.close()
            pytest.skip(f"the level here is {sandbox.level.name}")
        made = Field(directory, canary, service, sandbox, None)
        made.place(HARMLESS)
        made.expected = made.play()
        yield made
        sandbox.close()


def cases() -> list[object]:
    return [pytest.param(name, marks=[] if name in USUAL else [pytest.mark.slow]) for name in BOTS]


@pytest.mark.parametrize("name", cases())
def test_a_hostile_bot_affects_nothing_but_its_own_games(field, name):
    if name in BEYOND_LIMITS and field.sandbox.level.name == "limits":
        pytest.skip("the level limits does not hold this back")
    source = (HOSTILE / f"{name}.py").read_text()
    allowed = set(re.search("# ends: (.*)", source)[1].split())
    field.place(source, SECONDS if "timeout" in allowed else SECONDS_WITHOUT_TIMEOUT)
    handlers, begun = signal.getsignal(signal.SIGTERM), time.process_time()
    games = field.play()
    seconds = time.process_time() - begun

    own = games_of(games, field)
    ends = {Termination(each).name.lower() for each in games.termination[own].tolist()}
    assert ends <= allowed
    # The games of the others are those of a run with a harmless bot in its place.
    for column in RESULT_COLUMNS:
        if column not in TIMING_COLUMNS:
            expected = field.expected.columns[column][~own]
            assert games.columns[column][~own].tolist() == expected.tolist(), column
    for trace in games.traces.values():
        assert len(trace) <= 4096
        assert all(line.isprintable() for line in trace.split("\n"))
    assert field.canary.read_text() == "alive"
    assert field.canary.stat().st_mode & 0o777 != 0o777
    assert signal.getsignal(signal.SIGTERM) is handlers
    assert source.count("\n") <= (field.directory / "bot.py").read_text().count("\n")
    assert (field.directory / "bot.py").read_text().count("# mine") <= 1
    # The owner's processor time is not wasted.
    assert seconds < MOST_OWN_SECONDS
    assert nothing_is_left(field)


def games_of(games: Games, field: Field) -> np.ndarray:
    """Return which games the bot played in."""
    drawn = make_schedule(load_experiment(field.directory / "experiment.toml").plan)
    placed = drawn.pairs.columns(0, drawn.pairs.total)
    return (placed["first"] == 0) | (placed["second"] == 0)


def nothing_is_left(field: Field) -> bool:
    """Return whether the bot's processes and files are gone after a moment."""
    spawner = field.sandbox.spawner_id
    directories = list(Path(tempfile.gettempdir()).glob(f"pitflip-sandbox-{spawner}-*"))
    for _ in range(100):
        left = usage.descendants(spawner)[2:]  # without the spawner and its server of forks
        files = [path for each in directories for path in each.glob("[0-9]*")]
        if not left and not files:
            return True
        time.sleep(0.05)
    return False
