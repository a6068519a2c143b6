"""The products and costs of undisturbed subjects."""

import json
import random
import shutil
from pathlib import Path

from tools.torture.laws import Outcome, Timeouts, Verdict
from tools.torture.processes import Processes
from tools.torture.subjects import PREPARED, SUBJECTS
from tools.torture.trial import DONE, Reference, Trial, products


def reference_of(name: str, state: Path, processes: Processes) -> Reference:
    """Return the reference of a subject, stored or measured by running the subject twice."""
    kept, prepared = state / "references" / f"{name}.json", state / "prepared" / name
    if kept.exists():
        return Reference(*json.loads(kept.read_text()), prepared)
    prepare(name, state, processes, prepared)
    made = [measure_reference(name, state, processes, prepared) for _ in range(2)]
    if made[0].products != made[1].products:
        raise Outcome(Verdict.DIFFERS, f"{name}: two undisturbed runs differ")
    kept.parent.mkdir(parents=True, exist_ok=True)
    quicker = min(made, key=lambda each: each.seconds)  # the first run may have filled caches
    kept.write_text(json.dumps(quicker[:3]))
    return quicker


def prepare(name: str, state: Path, processes: Processes, prepared: Path) -> None:
    """Make the run that a subject needs before its command starts."""
    subject = SUBJECTS[name]
    shutil.rmtree(prepared, ignore_errors=True)
    prepared.mkdir(parents=True)
    if subject.prepared is None:
        return
    trial = Trial(subject, Reference({}, 0.0, 0, prepared), state, random.Random(), processes)
    trial.set_up()
    trial.wait_for(trial.start(command=subject.prepared), *DONE)
    Timeouts().wait_until_empty(processes)
    (played,) = (trial.place / PREPARED).glob("*/*")
    played.rename(trial.results / "run")
    shutil.copytree(trial.results, prepared, dirs_exist_ok=True)
    trial.tear_down()


def measure_reference(name: str, state: Path, processes: Processes, prepared: Path) -> Reference:
    """Run a subject once without a disturbance and return the reference."""
    subject = SUBJECTS[name]
    trial = Trial(subject, Reference({}, 0.0, 0, prepared), state, random.Random(), processes)
    trial.set_up()
    trial.wait_for(trial.start(), *DONE)
    Timeouts().wait_until_empty(processes)
    found, seconds = products(trial.results, subject), sum(processes.seconds.values())
    trial.tear_down()
    if not found:
        raise Outcome(Verdict.DIFFERS, f"{name}: no file matches {subject.products}")
    size = sum(path.stat().st_size for path in trial.results.rglob("*") if path.is_file())
    return Reference(found, seconds, size // 1024, prepared)
