"""Run one experiment with all its tables and print the peak memory in bytes."""

import resource
import sys

from arena.commands.registry import run_verb

UNIT = 1 if sys.platform == "darwin" else 1024  # bytes per unit of ru_maxrss


def peak(words: list[str]) -> int:
    """Run `arena.run` with these arguments and return the peak of the command or of a worker."""
    status = run_verb("run", words)
    assert status == 0, status
    each = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return max(used.ru_maxrss for used in each) * UNIT


if __name__ == "__main__":
    print(peak(sys.argv[1:]))
