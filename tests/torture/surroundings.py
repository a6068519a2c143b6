"""Disturbances by what is around a run: its disk, its clock, its files, our code, a twin."""

import struct
import subprocess
from pathlib import Path

from tests.torture.disks import (
    files_limited,
    own_mounts,
    read_only,
    resized,
    seen_otherwise,
    small_disk,
)
from tests.torture.laws import Outcome, Verdict
from tests.torture.signals import kill_all, late_if_done
from tests.torture.trial import DONE, REFUSED, ROOT, Trial

UNFINISHED = 3
JUMPS = (-86_400 * 365 * 20, -3_600, -61, 61, 3_600, 86_400 * 365 * 10)
SOURCE = ROOT / "arena" / "playing" / "referee.py"  # it decides games, and no kernel is made of it
CLOCK = Path(__file__).parent / "clock.c"


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


def read_only_disk(trial: Trial) -> None:
    """A run that was killed is to go on where nothing can be written; later something can."""
    needs_mounts()
    with small_disk(trial.results, 1 << 18):
        kill_all(trial)
        trial.patience.until_gone(trial.below)
        read_only(trial.results)
        trial.ends(trial.begin(), *REFUSED)
        resized(trial.results)
        trial.settled = trial.conclude()


def two_at_once(trial: Trial) -> None:
    """The same command is begun again while the first one runs."""
    first = trial.begin()
    trial.moment()
    second = trial.begin()
    trial.ends(second, UNFINISHED, *DONE)
    trial.ends(first, UNFINISHED, *DONE)


def clock_jumps(trial: Trial) -> None:
    """The clock jumps while the run is played, to another year perhaps."""
    library, page = trial.state / "clock.so", trial.state / "clock"
    if not library.exists():
        compiler = ["cc", "-shared", "-fPIC", "-o", str(library), str(CLOCK), "-ldl"]
        try:
            subprocess.run(compiler, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            raise Outcome(Verdict.SKIPPED, "no compiler for a clock that jumps") from None
    page.write_bytes(struct.pack("l", trial.chance.choice((0, *JUMPS))))
    process = trial.begin(LD_PRELOAD=str(library), TORTURE_CLOCK=str(page))
    shares = sorted(trial.chance.uniform(0.0, 1.0) for _ in range(3))
    for share in shares:
        try:
            trial.until(share)
        except Outcome:
            break
        with page.open("r+b") as file:  # the same page of memory, which the run looks at
            file.write(struct.pack("l", trial.chance.choice(JUMPS)))
    trial.ends(process, *DONE)


def file_changed(trial: Trial) -> None:
    """A bot's file is changed after a kill: that is another run. Then it is as it was."""
    name = trial.chance.choice(trial.subject.deciding)
    kill_all(trial)
    trial.patience.until_gone(trial.below)
    path = trial.place / name
    path.write_text(f"{path.read_text()}\n# changed\n")
    another_run(trial)
    path.write_text(trial.subject.files[name])


def seed_changed(trial: Trial) -> None:
    """The experiment has another seed after a kill: that is another run. Then it is as it was."""
    kill_all(trial)
    trial.patience.until_gone(trial.below)
    path = trial.place / "torture.toml"
    path.write_text(path.read_text().replace("\nseed = ", "\nseed = 1"))
    another_run(trial)
    path.write_text(trial.subject.files["torture.toml"])


def code_changed(trial: Trial) -> None:
    """Our own code is changed after a kill: that is another run. Then it is as it was."""
    needs_mounts()
    kill_all(trial)
    trial.patience.until_gone(trial.below)
    content = SOURCE.read_bytes() + b"\n# changed\n"
    with seen_otherwise(SOURCE, content, trial.state / "changed.py"):
        another_run(trial)


def another_run(trial: Trial) -> None:
    """What is played now lies in a directory of its own; what was there stays as it is."""
    before = {path: path.read_bytes() for path in trial.results.glob("*/*/journal.sqlite*")}
    old = {path.parent for path in trial.results.glob("*/*/journal.sqlite")}
    trial.ends(trial.begin(), *DONE)
    trial.patience.until_gone(trial.below)
    new = {path.parent for path in trial.results.glob("*/*/journal.sqlite")} - old
    if len(new) != 1 or any(path.read_bytes() != each for path, each in before.items()):
        raise Outcome(Verdict.DIFFERS, "what was changed went into the old run")
    for path in sorted(new.pop().rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def needs_mounts() -> None:
    """SKIPPED where this process may not mount."""
    if not own_mounts():
        raise Outcome(Verdict.SKIPPED, "mounting needs root")
