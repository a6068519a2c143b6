"""Memory of a whole command, its tables and its page: bounded by agents and openings."""

from benchmarks.arena_rows import RANDOM, experiment
from benchmarks.fresh import fresh
from benchmarks.table import Row

MOST = 500e6  # bytes
PAIRS = 500_000
OPENINGS = RANDOM.replace("random_plies = 0, repeat = true", "random_plies = 12")
AGENTS, EACH = 200, 5
MANY_AGENTS = OPENINGS + "".join(f'[agents.c{n}]\nkind = "random"\n' for n in range(AGENTS - 2))
MOST_SECONDS = 3000.0  # for a command
# A process's peak begins at that of whoever starts it, which is a small one here.
SMALL = (
    "import subprocess, sys; "
    "subprocess.run([sys.executable, '-m', 'benchmarks.client_memory', *sys.argv[1:]], check=True)"
)


def memory_openings(_rounds: int) -> Row:
    """A million games over half a million openings."""
    what = f"{2 * PAIRS:,} games over {PAIRS:,} openings, the whole command: allowed"
    return _row(what, OPENINGS, PAIRS)


def memory_agents(_rounds: int) -> Row:
    """Two hundred agents, each against each."""
    what = f"{AGENTS} agents, each against each, the whole command: allowed"
    return _row(what, MANY_AGENTS, EACH)


def _row(what: str, text: str, pairs: int) -> Row:
    with experiment(text, pairs) as words:
        taken = peak_of([*words, "--workers", "2"])
    return Row(what, f"{taken / 1e6:.0f} MB", f"{MOST / 1e6:.0f} MB", MOST / taken, 1.0)


def peak_of(words: list[str]) -> int:
    """The peak of `python -m arena.run` with these words, in bytes."""
    return int(fresh(["-c", SMALL, *words[2:]], None, MOST_SECONDS).printed.split()[-1])
