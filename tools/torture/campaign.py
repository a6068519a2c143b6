"""Trial after trial: which one has which number, and what became of each."""

import json
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from arena.storage.provenance import code_digest
from tools.torture.below import Below
from tools.torture.disturbances import DISTURBANCES
from tools.torture.laws import BROKEN, Outcome, Patience, Verdict
from tools.torture.references import reference_of
from tools.torture.subjects import SUBJECTS
from tools.torture.trial import Trial

JOURNAL = "trials.jsonl"


class Tried(NamedTuple):
    """A line of the journal."""

    number: int
    subject: str
    disturbance: str
    verdict: Verdict
    words: str
    code: str  # the sources that were disturbed
    seed: int = 1


def choice(seed: int, number: int, only: str = "") -> tuple[str, str, random.Random]:
    """The subject and the disturbance of a trial, and the chance for the rest of it."""
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


def tried(subject: str, how: str, chance: random.Random, state: Path, below: Below,
          patience: Patience) -> Outcome:  # fmt: skip
    """Disturb a subject; what became of it."""
    trial = Trial(SUBJECTS[subject], reference_of(subject, state, below), state, chance, below,
                  patience)  # fmt: skip
    trial.lay()
    try:
        DISTURBANCES[how].does(trial)
        verdict = trial.settled or trial.conclude()
        return Outcome(verdict, ", ".join(trial.notes))
    except Outcome as outcome:
        words = ", ".join([*trial.notes, outcome.words] if outcome.words else trial.notes)
        return Outcome(outcome.verdict, words)
    finally:
        trial.leave()


def campaign(seed: int, state: Path, only: str, patience: Patience) -> Iterator[Tried]:
    """The trials of a seed that are not in the journal, without an end."""
    number, below = mended(state), Below()
    while True:
        subject, how, chance = choice(seed, number, only)
        outcome = tried(subject, how, chance, state, below, patience)
        # Not remembered: what is forked from here has to look for itself.
        code = code_digest.__wrapped__()
        line = Tried(number, subject, how, outcome.verdict, outcome.words, code, seed)
        if outcome.verdict in BROKEN:
            keep_evidence(state, number)
        note(state, line)
        yield line
        number += 1


def note(state: Path, line: Tried) -> None:
    """Write a line into the journal, whole or not at all."""
    with (state / JOURNAL).open("a") as file:
        file.write(json.dumps(line) + "\n")
        file.flush()
        os.fsync(file.fileno())


def stored(state: Path) -> list[Tried]:
    """The lines of the journal, without one that a kill has cut."""
    path = state / JOURNAL
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [line_of(text) for text in lines if text.endswith("\n")]


def line_of(text: str) -> Tried:
    """A line of the journal as it was noted."""
    number, subject, how, verdict, *rest = json.loads(text)
    return Tried(number, subject, how, Verdict(verdict), *rest)


def mended(state: Path) -> int:
    """How many lines the journal has; one that a kill has cut is removed, and tried again."""
    path = state / JOURNAL
    if path.exists():
        text = path.read_text()
        path.write_text(text[: text.rfind("\n") + 1])
    return len(stored(state))


def keep_evidence(state: Path, number: int) -> None:
    """Keep what a law was broken by."""
    place = state / "evidence" / str(number)
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(state / "place", place, symlinks=True)
    if (state / "log").exists():
        shutil.copy(state / "log", place / "log")
