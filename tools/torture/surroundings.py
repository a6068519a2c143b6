"""Disturbances by the disk, by a changed file, and by a second command."""

import shutil

from tools.torture.disks import files_limited, own_mounts, resized, small_disk
from tools.torture.laws import Outcome, Verdict
from tools.torture.signals import kill_all, late_if_done
from tools.torture.trial import DONE, Trial

UNFINISHED = 3


def full_disk(trial: Trial) -> None:
    """The disk of the results is full; then somebody makes room."""
    needs_mounts()
    room = trial.chance.randrange(8, max(9, trial.reference.kilobytes))
    with small_disk(trial.results, room):
        trial.may_refuse = False
        status = trial.ends(trial.begin(), UNFINISHED, *DONE)
        trial.patience.until_gone(trial.below)
        resized(trial.results)
        trial.settled = trial.conclude()
    late_if_done(status)


def limited_files(trial: Trial) -> None:
    """Files end at a limit (`ulimit -f`), which is taken away afterwards."""
    most = trial.chance.randrange(4, max(5, trial.reference.kilobytes // 2))
    late_if_done(trial.ends(trial.begin(before=lambda: files_limited(most)), UNFINISHED, *DONE))


def two_at_once(trial: Trial) -> None:
    """The same command is begun again while the first one runs."""
    first = trial.begin()
    trial.moment()
    second = trial.begin()
    trial.ends(second, UNFINISHED, *DONE)
    trial.ends(first, UNFINISHED, *DONE)


def file_changed(trial: Trial) -> None:
    """A bot's file is changed after a kill: that is another run. Then it is as it was."""
    name = trial.chance.choice(trial.subject.deciding)
    kill_all(trial)
    trial.patience.until_gone(trial.below)
    path = trial.place / name
    path.write_text(f"{path.read_text()}\n# changed\n")
    another_run(trial)
    path.write_text(trial.subject.files[name])


def another_run(trial: Trial) -> None:
    """Play the changed run: it must get its own directory and leave the old one as it is."""
    before = {path: path.read_bytes() for path in trial.results.glob("*/*/journal.sqlite*")}
    old = {path.parent for path in trial.results.glob("*/*/journal.sqlite")}
    trial.ends(trial.begin(), *DONE)
    trial.patience.until_gone(trial.below)
    new = {path.parent for path in trial.results.glob("*/*/journal.sqlite")} - old
    if len(new) != 1 or any(path.read_bytes() != each for path, each in before.items()):
        raise Outcome(Verdict.DIFFERS, "what was changed went into the old run")
    shutil.rmtree(new.pop())


def needs_mounts() -> None:
    """SKIPPED where this process may not mount."""
    if not own_mounts():
        raise Outcome(Verdict.SKIPPED, "mounting needs root")
