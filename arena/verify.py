"""Play stored games again and compare: python -m arena.verify results/smart_vs_bad/1a2b3c."""

import argparse
import sys
from pathlib import Path
from typing import Any

SAMPLE = 200


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m arena.verify",
        description="Replay stored games from their seeds; moves and results must be the same.",
        epilog="exit status: 0 all the same, 1 a difference, 2 nothing to verify",
    )
    parser.add_argument("run", type=Path, help="a run's directory, results/<experiment>/<run>")
    parser.add_argument("--all", action="store_true", help=f"all pairings, not {SAMPLE} of them")
    parser.add_argument("--experiment", type=Path, help="its file, if it is not where it was")
    return parser


class NothingToVerify(Exception):  # noqa: N818  # an answer, not a fault
    """Why the directory cannot be verified; one line."""


def sampled(total: int, everything: bool) -> list[int]:
    """The pairings to play again, spread evenly over the run."""
    if everything or total <= SAMPLE:
        return list(range(total))
    return sorted({place * total // SAMPLE for place in range(SAMPLE)})


def load_experiment(directory: Path, path: Path | None, said: dict[str, Any]) -> Any:
    """The experiment that was run; refused if it is no longer the same."""
    from arena.experiment import ExperimentError, load  # noqa: PLC0415  # after --help

    source = path or Path(str(said.get("path", "")))
    try:
        experiment = load(source, said.get("overrides", []))
    except ExperimentError as error:
        raise NothingToVerify(f"the experiment cannot be read: {error}") from None
    if experiment.resolved() != said.get("resolved"):
        raise NothingToVerify(f"{source} is not the experiment of {directory} any more")
    return experiment


def difference(stored: Any, again: Any, row: int, other: int) -> str | None:
    """The first column in which two records of a game differ."""
    for name in ("game_id", "result", "margin", "plies", "termination", "seed"):
        before, now = stored.columns[name][row], again.columns[name][other]
        if before != now:
            return f"{name} was {before} and is {now}"
    return None


def verify(directory: Path, everything: bool, path: Path | None) -> tuple[int, str | None]:
    """How many games were compared, and the first difference."""
    from arena.provenance import read_run  # noqa: PLC0415  # after --help
    from arena.store import JOURNAL, Store, StoreError  # noqa: PLC0415
    from arena.tournament import prepare  # noqa: PLC0415
    from arena.worker import Task, Worker  # noqa: PLC0415

    said = read_run(directory)
    if not said or not (directory / JOURNAL).is_file():
        raise NothingToVerify(f"{directory} is not a run's directory: it has no {JOURNAL}")
    experiment = load_experiment(directory, path, said)
    try:
        with Store(directory, str(said["digest"])) as store:
            stored = store.games()
    except StoreError as error:
        raise NothingToVerify(str(error)) from None
    worker = Worker(prepare(experiment).job)
    pairings = sampled(len(stored) // 2, everything)
    for pairing in pairings:
        again = worker.play(Task(pairing, pairing + 1, {}))
        for leg in (0, 1):
            found = difference(stored, again, 2 * pairing + leg, leg)
            if found:
                return 2 * len(pairings), f"pairing {pairing}, game {leg + 1}: {found}"
    return 2 * len(pairings), None


def main(words: list[str] | None = None) -> int:
    """Run the command; its exit status is the verdict."""
    asked = arguments().parse_args(words)
    try:
        compared, found = verify(asked.run, asked.all, asked.experiment)
    except NothingToVerify as error:
        print(f"arena.verify: {error}", file=sys.stderr)
        return 2
    print(f"differs: {found}" if found else f"{compared:,} games played again: all the same")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
