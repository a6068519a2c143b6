"""Measure how accurately the limits of bots are enforced: python -m benchmarks.sandbox_limits.

Writes docs/evidence/sandbox-limits.md. One bot plays at each level that this machine supports.
"""

import os
import platform
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from agents.core import AgentFailure, AgentSpec, HostSettings
from agents.registry import build
from agents.sandbox import usage
from agents.sandbox.isolation import LEVELS
from agents.sandbox.messages import BotLimits
from agents.sandbox.sandbox import Sandbox
from agents.sandbox.sandboxed_agent import SandboxedAgent
from games import game

PAGE = Path(__file__).parents[1] / "docs" / "evidence" / "sandbox-limits.md"
OF = game("kalah(4,3)")
MB, MEMORY = 1 << 20, 300  # the limit, in MB
STEP_MB, STEP_SECONDS = 4, 0.002  # size and interval of each process's allocations
MOVE_SECONDS, REPEATS = 0.5, 3
NODES = 200_000  # of the uninvolved agent's search
WATCH_SECONDS = 10.0  # at most, until a bot that computes between moves is stopped
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
    for level in LEVELS:
        if level != "none":
            rows += measure_level(level)
    PAGE.write_text("\n".join(rows) + "\n")
    print(PAGE.read_text())


HEAD = """# Limits of bots, measured

This page shows how exactly the limits of bots are kept. `python -m benchmarks.sandbox_limits`
writes it; last on {system}, {machine}, {cores} cores,
with a load of {load:.1f} at the start: other work shared the machine, so times are upper bounds.

- **Memory overshoot**: the memory that all processes of a bot used together beyond the limit of
  {memory} MB before they were ended, while each allocated as fast as it could. Another process
  sampled their shared memory continuously. Their other memory, a few MB each, counts towards the
  limit but not towards this figure, so 0 MB means at most a few MB per process.
- **Longest move**: the time from the limit of {move:g} s until a bot that never answered was
  ended, while nine child processes of it kept the cores busy.
- **Time stolen**: the share of a core that eight processes of a bot used after its move, while an
  agent of another game searched. The measurement starts when they are stopped, on an idle machine
  a quarter of a second after the move.

If control groups are delegated (`cgroup` among the measures), the kernel enforces the memory limit
and there is no overshoot; this machine does not delegate them.

| level | overshoot with 1 | with 8 | with 30 processes | longest move | time stolen |
|---|---|---|---|---|---|"""


def measure_level(level: str) -> Iterator[str]:
    """Yield the row of a level, or nothing if this machine does not support it."""
    os.environ["PITFLIP_SANDBOX"] = level
    with closing(Sandbox()) as sandbox, tempfile.TemporaryDirectory() as directory:
        if sandbox.level.name != level:
            return
        Path(directory).chmod(0o755)
        words = [f"{overshoot(sandbox, directory, count):.0f} MB" for count in (1, 8, 30)]
        words.append(f"{longest_move(sandbox, directory):.2f} s")
        words.append(f"{100 * time_stolen(sandbox, directory):.0f} %")
        yield f"| `{level}` ({sandbox.level.measure_names}) | {' | '.join(words)} |"


def create_bot(sandbox: Sandbox, directory: str, text: str, seconds: float) -> SandboxedAgent:
    """Start a bot with this source text."""
    path = Path(directory) / "bot.py"
    path.write_text(text)
    limits = BotLimits(memory=MEMORY * MB, processes=64, start_seconds=60)
    spec = AgentSpec("python", file=str(path))
    agent = SandboxedAgent(spec, OF, HostSettings(sandbox, seconds), (path,), limits)
    agent.start(1)
    return agent


def overshoot(sandbox: Sandbox, directory: str, count: int) -> float:
    """Return the peak memory of a bot of `count` processes beyond its limit, in MB."""
    agent = create_bot(sandbox, directory, TAKE.format(count=count), 20.0)
    root = agent.bot.spawner.find_process(agent.bot.number)
    ready, most = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        peak = 0
        os.write(ready[1], b"x")
        while Path(f"/proc/{root}").exists():
            peak = max(peak, sum(map(shared_bytes, usage.descendants(root))))
        os.write(most[1], str(peak).encode())
        os._exit(0)
    os.read(ready[0], 1)
    try:
        agent.choose(OF.start())
    except AgentFailure:
        pass
    finally:
        agent.close()
    os.waitpid(child, 0)
    peak = int(os.read(most[0], 100))
    for each in (*ready, *most):
        os.close(each)
    return max(0.0, peak / MB - MEMORY)


def shared_bytes(process: int) -> int:
    """Return the shared memory of a process, nearly all that these bots use and fast to read."""
    with suppress(OSError), Path(f"/proc/{process}/status").open() as lines:
        return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("RssShmem"))
    return 0


def longest_move(sandbox: Sandbox, directory: str) -> float:
    """Return the seconds from the limit until a bot that keeps the cores busy is ended."""
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
    """Return the share of a core that a bot's processes use while another agent searches."""
    searcher = build(AgentSpec("alphabeta", {"nodes": NODES}), game("kalah(6,4)"))
    start = game("kalah(6,4)").start()
    searcher.start(0)
    searcher.choose(start)  # compile
    agent = create_bot(sandbox, directory, BURN.format(count=8, own=0), 5.0)
    try:
        agent.choose(OF.start())
        deadline = time.monotonic() + WATCH_SECONDS
        while not agent.bot.needs_pauses and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.1)
        root = agent.bot.spawner.find_process(agent.bot.number)
        begun, before = time.monotonic_ns(), usage.tree_time(usage.descendants(root))
        for _ in range(REPEATS):
            searcher.choose(start)
        ran = usage.tree_time(usage.descendants(root)) - before
        return ran / (time.monotonic_ns() - begun)
    finally:
        agent.close()


if __name__ == "__main__":
    main()
