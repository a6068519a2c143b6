"""Benchmarks of a command's peak memory with tables and page."""

from benchmarks.arena_rows import RANDOM, experiment
from benchmarks.fresh import fresh
from benchmarks.table import Row

MOST = 500e6  # bytes
PAIRS = 500_000
OPENINGS = RANDOM.replace("random_plies = 0, repeat = true", "random_plies = 12")
AGENTS, EACH = 200, 5
MANY_AGENTS = OPENINGS + "".join(f'[agents.c{n}]\nkind = "random"\n' for n in range(AGENTS - 2))
MOST_SECONDS = 3000.0  # for a command
# A process inherits the peak of its parent, so a small process starts the measured one.
SMALL = (
    "import subprocess, sys; "
    "subprocess.run([sys.executable, '-m', 'benchmarks.client_memory', *sys.argv[1:]], check=True)"
)


def memory_openings(_rounds: int) -> Row:
    """Measure a million games over half a million openings."""
    what = f"{2 * PAIRS:,} games over {PAIRS:,} openings, the whole command: allowed"
    return _row(what, OPENINGS, PAIRS)


def memory_agents(_rounds: int) -> Row:
    """Measure a round robin of two hundred agents."""
    what = f"{AGENTS} agents, each against each, the whole command: allowed"
    return _row(what, MANY_AGENTS, EACH)


def _row(what: str, text: str, pairs: int) -> Row:
    with experiment(text, pairs) as words:
        taken = peak_of([*words, "--workers", "2"])
    return Row(what, f"{taken / 1e6:.0f} MB", f"{MOST / 1e6:.0f} MB", MOST / taken, 1.0)


def peak_of(words: list[str]) -> int:
    """Return the peak bytes of `python -m arena.run` with these arguments."""
    return int(fresh(["-c", SMALL, *words[2:]], None, MOST_SECONDS).printed.split()[-1])
