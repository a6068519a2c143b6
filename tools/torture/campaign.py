"""A campaign: numbered trials, and the journal with their outcomes."""

import json
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from arena.storage.provenance import code_digest
from tools.torture.disturbances import DISTURBANCES
from tools.torture.laws import BROKEN, Outcome, Timeouts, Verdict
from tools.torture.processes import Processes
from tools.torture.references import reference_of
from tools.torture.subjects import SUBJECTS
from tools.torture.trial import Trial

JOURNAL = "trials.jsonl"


class TrialRecord(NamedTuple):
    """A line of the journal."""

    number: int
    subject: str
    disturbance: str
    verdict: Verdict
    words: str
    code: str  # digest of the sources
    seed: int = 1


def choose_trial(seed: int, number: int, only: str = "") -> tuple[str, str, random.Random]:
    """Return the subject and the disturbance of a trial, and its random generator."""
    chance = random.Random(f"{seed} {number}")
    pairs = {
        (name, how): subject.weight * disturbance.weight
        for name, subject in SUBJECTS.items()
        for how, disturbance in DISTURBANCES.items()
        if disturbance.fits(subject) and (not only or only in (name, how))
    }
    if not pairs:
        raise SystemExit(f"there is no subject or disturbance {only!r}")
    ((subject, how),) = chance.choices(list(pairs), list(pairs.values()))
    return subject, how, chance


def run_trial(subject: str, how: str, chance: random.Random, state: Path,
              processes: Processes, timeouts: Timeouts) -> Outcome:  # fmt: skip
    """Disturb a subject and return the outcome."""
    trial = Trial(SUBJECTS[subject], reference_of(subject, state, processes), state, chance,
                  processes, timeouts)  # fmt: skip
    trial.set_up()
    try:
        DISTURBANCES[how].does(trial)
        verdict = trial.verdict or trial.finish_and_check()
        return Outcome(verdict, ", ".join(trial.notes))
    except Outcome as outcome:
        words = ", ".join([*trial.notes, outcome.words] if outcome.words else trial.notes)
        return Outcome(outcome.verdict, words)
    finally:
        trial.tear_down()


def run_campaign(seed: int, state: Path, only: str, timeouts: Timeouts) -> Iterator[TrialRecord]:
    """Run the trials of a seed that are not in the journal, without end."""
    number, processes = repair_journal(state), Processes()
    while True:
        subject, how, chance = choose_trial(seed, number, only)
        outcome = run_trial(subject, how, chance, state, processes, timeouts)
        # Bypass the cache: forks must compute the digest of the current sources themselves.
        code = code_digest.__wrapped__()
        line = TrialRecord(number, subject, how, outcome.verdict, outcome.words, code, seed)
        if outcome.verdict in BROKEN:
            keep_evidence(state, number)
        append_record(state, line)
        yield line
        number += 1


def append_record(state: Path, line: TrialRecord) -> None:
    """Append a line to the journal and sync it to the disk."""
    with (state / JOURNAL).open("a") as file:
        file.write(json.dumps(line) + "\n")
        file.flush()
        os.fsync(file.fileno())


def read_journal(state: Path) -> list[TrialRecord]:
    """Return the complete lines of the journal."""
    path = state / JOURNAL
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [parse_record(text) for text in lines if text.endswith("\n")]


def parse_record(text: str) -> TrialRecord:
    """Return the record of a line of the journal."""
    number, subject, how, verdict, *rest = json.loads(text)
    return TrialRecord(number, subject, how, Verdict(verdict), *rest)


def repair_journal(state: Path) -> int:
    """Remove an incomplete last line of the journal, and return the number of lines."""
    path = state / JOURNAL
    if path.exists():
        text = path.read_text()
        path.write_text(text[: text.rfind("\n") + 1])
    return len(read_journal(state))


def keep_evidence(state: Path, number: int) -> None:
    """Copy the files and the log of a trial that broke a law."""
    place = state / "evidence" / str(number)
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(state / "place", place, symlinks=True)
    if (state / "log").exists():
        shutil.copy(state / "log", place / "log")
