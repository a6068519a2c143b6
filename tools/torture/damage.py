"""Disturbances of what lies on the disk: bits, ends, blocks and whole files of a run."""

from collections.abc import Callable
from pathlib import Path

from arena.storage.journal import JOURNAL
from tools.torture.laws import Outcome, Verdict
from tools.torture.signals import BEGUN, kill_all
from tools.torture.trial import DONE, Trial

HALF = 0.5
Change = Callable[[Trial, bytes], bytes]


def flipped(trial: Trial, content: bytes) -> bytes:
    """One bit is another."""
    place = trial.chance.randrange(len(content) * 8)
    changed = bytearray(content)
    changed[place // 8] ^= 1 << place % 8
    return bytes(changed)


def cut(trial: Trial, content: bytes) -> bytes:
    """The end is missing."""
    return content[: trial.chance.randrange(len(content))]


def after_kill(change: Change) -> Callable[[Trial], None]:
    """Kill a run, and change one of its files before it goes on."""

    def disturb(trial: Trial) -> None:
        kill_all(trial, BEGUN)
        changed(trial, change)

    return disturb


def after_the_end(change: Change) -> Callable[[Trial], None]:
    """Change a file of a finished run, which is then asked for again."""

    def disturb(trial: Trial) -> None:
        trial.ends(trial.begin(), *DONE)
        changed(trial, change)

    return disturb


def deleted(trial: Trial) -> None:
    """Delete one file of a run that was killed."""
    kill_all(trial, BEGUN)
    trial.patience.until_gone(trial.below)
    trial.may_refuse = True
    one_of(trial).unlink()


def changed(trial: Trial, change: Change) -> None:
    """Change one file that is not empty."""
    trial.patience.until_gone(trial.below)
    trial.may_refuse = True
    path = one_of(trial)
    path.write_bytes(change(trial, path.read_bytes()))


def one_of(trial: Trial) -> Path:
    """A file in the results: often a journal, for it alone decides; else every one is as likely."""
    found = [path for path in sorted(trial.results.rglob("*")) if path.is_file()]
    found = [path for path in found if path.stat().st_size]
    if not found:
        raise Outcome(Verdict.LATE, "nothing was written yet")
    journals = [path for path in found if path.name.startswith(JOURNAL)]
    path = trial.chance.choice(journals if journals and trial.chance.random() < HALF else found)
    trial.notes.append(str(path.relative_to(trial.results)))
    return path
