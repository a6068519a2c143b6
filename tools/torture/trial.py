"""One trial: a run that is disturbed once and then completed."""

import os
import random
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tools.torture import laws
from tools.torture.laws import Outcome, Timeouts, Verdict
from tools.torture.processes import SAMPLE_SECONDS, Command, Processes
from tools.torture.subjects import RESULTS, Subject

ROOT = Path(__file__).parents[2]
DONE = (0, 1)
REFUSED = (2, 3)


class Reference(NamedTuple):
    """The products and costs of an undisturbed run."""

    products: dict[str, str]  # digests by name
    seconds: float  # CPU time
    kilobytes: int  # size of the results
    prepared: Path  # files in the results before the run


def do_nothing() -> None:
    """The default of `before`: no preparation."""


@dataclass
class Trial:
    """A subject in its directory; all random choices use `chance`."""

    subject: Subject
    reference: Reference
    state: Path
    chance: random.Random
    processes: Processes
    timeouts: Timeouts = field(default_factory=Timeouts)
    may_refuse: bool = False  # the command may refuse damaged files
    notes: list[str] = field(default_factory=list)  # descriptions of the damage
    verdict: Verdict | None = None  # set by a disturbance that finishes the run itself

    @property
    def place(self) -> Path:
        """Return the working directory, always the same because tables may contain its path."""
        return self.state / "place"

    @property
    def results(self) -> Path:
        return self.place / RESULTS

    @property
    def log(self) -> Path:
        """Return the file with all output of the commands."""
        return self.state / "log"

    def text(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def set_up(self) -> None:
        """Create the files that the run starts from."""
        for each in (self.place, self.state / "scratch"):
            shutil.rmtree(each, ignore_errors=True)
            each.mkdir(parents=True)
        self.log.unlink(missing_ok=True)
        self.processes.seconds.clear()
        for name, text in self.subject.files.items():
            (self.place / name).write_text(text)
        self.results.mkdir()
        shutil.copytree(self.reference.prepared, self.results, dirs_exist_ok=True)

    def start(
        self, *more: str, command: Command | None = None, before: Callable[[], None] = do_nothing,
        **environment: str,
    ) -> int:  # fmt: skip
        """Start the subject's command, or another one, and return its process ID."""
        command = command or self.subject.command
        return self.processes.start(
            command._replace(words=(*command.words, *more)), self.place, self.log,
            {**environment_for(self.state), **environment}, before,
        )  # fmt: skip

    def wait_until_share(self, share: float) -> None:
        """Wait until the commands have used this share of the CPU time of an undisturbed run."""
        goal = share * self.reference.seconds
        while self.processes.cpu_seconds() < goal:
            if not self.processes.pids():
                raise Outcome(Verdict.LATE)
            time.sleep(SAMPLE_SECONDS)

    def wait_for_moment(self, first: float = 0.0) -> None:
        """Wait until a random moment after this share of the run."""
        self.wait_until_share(self.chance.uniform(first, 1.0))

    def wait_for(self, process: int, *allowed: int) -> int:
        """Wait for a command and return its exit status, which must be an allowed one."""
        status = self.timeouts.wait_for_exit(self.processes, process)
        laws.require_status(status, allowed, self.text())
        return status

    def finish_and_check(self) -> Verdict:
        """Complete the run and check its products."""
        self.timeouts.wait_until_empty(self.processes)
        verdict = self._finish()
        laws.require_readable(self.text())
        laws.require_same(self.reference.products, products(self.results, self.subject))
        outside = laws.contents(self.place)
        inside = f"{RESULTS}/"
        laws.require_untouched(
            {name: laws.digest(text.encode()) for name, text in self.subject.files.items()},
            {name: each for name, each in outside.items() if not name.startswith(inside)},
        )
        return verdict

    def _finish(self) -> Verdict:
        allowed = DONE + REFUSED if self.may_refuse else DONE
        before = len(self.text())
        status = self.timeouts.wait_for_exit(self.processes, self.start())
        self.timeouts.wait_until_empty(self.processes)
        laws.require_status(status, allowed, self.text()[before:])
        if status in DONE:
            return Verdict.SAME
        if not self.subject.has_fresh:  # the message says what to remove
            shutil.rmtree(self.results)
            shutil.copytree(self.reference.prepared, self.results)
        self.wait_for(self.start(*["--fresh"] * self.subject.has_fresh), *DONE)
        self.timeouts.wait_until_empty(self.processes)
        return Verdict.REFUSED

    def tear_down(self) -> None:
        """Kill all processes of the trial."""
        self.processes.kill()


def environment_for(state: Path) -> dict[str, str]:
    """Return environment variables that keep scratch files and settings in the state directory."""
    return {
        "PITFLIP_CACHE": "off",
        "TMPDIR": str(state / "scratch"),
        "XDG_CACHE_HOME": str(state / "cache"),
        "XDG_CONFIG_HOME": str(state / "settings"),
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONPATH": str(ROOT),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
    }


def products(results: Path, subject: Subject) -> dict[str, str]:
    """Return the digests of the products, without those of replaced runs."""
    found = laws.contents(results, subject.products)
    return {name: each for name, each in found.items() if ".old-" not in name}
