"""The laws for every disturbed run, and what can become of one."""

import enum
import hashlib
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from tools.torture.below import MOST_BETWEEN, SAMPLE_SECONDS, Below


class Verdict(enum.StrEnum):
    """What became of a disturbance; those after SKIPPED break a law."""

    SAME = "same bytes"
    REFUSED = "refused"  # in words; begun afresh it ended with the same bytes
    LATE = "too late"  # the run had ended
    SKIPPED = "skipped"  # this machine cannot do it
    DIFFERS = "different"
    ORPHAN = "orphan"
    HANG = "hang"
    WORDLESS = "no words"  # a traceback, another status than promised, nothing said
    ELSEWHERE = "elsewhere"  # written outside of the results


COUNTED = (Verdict.SAME, Verdict.REFUSED)
BROKEN = tuple(Verdict)[tuple(Verdict).index(Verdict.SKIPPED) + 1 :]


class Outcome(Exception):  # noqa: N818  # an answer, not an error
    """A disturbance ends here, with this verdict."""

    def __init__(self, verdict: Verdict, words: str = "") -> None:
        super().__init__(f"{verdict}: {words}")
        self.verdict, self.words = verdict, words


class Patience:
    """How long is waited: in seconds in which nobody runs, and seconds of the processor.

    Neither passes sooner on a busy machine: who would run if there were time does not wait.
    """

    def __init__(self, waiting: float = 120.0, used: float = 120.0, leaving: float = 30.0) -> None:
        self.waiting, self.used = waiting, used
        self.leaving = leaving  # what is left by a command that has ended must be gone by then

    def until_ended(self, below: Below, process: int) -> int:
        """The status of a command; a HANG if it does not end."""
        waited, since, before = 0.0, time.monotonic(), below.used()
        while process not in below.statuses:
            now = time.monotonic()
            waited += 0.0 if below.busy() else min(now - since, MOST_BETWEEN)
            since = now
            if waited > self.waiting:
                raise Outcome(Verdict.HANG, f"nothing ran for {waited:.0f} s")
            if (used := below.used() - before) > self.used:
                raise Outcome(Verdict.HANG, f"{used:.0f} s of the processor, and no end")
            time.sleep(SAMPLE_SECONDS)
        return below.statuses[process]

    def until_gone(self, below: Below) -> None:
        """Wait for those whom a command has left; ORPHAN if one stays."""
        waited, since = 0.0, time.monotonic()
        while left := below.there():
            now = time.monotonic()
            waited += 0.0 if below.busy() else min(now - since, MOST_BETWEEN)
            since = now
            if waited > self.leaving:
                raise Outcome(Verdict.ORPHAN, ", ".join(map(words_of, left)))
            time.sleep(SAMPLE_SECONDS)


def words_of(process: int) -> str:
    """The command line of a process."""
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return str(process)
    return f"{process} {words.replace(bytes(1), b' ').decode(errors='replace')[:200]}"


def digest(content: bytes) -> str:
    """A short digest."""
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def contents(directory: Path, patterns: Iterable[str] = ("**/*",)) -> dict[str, str]:
    """Digests of the files below a directory that fit one of the patterns, by name."""
    found = {path for pattern in patterns for path in directory.glob(pattern) if path.is_file()}
    return {str(path.relative_to(directory)): digest(path.read_bytes()) for path in sorted(found)}


def same(expected: Mapping[str, str], seen: Mapping[str, str]) -> None:
    """DIFFERS if a product is another one, is missing, or is too many."""
    names = [name for name in {**expected, **seen} if expected.get(name) != seen.get(name)]
    if names:
        raise Outcome(Verdict.DIFFERS, ", ".join(names))


def untouched(before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """ELSEWHERE if something beside the results is not as it was."""
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    if names:
        raise Outcome(Verdict.ELSEWHERE, ", ".join(names))


def in_words(text: str) -> None:
    """WORDLESS if a command has printed a traceback or what moves a cursor."""
    if "Traceback (most recent call last)" in text:
        raise Outcome(Verdict.WORDLESS, text.rpartition("Traceback (")[2][-1500:])
    raw = {each for each in text if not each.isprintable() and each != "\n"}
    if raw:
        raise Outcome(Verdict.WORDLESS, f"printed {sorted(raw)!r}")


def promised(status: int, allowed: Iterable[int], text: str) -> None:
    """WORDLESS if a command has ended with another status than is promised, or silently."""
    if status not in allowed:
        raise Outcome(Verdict.WORDLESS, f"ended with status {status}: {text[-1500:]}")
    if status in (2, 3) and not text.strip():
        raise Outcome(Verdict.WORDLESS, f"ended with status {status} without a word")
