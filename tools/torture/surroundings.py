"""Disturbances by a full disk, a changed file, or a second command."""

import shutil

from tools.torture.disks import limit_file_size, resize, small_disk, unshare_mounts
from tools.torture.laws import Outcome, Verdict
from tools.torture.signals import kill_all, raise_if_late
from tools.torture.trial import DONE, Trial

UNFINISHED = 3


def fill_disk(trial: Trial) -> None:
    """Run on a full disk, then continue after the disk has become larger."""
    require_mounts()
    kilobytes = trial.chance.randrange(8, max(9, trial.reference.kilobytes))
    with small_disk(trial.results, kilobytes):
        trial.may_refuse = False
        status = trial.wait_for(trial.start(), UNFINISHED, *DONE)
        trial.timeouts.wait_until_empty(trial.processes)
        resize(trial.results)
        trial.verdict = trial.finish_and_check()
    raise_if_late(status)


def limit_files(trial: Trial) -> None:
    """Run with a file size limit (`ulimit -f`), then continue without it."""
    most = trial.chance.randrange(4, max(5, trial.reference.kilobytes // 2))
    raise_if_late(
        trial.wait_for(trial.start(before=lambda: limit_file_size(most)), UNFINISHED, *DONE)
    )


def start_twice(trial: Trial) -> None:
    """Start the same command again while the first one runs."""
    first = trial.start()
    trial.wait_for_moment()
    second = trial.start()
    trial.wait_for(second, UNFINISHED, *DONE)
    trial.wait_for(first, UNFINISHED, *DONE)


def change_bot_file(trial: Trial) -> None:
    """Kill a run, play it with a changed bot as another run, and restore the bot."""
    name = trial.chance.choice(trial.subject.deciding)
    kill_all(trial)
    trial.timeouts.wait_until_empty(trial.processes)
    path = trial.place / name
    path.write_text(f"{path.read_text()}\n# changed\n")
    play_changed_run(trial)
    path.write_text(trial.subject.files[name])


def play_changed_run(trial: Trial) -> None:
    """Play the changed run: it must get a new directory and not touch the old one."""
    before = {path: path.read_bytes() for path in trial.results.glob("*/*/journal.sqlite*")}
    old = {path.parent for path in trial.results.glob("*/*/journal.sqlite")}
    trial.wait_for(trial.start(), *DONE)
    trial.timeouts.wait_until_empty(trial.processes)
    new = {path.parent for path in trial.results.glob("*/*/journal.sqlite")} - old
    if len(new) != 1 or any(path.read_bytes() != each for path, each in before.items()):
        raise Outcome(Verdict.DIFFERS, "the changed run wrote into the directory of the old run")
    shutil.rmtree(new.pop())


def require_mounts() -> None:
    """Raise SKIPPED if this process may not mount."""
    if not unshare_mounts():
        raise Outcome(Verdict.SKIPPED, "mounting needs root")
