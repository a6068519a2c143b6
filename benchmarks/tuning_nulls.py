"""Studies in which nothing can be gained: how often does each method say "better"?

python -m benchmarks.tuning_nulls spsa --seeds 100

All moves are random, so every weight is as good as any other, and every trial has its noise.
"""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from arena.playing.options import Interrupts, PlayOptions
from arena.tuning import budget
from arena.tuning.recommendation import recommend
from arena.tuning.samplers.registry import SAMPLERS
from arena.tuning.study_config import load_study
from arena.tuning.validation import Shown, StudyVerdict, validate
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
    """The verdict of one study, all of it in this process but the last match."""
    path = directory / "null.toml"
    path.write_text(STUDY)
    tuning = load_study(path, [f"tune.method={method}", f"seed={seed}"])
    plan = budget.budget_from_file(tuning)
    for_trials, held_out = budget.split_openings(tuning, plan)
    trials, arrived = run_search(tuning, plan, for_trials)
    seed_point = tuning.space.point(tuning.seed_values)
    best, _ = recommend(tuning.space, seed_point, trials, seed, arrived)
    if best.flat:
        return StudyVerdict.FLAT
    shown = Shown(directory, PlayOptions(1, Interrupts()), lambda _: None)
    changes, claimed = tuning.space.changes(best.point), min(plan.claim_pairs, len(held_out))
    return validate(tuning, changes, held_out, claimed, shown).verdict


def main(words: list[str] | None = None) -> int:
    """Print a row; the status is 1 if a study said "better"."""
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
