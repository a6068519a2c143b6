"""How runs are disturbed: a function each, and a line in the table."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import NamedTuple

from tools.torture import damage, signals, surroundings
from tools.torture.subjects import Subject
from tools.torture.trial import Trial


def any_subject(_: Subject) -> bool:
    """Every subject can be disturbed so."""
    return True


class Disturbance(NamedTuple):
    """What is done to a trial, to which subjects, and how often it is chosen."""

    does: Callable[[Trial], None]
    fits: Callable[[Subject], bool] = any_subject
    weight: int = 10


def forks(subject: Subject) -> bool:
    """Whether there are processes below the command."""
    return ("--workers", "0") not in pairwise(subject.command.words)


DISTURBANCES: Mapping[str, Disturbance] = {
    "kill -9 of everything": Disturbance(signals.kill_all, weight=20),
    "kill -9 of the command": Disturbance(signals.kill_command, weight=20),
    "kill -9 of one below it": Disturbance(signals.kill_one_below, forks, weight=20),
    "SIGTERM": Disturbance(signals.terminate),
    "Ctrl-C": Disturbance(signals.interrupt),
    "Ctrl-C twice": Disturbance(signals.interrupt_twice),
    "stopped and continued": Disturbance(signals.stop_all),
    "full disk": Disturbance(surroundings.full_disk),
    "files limited": Disturbance(surroundings.limited_files, weight=5),
    "bit flipped after a kill": Disturbance(damage.after_kill(damage.flipped), weight=20),
    "bit flipped after the end": Disturbance(damage.after_the_end(damage.flipped)),
    "file cut after a kill": Disturbance(damage.after_kill(damage.cut)),
    "file cut after the end": Disturbance(damage.after_the_end(damage.cut), weight=5),
    "file deleted": Disturbance(damage.deleted, weight=5),
    "two at once": Disturbance(surroundings.two_at_once),
    "bot's file changed": Disturbance(
        surroundings.file_changed, lambda subject: bool(subject.deciding)
    ),
}
