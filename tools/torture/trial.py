"""One trial: a run from its files to its tables, disturbed once."""

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
from tools.torture.below import SAMPLE_SECONDS, Below, Command
from tools.torture.laws import Outcome, Patience, Verdict
from tools.torture.subjects import RESULTS, Subject

ROOT = Path(__file__).parents[2]
DONE = (0, 1)
REFUSED = (2, 3)


class Reference(NamedTuple):
    """What a subject leaves when nobody disturbs it, and what it takes."""

    products: dict[str, str]  # digests by name
    seconds: float  # of the processor
    kilobytes: int  # in its results
    prepared: Path  # what lies in the results before


def nothing() -> None:
    """What a command does before it begins, unless it is told otherwise."""


@dataclass
class Trial:
    """A subject in its directory; what disturbs it draws from `chance`."""

    subject: Subject
    reference: Reference
    state: Path
    chance: random.Random
    below: Below
    patience: Patience = field(default_factory=Patience)
    may_refuse: bool = False  # what was damaged
    notes: list[str] = field(default_factory=list)  # what was damaged
    settled: Verdict | None = None  # what became of it, once that is known

    @property
    def place(self) -> Path:
        """Where the command is called: always the same, for tables may name it."""
        return self.state / "place"

    @property
    def results(self) -> Path:
        return self.place / RESULTS

    @property
    def log(self) -> Path:
        """All that the commands of the trial print."""
        return self.state / "log"

    def text(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def lay(self) -> None:
        """Everything as it is before the run begins."""
        for each in (self.place, self.state / "scratch"):
            shutil.rmtree(each, ignore_errors=True)
            each.mkdir(parents=True)
        self.log.unlink(missing_ok=True)
        self.below.seconds.clear()
        for name, text in self.subject.files.items():
            (self.place / name).write_text(text)
        self.results.mkdir()
        shutil.copytree(self.reference.prepared, self.results, dirs_exist_ok=True)

    def begin(
        self, *more: str, command: Command | None = None, before: Callable[[], None] = nothing,
        **environment: str,
    ) -> int:  # fmt: skip
        """Begin the subject's command, or another one; its process."""
        command = command or self.subject.command
        return self.below.begin(
            command._replace(words=(*command.words, *more)), self.place, self.log,
            {**environment_in(self.state), **environment}, before,
        )  # fmt: skip

    def until(self, share: float) -> None:
        """Wait until the commands have used this share of the time that they need undisturbed."""
        goal = share * self.reference.seconds
        while self.below.used() < goal:
            if not self.below.there():
                raise Outcome(Verdict.LATE)
            time.sleep(SAMPLE_SECONDS)

    def moment(self, first: float = 0.0) -> None:
        """Wait until some moment of the run, after this share of it."""
        self.until(self.chance.uniform(first, 1.0))

    def ends(self, process: int, *allowed: int) -> int:
        """The status with which a command ends, which must be one of these."""
        status = self.patience.until_ended(self.below, process)
        laws.promised(status, allowed, self.text())
        return status

    def conclude(self) -> Verdict:
        """Go on to the end, and look at what is there then."""
        self.patience.until_gone(self.below)
        verdict = self._finish()
        laws.in_words(self.text())
        laws.same(self.reference.products, products(self.results, self.subject))
        outside = laws.contents(self.place)
        inside = f"{RESULTS}/"
        laws.untouched(
            {name: laws.digest(text.encode()) for name, text in self.subject.files.items()},
            {name: each for name, each in outside.items() if not name.startswith(inside)},
        )
        return verdict

    def _finish(self) -> Verdict:
        allowed = DONE + REFUSED if self.may_refuse else DONE
        before = len(self.text())
        status = self.patience.until_ended(self.below, self.begin())
        self.patience.until_gone(self.below)
        laws.promised(status, allowed, self.text()[before:])
        if status in DONE:
            return Verdict.SAME
        if not self.subject.afresh:  # the message says what to remove
            shutil.rmtree(self.results)
            shutil.copytree(self.reference.prepared, self.results)
        self.ends(self.begin(*["--fresh"] * self.subject.afresh), *DONE)
        self.patience.until_gone(self.below)
        return Verdict.REFUSED

    def leave(self) -> None:
        """End whatever is there still."""
        self.below.end()


def environment_in(state: Path) -> dict[str, str]:
    """Where commands write beside their results, and what they know of other runs: nothing."""
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
    """The digests of what must be the same, without what was set aside."""
    found = laws.contents(results, subject.products)
    return {name: each for name, each in found.items() if ".old-" not in name}
