"""The table of disturbances: name, function, suitable subjects and weight."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import NamedTuple

from tools.torture import damage, signals, surroundings
from tools.torture.subjects import Subject
from tools.torture.trial import Trial


def any_subject(_: Subject) -> bool:
    """Return True: the disturbance suits every subject."""
    return True


class Disturbance(NamedTuple):
    """A way to disturb a trial, the subjects that it suits, and its relative frequency."""

    does: Callable[[Trial], None]
    fits: Callable[[Subject], bool] = any_subject
    weight: int = 10


def has_workers(subject: Subject) -> bool:
    """Return whether the command starts worker processes."""
    return ("--workers", "0") not in pairwise(subject.command.words)


DISTURBANCES: Mapping[str, Disturbance] = {
    "kill -9 of everything": Disturbance(signals.kill_all, weight=20),
    "kill -9 of the command": Disturbance(signals.kill_command, weight=20),
    "kill -9 of a descendant": Disturbance(signals.kill_descendant, has_workers, weight=20),
    "SIGTERM": Disturbance(signals.terminate),
    "Ctrl-C": Disturbance(signals.interrupt),
    "Ctrl-C twice": Disturbance(signals.interrupt_twice),
    "SIGSTOP and SIGCONT": Disturbance(signals.stop_all),
    "full disk": Disturbance(surroundings.fill_disk),
    "file size limit": Disturbance(surroundings.limit_files, weight=5),
    "bit flipped after a kill": Disturbance(damage.after_kill(damage.flip_bit), weight=20),
    "bit flipped in a finished run": Disturbance(damage.after_end(damage.flip_bit)),
    "file truncated after a kill": Disturbance(damage.after_kill(damage.truncate)),
    "file truncated in a finished run": Disturbance(damage.after_end(damage.truncate), weight=5),
    "file deleted": Disturbance(damage.delete_file, weight=5),
    "command started twice": Disturbance(surroundings.start_twice),
    "bot's file changed": Disturbance(
        surroundings.change_bot_file, lambda subject: bool(subject.deciding)
    ),
}
