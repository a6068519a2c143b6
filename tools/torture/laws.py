"""The laws for disturbed runs, and the verdicts on them."""

import enum
import hashlib
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from tools.torture.processes import MOST_BETWEEN, SAMPLE_SECONDS, Processes


class Verdict(enum.StrEnum):
    """The outcome of a disturbance; the members after SKIPPED break a law."""

    SAME = "same bytes"
    REFUSED = "refused"  # with a message; then the same bytes from a fresh start
    LATE = "too late"  # the run had already ended
    SKIPPED = "skipped"  # this machine cannot do it
    DIFFERS = "different"
    ORPHAN = "orphan"
    HANG = "hang"
    BAD_OUTPUT = "bad output"  # a traceback, a wrong exit status, or an error without a message
    ELSEWHERE = "elsewhere"  # files outside the results were written


COUNTED = (Verdict.SAME, Verdict.REFUSED)
BROKEN = tuple(Verdict)[tuple(Verdict).index(Verdict.SKIPPED) + 1 :]


class Outcome(Exception):  # noqa: N818  # a result, not an error
    """Ends a trial with this verdict."""

    def __init__(self, verdict: Verdict, words: str = "") -> None:
        super().__init__(f"{verdict}: {words}")
        self.verdict, self.words = verdict, words


class Timeouts:
    """Limits on waiting: seconds without a running process, and seconds of CPU time.

    A busy machine shortens neither: a process that is ready to run does not count as waiting.
    """

    def __init__(self, waiting: float = 120.0, used: float = 120.0, leaving: float = 30.0) -> None:
        self.waiting, self.used = waiting, used
        self.leaving = leaving  # for the descendants of a command that has ended

    def wait_for_exit(self, processes: Processes, process: int) -> int:
        """Wait for a command and return its exit status; raise HANG if it does not end."""
        waited, since, before = 0.0, time.monotonic(), processes.cpu_seconds()
        while process not in processes.statuses:
            now = time.monotonic()
            waited += 0.0 if processes.is_busy() else min(now - since, MOST_BETWEEN)
            since = now
            if waited > self.waiting:
                raise Outcome(Verdict.HANG, f"nothing ran for {waited:.0f} s")
            if (used := processes.cpu_seconds() - before) > self.used:
                raise Outcome(Verdict.HANG, f"{used:.0f} s of CPU time without an end")
            time.sleep(SAMPLE_SECONDS)
        return processes.statuses[process]

    def wait_until_empty(self, processes: Processes) -> None:
        """Wait until all descendants have ended; raise ORPHAN if one does not."""
        waited, since = 0.0, time.monotonic()
        while left := processes.pids():
            now = time.monotonic()
            waited += 0.0 if processes.is_busy() else min(now - since, MOST_BETWEEN)
            since = now
            if waited > self.leaving:
                raise Outcome(Verdict.ORPHAN, ", ".join(map(command_line, left)))
            time.sleep(SAMPLE_SECONDS)


def command_line(process: int) -> str:
    """Return the ID and the command line of a process."""
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return str(process)
    return f"{process} {words.replace(bytes(1), b' ').decode(errors='replace')[:200]}"


def digest(content: bytes) -> str:
    """Return a short digest."""
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def contents(directory: Path, patterns: Iterable[str] = ("**/*",)) -> dict[str, str]:
    """Return the digests of the files in a directory that match a pattern, by name."""
    found = {path for pattern in patterns for path in directory.glob(pattern) if path.is_file()}
    return {str(path.relative_to(directory)): digest(path.read_bytes()) for path in sorted(found)}


def require_same(expected: Mapping[str, str], seen: Mapping[str, str]) -> None:
    """Raise DIFFERS if a product has other content, is missing or is unexpected."""
    names = [name for name in {**expected, **seen} if expected.get(name) != seen.get(name)]
    if names:
        raise Outcome(Verdict.DIFFERS, ", ".join(names))


def require_untouched(before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """Raise ELSEWHERE if a file outside the results has changed."""
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    if names:
        raise Outcome(Verdict.ELSEWHERE, ", ".join(names))


def require_readable(text: str) -> None:
    """Raise BAD_OUTPUT if a command has printed a traceback or control characters."""
    if "Traceback (most recent call last)" in text:
        raise Outcome(Verdict.BAD_OUTPUT, text.rpartition("Traceback (")[2][-1500:])
    raw = {each for each in text if not each.isprintable() and each != "\n"}
    if raw:
        raise Outcome(Verdict.BAD_OUTPUT, f"printed {sorted(raw)!r}")


def require_status(status: int, allowed: Iterable[int], text: str) -> None:
    """Raise BAD_OUTPUT for an undocumented exit status, or an error without a message."""
    if status not in allowed:
        raise Outcome(Verdict.BAD_OUTPUT, f"ended with status {status}: {text[-1500:]}")
    if status in (2, 3) and not text.strip():
        raise Outcome(Verdict.BAD_OUTPUT, f"ended with status {status} without a message")
