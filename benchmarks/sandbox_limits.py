"""Measure how exactly the limits of bots are kept: python -m benchmarks.sandbox_limits.

Writes docs/sandbox-limits.md. A bot is asked in the sandbox of each level that this machine has.
"""

import os
import platform
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from agents.core import AgentFailure, AgentSpec, HostSettings
from agents.registry import build
from agents.sandbox import usage
from agents.sandbox.isolation import WALLS
from agents.sandbox.messages import BotLimits
from agents.sandbox.sandbox import Sandbox
from agents.sandbox.sandboxed_agent import SandboxedAgent
from games import game

PAGE = Path(__file__).parents[1] / "docs" / "sandbox-limits.md"
OF = game("kalah(4,3)")
MB, MEMORY = 1 << 20, 300  # the limit, in MB
STEP_MB, STEP_SECONDS = 4, 0.002  # how fast each process takes memory
MOVE_SECONDS, REPEATS = 0.5, 3
NODES = 200_000  # of the uninvolved agent's search
WATCH_SECONDS = 10.0  # until a bot that runs out of turn is stopped, at most
TAKE = f"""
import mmap, os, time
kept = []
def take(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        each = mmap.mmap(-1, {STEP_MB << 20}, mmap.MAP_SHARED)
        for at in range(0, len(each), 4096):
            each[at] = 1
        kept.append(each)
        time.sleep({STEP_SECONDS})
def choose(view, legal, rng):
    for _ in range({{count}} - 1):
        if os.fork() == 0:
            take(10)
            os._exit(0)
    take(10)
"""
BURN = """
import os, time
begun = []
def burn(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass
def choose(view, legal, rng):
    if not begun:
        begun.append(1)
        for _ in range({count}):
            if os.fork() == 0:
                burn(30)
                os._exit(0)
    burn({own})
    return legal[0]
"""


def main() -> None:
    """Measure, print and write the page."""
    rows = [HEAD.format(
        system=f"{platform.system()} {platform.release()}", machine=platform.machine(),
        cores=os.cpu_count(), load=os.getloadavg()[0], memory=MEMORY, move=MOVE_SECONDS,
    )]  # fmt: skip
    for level in WALLS:
        if level != "none":
            rows += measure_level(level)
    PAGE.write_text("\n".join(rows) + "\n")
    print(PAGE.read_text())


HEAD = """# Limits of bots, measured

`python -m benchmarks.sandbox_limits` writes this page. Last on {system}, {machine}, {cores} cores,
with a load of {load:.1f} when it began: other work shared the machine, so times are upper bounds.

- **Overshoot of memory**: the most that all processes of a bot had together beyond the limit of
  {memory} MB before they were ended, as far as looks from outside every few milliseconds saw it,
  while each took memory as fast as it could.
- **Longest move**: how long after its limit of {move:g} s a bot was ended that never answered,
  while nine children of it kept the cores busy.
- **Time stolen**: the part of a core that eight processes used, which a bot had left behind after
  its move, while an agent that plays elsewhere searched; from the time on when they are stopped,
  a quarter of a second after the move on an idle machine.

| level | overshoot with 1 | with 8 | with 30 processes | longest move | time stolen |
|---|---|---|---|---|---|"""


def measure_level(level: str) -> Iterator[str]:
    """The row of a level; none if this machine does not have it."""
    os.environ["PITFLIP_SANDBOX"] = level
    with closing(Sandbox()) as sandbox, tempfile.TemporaryDirectory() as directory:
        if sandbox.level.name != level:
            return
        Path(directory).chmod(0o755)
        words = [f"{overshoot(sandbox, directory, count):.0f} MB" for count in (1, 8, 30)]
        words.append(f"{longest_move(sandbox, directory):.2f} s")
        words.append(f"{100 * time_stolen(sandbox, directory):.0f} %")
        yield f"| `{level}` ({sandbox.level.found}) | {' | '.join(words)} |"


def create_bot(sandbox: Sandbox, directory: str, text: str, seconds: float) -> SandboxedAgent:
    """A bot of this text that has been started."""
    path = Path(directory) / "bot.py"
    path.write_text(text)
    limits = BotLimits(memory=MEMORY * MB, processes=64, start_seconds=60)
    spec = AgentSpec("python", file=str(path))
    agent = SandboxedAgent(spec, OF, HostSettings(sandbox, seconds), (path,), limits)
    agent.start(1)
    return agent


def overshoot(sandbox: Sandbox, directory: str, count: int) -> float:
    """The most that a bot of so many processes had beyond its limit, in MB."""
    agent = create_bot(sandbox, directory, TAKE.format(count=count), 20.0)
    root = agent.bot.spawner.where(agent.bot.number)
    most, watcher = os.pipe()
    child = os.fork()
    if child == 0:
        peak = 0
        while Path(f"/proc/{root}").exists():
            peak = max(peak, sum(map(usage.own_bytes, usage.descendants(root))))
            time.sleep(0.002)
        os.write(watcher, str(peak).encode())
        os._exit(0)
    try:
        agent.choose(OF.start())
    except AgentFailure:
        pass
    finally:
        agent.close()
    os.waitpid(child, 0)
    peak = int(os.read(most, 100))
    for each in (most, watcher):
        os.close(each)
    return max(0.0, peak / MB - MEMORY)


def longest_move(sandbox: Sandbox, directory: str) -> float:
    """Seconds beyond its limit until a bot is ended that keeps the cores busy."""
    worst = 0.0
    for _ in range(REPEATS):
        agent = create_bot(sandbox, directory, BURN.format(count=9, own=30), MOVE_SECONDS)
        begun = time.monotonic()
        try:
            agent.choose(OF.start())
        except AgentFailure:
            worst = max(worst, time.monotonic() - begun - MOVE_SECONDS)
        finally:
            agent.close()
    return worst


def time_stolen(sandbox: Sandbox, directory: str) -> float:
    """The part of a core that a bot's processes use while an agent searches elsewhere."""
    searcher = build(AgentSpec("alphabeta", {"nodes": NODES}), game("kalah(6,4)"))
    start = game("kalah(6,4)").start()
    searcher.start(0)
    searcher.choose(start)  # compiled
    agent = create_bot(sandbox, directory, BURN.format(count=8, own=0), 5.0)
    try:
        agent.choose(OF.start())
        deadline = time.monotonic() + WATCH_SECONDS
        while not agent.bot.is_watched and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.1)
        root = agent.bot.spawner.where(agent.bot.number)
        begun, before = time.monotonic_ns(), usage.tree_time(usage.descendants(root))
        for _ in range(REPEATS):
            searcher.choose(start)
        ran = usage.tree_time(usage.descendants(root)) - before
        return ran / (time.monotonic_ns() - begun)
    finally:
        agent.close()


if __name__ == "__main__":
    main()
