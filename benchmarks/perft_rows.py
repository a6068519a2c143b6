"""Benchmarks of perft on one thread against the same algorithm in C."""

from benchmarks.c_program import compiled_program, compiler, perft_in_c
from benchmarks.table import Row, per_second, skipped_row
from benchmarks.timing import best_of, timed_job
from games import game
from games.perft import perft

REPEATS = 10  # calls per turn; the first call of a turn has cold caches


def perft_kalah(rounds: int) -> Row:
    """Compare kalah(6,4) to depth 9 with C."""
    return perft_row("kalah(6,4)", "perft_kalah.c", 9, rounds)


def perft_othello(rounds: int) -> Row:
    """Compare Othello to depth 9 with C."""
    return perft_row("othello", "perft_othello.c", 9, rounds)


def perft_row(name: str, source: str, depth: int, rounds: int) -> Row:
    """Compare our leaves per second with those of the C `source`, after checking the counts."""
    what, target = f"perft {depth}, {name}, leaves: C", 0.9
    if compiler() is None:
        return skipped_row(what, "no cc", target)
    of = game(name)
    with compiled_program(source) as program:
        counts = perft(of, of.start(), depth)
        check_equal(name, counts, perft_in_c(program, depth, 1).rows)
        ours, against = best_of(
            rounds,
            timed_job(lambda: perft(of, of.start(), depth), REPEATS),
            lambda: perft_in_c(program, depth, REPEATS).seconds,
        )
    leaves = counts[-1][0]
    return Row(
        what, per_second(leaves / ours), per_second(leaves / against), against / ours, target
    )


def check_equal(name: str, ours: object, in_c: object) -> None:
    """Raise if two programs do not count the same tree; their speeds are not comparable."""
    if ours != in_c:
        raise ValueError(f"{name}: we count {ours}, the C program {in_c}")
