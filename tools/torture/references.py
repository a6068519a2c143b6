"""What a subject leaves when nobody disturbs it, and what it takes."""

import json
import random
import shutil
from pathlib import Path

from tools.torture.below import Below
from tools.torture.laws import Outcome, Patience, Verdict
from tools.torture.subjects import PREPARED, SUBJECTS
from tools.torture.trial import DONE, Reference, Trial, products


def reference_of(name: str, state: Path, below: Below) -> Reference:
    """The reference of a subject: kept, or made by running it twice."""
    kept, prepared = state / "references" / f"{name}.json", state / "prepared" / name
    if kept.exists():
        return Reference(*json.loads(kept.read_text()), prepared)
    prepare(name, state, below, prepared)
    made = [undisturbed(name, state, below, prepared) for _ in range(2)]
    if made[0].products != made[1].products:
        raise Outcome(Verdict.DIFFERS, f"{name}: two undisturbed runs differ")
    kept.parent.mkdir(parents=True, exist_ok=True)
    quicker = min(made, key=lambda each: each.seconds)  # the first may have loaded what is new
    kept.write_text(json.dumps(quicker[:3]))
    return quicker


def prepare(name: str, state: Path, below: Below, prepared: Path) -> None:
    """Play what the subject needs before it begins."""
    subject = SUBJECTS[name]
    shutil.rmtree(prepared, ignore_errors=True)
    prepared.mkdir(parents=True)
    if subject.prepared is None:
        return
    trial = Trial(subject, Reference({}, 0.0, 0, prepared), state, random.Random(), below)
    trial.lay()
    trial.ends(trial.begin(command=subject.prepared), *DONE)
    Patience().until_gone(below)
    (played,) = (trial.place / PREPARED).glob("*/*")
    played.rename(trial.results / "run")
    shutil.copytree(trial.results, prepared, dirs_exist_ok=True)
    trial.leave()


def undisturbed(name: str, state: Path, below: Below, prepared: Path) -> Reference:
    """One run to its end."""
    subject = SUBJECTS[name]
    trial = Trial(subject, Reference({}, 0.0, 0, prepared), state, random.Random(), below)
    trial.lay()
    trial.ends(trial.begin(), *DONE)
    Patience().until_gone(below)
    found, seconds = products(trial.results, subject), sum(below.seconds.values())
    trial.leave()
    if not found:
        raise Outcome(Verdict.DIFFERS, f"{name}: nothing of {subject.products} is there")
    size = sum(path.stat().st_size for path in trial.results.rglob("*") if path.is_file())
    return Reference(found, seconds, size // 1024, prepared)
