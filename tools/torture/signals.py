"""Disturbances by signals: SIGKILL, SIGTERM, Ctrl-C, and stops."""

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
EARLIEST = 0.2  # share of a run after which it usually has workers and files


def kill_all(trial: Trial, first: float = 0.0) -> None:
    """Kill the command and all its descendants at once."""
    process = trial.start()
    trial.wait_for_moment(first)
    for each in trial.processes.pids():
        send_signal(each, signal.SIGKILL)
    raise_if_late(trial.wait_for(process, KILLED, *DONE))


def kill_command(trial: Trial) -> None:
    """Kill the command alone: its workers and bots must end by themselves."""
    process = trial.start()
    trial.wait_for_moment()
    send_signal(process, signal.SIGKILL)
    raise_if_late(trial.wait_for(process, KILLED, *DONE))


def kill_descendant(trial: Trial) -> None:
    """Kill a worker, the spawner of bots, or any other descendant except a bot.

    A killed bot counts as crashed and forfeits its game, so the results would rightly differ.
    """
    process = trial.start()
    trial.wait_for_moment(EARLIEST)
    send_signal(choose_descendant(trial, process), signal.SIGKILL)
    trial.wait_for(process, *allowed_statuses(trial))


def terminate(trial: Trial) -> None:
    """Send SIGTERM, as a machine that shuts down does."""
    process = trial.start()
    trial.wait_for_moment()
    send_signal(process, signal.SIGTERM)
    raise_if_late(trial.wait_for(process, -signal.SIGTERM, UNFINISHED, *DONE))


def interrupt(trial: Trial) -> None:
    """Press Ctrl-C once."""
    press_ctrl_c(trial)


def interrupt_twice(trial: Trial) -> None:
    """Press Ctrl-C twice, as an impatient user does."""
    press_ctrl_c(trial, trial.chance.choice((0.0, 0.0, 0.02, 0.1, 0.3)))


def press_ctrl_c(trial: Trial, again: float | None = None) -> None:
    """Press Ctrl-C as in a terminal, and once more after `again` seconds."""
    process = trial.start()
    trial.wait_for_moment()
    signal_group(process, signal.SIGINT)
    if again is not None:
        time.sleep(again)
        signal_group(process, signal.SIGINT)
    raise_if_late(trial.wait_for(process, -signal.SIGINT, UNFINISHED, *DONE))


def stop_all(trial: Trial) -> None:
    """Stop all processes for a while, as on a laptop that sleeps, then continue them."""
    process = trial.start()
    trial.wait_for_moment()
    stopped = trial.processes.pids()
    for each in stopped:
        send_signal(each, signal.SIGSTOP)
    time.sleep(trial.chance.uniform(0.0, LONGEST_STOP))
    for each in stopped:
        send_signal(each, signal.SIGCONT)
    trial.wait_for(process, *DONE)


def choose_descendant(trial: Trial, command: int) -> int:
    """Return a random descendant of the command that is not a bot."""
    processes = [each for each in descendants(command)[1:] if not is_bot(each)]
    if not processes:
        raise Outcome(Verdict.LATE, "the command had no descendants")
    return trial.chance.choice(processes)


def is_bot(process: int) -> bool:
    """Return whether a process was started by a spawner of bots."""
    while process > 1:
        process = parent_of(process)
        with contextlib.suppress(OSError), open(f"/proc/{process}/cmdline", "rb") as file:  # noqa: PTH123
            if b"agents.sandbox" in file.read():
                return True
    return False


def parent_of(process: int) -> int:
    """Return the parent of a process; 0 if the process has ended."""
    try:
        with open(f"/proc/{process}/stat") as file:  # noqa: PTH123
            return int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def allowed_statuses(trial: Trial) -> tuple[int, ...]:
    """Return the statuses allowed after a loss: a cluster may have lost its scheduler."""
    return (*DONE, UNFINISHED) if "--cluster" in trial.subject.command.words else DONE


def raise_if_late(status: int) -> None:
    """Raise LATE if the command ended as usual."""
    if status in DONE:
        raise Outcome(Verdict.LATE)


def send_signal(process: int, number: signal.Signals) -> None:
    """Send a signal to a process; do nothing if it has ended."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


def signal_group(process: int, number: signal.Signals) -> None:
    """Send a signal to the process group of a command, as a terminal does."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, number)
