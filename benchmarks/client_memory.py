"""One command alone: it runs an experiment with all its tables and prints its peak in bytes."""

import resource
import sys

from arena.commands.command import run_command

UNIT = 1 if sys.platform == "darwin" else 1024  # of what the system says


def peak(words: list[str]) -> int:
    """The peak of `arena.run` with these words: playing, tables, checks, page; or of a worker."""
    status = run_command("run", words)
    assert status == 0, status
    each = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return max(used.ru_maxrss for used in each) * UNIT


if __name__ == "__main__":
    print(peak(sys.argv[1:]))
