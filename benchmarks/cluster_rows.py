"""Benchmarks of a local cluster: speed against the process pool, start-up, client memory."""

from benchmarks.arena_rows import (
    MIRROR,
    RANDOM,
    experiment,
    seconds_from_first_game,
    seconds_to_first_game,
)
from benchmarks.cluster_machines import local_cluster
from benchmarks.memory_rows import peak_of
from benchmarks.table import Row, per_second
from benchmarks.timing import best_of

MIRROR_PAIRS, RANDOM_PAIRS = 5_000, 1_000_000
FIRST_SECONDS = 3.0
FEW, MANY = 1_000_000, 10_000_000  # games
MOST_GROWTH = 1.2


def cluster_mirror(rounds: int) -> Row:
    """Compare an alpha-beta mirror match on a cluster of two processes with a process pool."""
    what = "alphabeta depth 6 mirror, --cluster local:2: --workers 2"
    return _against_processes(what, MIRROR, MIRROR_PAIRS, 0.9, rounds)


def cluster_random(rounds: int) -> Row:
    """Compare random games without moves in the same way."""
    what = "random games, moves not kept, --cluster local:2: --workers 2"
    return _against_processes(what, RANDOM, RANDOM_PAIRS, 0.5, rounds)


def _against_processes(what: str, text: str, pairs: int, target: float, rounds: int) -> Row:
    with experiment(text, pairs) as words:
        ours, against = best_of(
            min(rounds, 3),
            lambda: seconds_from_first_game([*words, "--cluster", "local:2"]),
            lambda: seconds_from_first_game([*words, "--workers", "2"]),
        )
    rates = 2 * pairs / ours, 2 * pairs / against
    return Row(what, per_second(rates[0]), per_second(rates[1]), rates[0] / rates[1], target)


def cluster_first_game(rounds: int) -> Row:
    """Measure a fresh run of one pair on a cluster that has played it before."""
    with local_cluster(1) as there, experiment(MIRROR, 1) as words:
        words += ["--cluster", there.address]
        seconds_to_first_game(words)
        taken = min(seconds_to_first_game(words) for _ in range(rounds))
    what = "first game and its tables on a cluster that has played before"
    return Row(what, f"{taken:.2f} s", f"{FIRST_SECONDS:g} s", FIRST_SECONDS / taken, 1.0)


def cluster_memory(_rounds: int) -> Row:
    """Compare the client's peak memory for ten million games with that for one million."""
    with local_cluster(2) as there:
        few, many = (_peak(there.address, games // 2) for games in (FEW, MANY))
    ours, against = (f"{peak / 1e6:.0f} MB" for peak in (many, few))
    what = f"a cluster's client, peak memory of the whole command, {MANY:,} random games: {FEW:,}"
    return Row(what, ours, against, few / many, 1 / MOST_GROWTH)


def _peak(address: str, pairs: int) -> int:
    with experiment(RANDOM, pairs) as words:
        return peak_of([*words, "--cluster", address])
