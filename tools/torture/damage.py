"""Disturbances that damage the files of a run: flipped bits, truncated and deleted files."""

from collections.abc import Callable
from pathlib import Path

from arena.storage.journal import JOURNAL
from tools.torture.laws import Outcome, Verdict
from tools.torture.signals import EARLIEST, kill_all
from tools.torture.trial import DONE, Trial

HALF = 0.5
Change = Callable[[Trial, bytes], bytes]


def flip_bit(trial: Trial, content: bytes) -> bytes:
    """Return the content with one random bit flipped."""
    place = trial.chance.randrange(len(content) * 8)
    result = bytearray(content)
    result[place // 8] ^= 1 << place % 8
    return bytes(result)


def truncate(trial: Trial, content: bytes) -> bytes:
    """Return the content up to a random byte."""
    return content[: trial.chance.randrange(len(content))]


def after_kill(change: Change) -> Callable[[Trial], None]:
    """Return a disturbance that kills a run and changes one of its files before it continues."""

    def disturb(trial: Trial) -> None:
        kill_all(trial, EARLIEST)
        change_file(trial, change)

    return disturb


def after_end(change: Change) -> Callable[[Trial], None]:
    """Return a disturbance that changes a file of a finished run, which is then started again."""

    def disturb(trial: Trial) -> None:
        trial.wait_for(trial.start(), *DONE)
        change_file(trial, change)

    return disturb


def delete_file(trial: Trial) -> None:
    """Kill a run and delete one of its files."""
    kill_all(trial, EARLIEST)
    trial.timeouts.wait_until_empty(trial.processes)
    trial.may_refuse = True
    choose_file(trial).unlink()


def change_file(trial: Trial, change: Change) -> None:
    """Apply a change to one file of the results."""
    trial.timeouts.wait_until_empty(trial.processes)
    trial.may_refuse = True
    path = choose_file(trial)
    path.write_bytes(change(trial, path.read_bytes()))


def choose_file(trial: Trial) -> Path:
    """Return a random non-empty file; half of the time a journal, which alone decides results."""
    found = [path for path in sorted(trial.results.rglob("*")) if path.is_file()]
    found = [path for path in found if path.stat().st_size]
    if not found:
        raise Outcome(Verdict.LATE, "nothing was written yet")
    journals = [path for path in found if path.name.startswith(JOURNAL)]
    path = trial.chance.choice(journals if journals and trial.chance.random() < HALF else found)
    trial.notes.append(str(path.relative_to(trial.results)))
    return path
