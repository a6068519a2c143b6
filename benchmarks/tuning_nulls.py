"""Count how often each method reports "better" in studies without any possible gain.

python -m benchmarks.tuning_nulls spsa --seeds 100

All moves are random, so all weights are equally good and every trial is noise.
"""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from arena.playing.options import Interrupts, PlayOptions
from arena.storage.journal import RunDirectory
from arena.tuning import budget
from arena.tuning.recommendation import recommend
from arena.tuning.samplers.registry import SAMPLERS
from arena.tuning.study_config import load_study
from arena.tuning.validation import MatchRunner, StudyVerdict, validate
from benchmarks.tuning_claims import run_search

STUDY = """
game = "kalah(6,4)"
[agents.mine]
kind = "alphabeta"
depth = 1
epsilon = 1.0
weights = { pot = 1.0, in_play = 0.5 }
[tune]
agent = "mine"
games = 40
trials = 40
[tune.weights]
pot = 1.0
in_play = [-0.5, 1.0]
capture = [-0.5, 1.0]
mobility = [-1.0, 2.0]
[tune.validation]
elo1 = 30
pairs = 1000
"""


def verdict(method: str, seed: int, directory: Path) -> StudyVerdict:
    """Return the verdict of one study; only its last match runs in other processes."""
    path = directory / "null.toml"
    path.write_text(STUDY)
    tuning = load_study(path, [f"tune.method={method}", f"seed={seed}"])
    plan = budget.budget_from_file(tuning)
    for_trials, held_out = budget.divide_openings(tuning, plan)
    trials, arrived = run_search(tuning, plan, for_trials)
    seed_point = tuning.space.point(tuning.seed_values)
    best, _ = recommend(tuning.space, seed_point, trials, seed, arrived)
    if best.flat:
        return StudyVerdict.FLAT
    changes, claimed = tuning.space.changes(best.point), min(plan.claim_pairs, len(held_out))
    with RunDirectory(directory / "null", "null") as locked:
        runner = MatchRunner(locked, PlayOptions(1, Interrupts()), lambda _: None)
        return validate(tuning, changes, held_out, claimed, runner).verdict


def main(words: list[str] | None = None) -> int:
    """Print a row; return 1 if a study reported an improvement."""
    parser = argparse.ArgumentParser(prog="benchmarks.tuning_nulls", description=__doc__)
    parser.add_argument("method", choices=tuple(SAMPLERS))
    parser.add_argument("--seeds", type=int, default=100)
    chosen = parser.parse_args(words)
    found = Counter[StudyVerdict]()
    for seed in range(1, chosen.seeds + 1):
        with tempfile.TemporaryDirectory() as directory:
            found[verdict(chosen.method, seed, Path(directory))] += 1
    print(
        f"| {chosen.method} | {chosen.seeds} | "
        + " | ".join(str(found[v]) for v in StudyVerdict)
        + " |"
    )
    return 1 if found[StudyVerdict.BETTER] else 0


if __name__ == "__main__":
    sys.exit(main())
