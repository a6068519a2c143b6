"""Disturbances by signals: kills, stops, Ctrl-C, a terminal that is closed."""

import contextlib
import os
import signal
import time

from agents.sandbox.usage import descendants
from tools.torture.laws import Outcome, Verdict
from tools.torture.trial import DONE, Trial

KILLED = -signal.SIGKILL
UNFINISHED = 3
LONGEST_STOP = 0.5  # seconds
BEGUN = 0.2  # of a run, when usually something has been written, and workers are there


def kill_all(trial: Trial, first: float = 0.0) -> None:
    """Kill -9 of the command and of all below it, at once."""
    process = trial.begin()
    trial.moment(first)
    for each in trial.below.there():
        send(each, signal.SIGKILL)
    late_if_done(trial.ends(process, KILLED, *DONE))


def kill_command(trial: Trial) -> None:
    """Kill -9 of the command alone: its workers and bots have to notice."""
    process = trial.begin()
    trial.moment()
    send(process, signal.SIGKILL)
    late_if_done(trial.ends(process, KILLED, *DONE))


def kill_one_below(trial: Trial) -> None:
    """Kill -9 of a worker, of the spawner of bots, of anything below the command but a bot.

    A bot that is killed has crashed, and its game says so: that is a result, not a disturbance.
    """
    process = trial.begin()
    trial.moment(BEGUN)
    send(one_below(trial, process), signal.SIGKILL)
    trial.ends(process, *ends_of_less(trial))


def terminate(trial: Trial) -> None:
    """SIGTERM, as from a machine that shuts down."""
    process = trial.begin()
    trial.moment()
    send(process, signal.SIGTERM)
    late_if_done(trial.ends(process, -signal.SIGTERM, UNFINISHED, *DONE))


def interrupt(trial: Trial) -> None:
    """Ctrl-C."""
    press_ctrl_c(trial)


def interrupt_twice(trial: Trial) -> None:
    """Ctrl-C, and again because nothing happens at once."""
    press_ctrl_c(trial, trial.chance.choice((0.0, 0.0, 0.02, 0.1, 0.3)))


def press_ctrl_c(trial: Trial, again: float | None = None) -> None:
    """Press Ctrl-C as in a terminal, and perhaps again after some seconds."""
    process = trial.begin()
    trial.moment()
    press(process, signal.SIGINT)
    if again is not None:
        time.sleep(again)
        press(process, signal.SIGINT)
    late_if_done(trial.ends(process, -signal.SIGINT, UNFINISHED, *DONE))


def stop_all(trial: Trial) -> None:
    """Stop everything for a while, as on a laptop that sleeps, then let it go on."""
    process = trial.begin()
    trial.moment()
    stopped = trial.below.there()
    for each in stopped:
        send(each, signal.SIGSTOP)
    time.sleep(trial.chance.uniform(0.0, LONGEST_STOP))
    for each in stopped:
        send(each, signal.SIGCONT)
    trial.ends(process, *DONE)


def one_below(trial: Trial, command: int) -> int:
    """A process below the command that is no bot."""
    below = [each for each in descendants(command)[1:] if not is_bot(each)]
    if not below:
        raise Outcome(Verdict.LATE, "nobody was below the command")
    return trial.chance.choice(below)


def is_bot(process: int) -> bool:
    """Whether a process was begun by a spawner of bots."""
    while process > 1:
        process = parent_of(process)
        with contextlib.suppress(OSError), open(f"/proc/{process}/cmdline", "rb") as file:  # noqa: PTH123
            if b"agents.sandbox" in file.read():
                return True
    return False


def parent_of(process: int) -> int:
    """The parent of a process; 0 if it has ended."""
    try:
        with open(f"/proc/{process}/stat") as file:  # noqa: PTH123
            return int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def ends_of_less(trial: Trial) -> tuple[int, ...]:
    """How a command may end that has lost somebody: on a cluster it may have lost its scheduler."""
    return (*DONE, UNFINISHED) if "--cluster" in trial.subject.command.words else DONE


def late_if_done(status: int) -> None:
    """TOO LATE if the command ended as if nobody had disturbed it."""
    if status in DONE:
        raise Outcome(Verdict.LATE)


def send(process: int, number: signal.Signals) -> None:
    """Send a signal to a process that may have ended."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


def press(process: int, number: signal.Signals) -> None:
    """Send a signal to the command's group, as a terminal does."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, number)
