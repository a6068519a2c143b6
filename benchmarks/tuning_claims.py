"""Run whole studies on real games and compare their claimed gains with the true ones.

python -m benchmarks.tuning_claims kalah --method spsa --studies 40

Finished studies are stored in results/tuning-claims/ and reused until the code changes.
"""

import argparse
import hashlib
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.sandbox.sandbox import Sandbox
from arena.planning.openings.openings import Openings
from arena.planning.openings.registry import make_openings
from arena.planning.tasks import Task
from arena.stats.elo import elo_from_score
from arena.storage.provenance import code_digest
from arena.tuning import budget, study
from arena.tuning.budget import StudyBudget
from arena.tuning.recommendation import recommend
from arena.tuning.samplers.registry import SAMPLERS, sampler_entry
from arena.tuning.space import Point
from arena.tuning.study_config import StudyConfig, load_study
from arena.tuning.trial_games import TrialGames, TrialQueue, TrialTask, decode_trial, trial_games
from arena.tuning.trials import Trial
from arena.tuning.validation import ScoreInterval, score_interval
from games.base.files import open_append

TRUTH_PAIRS, TRUTH_SEED = 20_000, 888_002
GAMES = ("kalah", "owari", "othello")
DIRECTORY = Path("results/tuning-claims")


Places = NDArray[np.int64]
Points = NDArray[np.float64]


class StudyRow(NamedTuple):
    """One study: the true score of its recommendation, and the interval that it claimed."""

    truth: float  # score
    claim: ScoreInterval

    @property
    def covers_truth(self) -> bool:
        """Return whether the interval of the claim contains the true score."""
        return self.claim.low <= self.truth <= self.claim.high


class Truth(NamedTuple):
    """Many sets of openings drawn like those of a claim; each is played once and weighted."""

    openings: Openings
    times: NDArray[np.int64]


def tuning_of(game: str, method: str, seed: int, trials: int, games: int) -> StudyConfig:
    """Return the shipped study at depth 2."""
    text = Path(f"experiments/tune_{game}.toml").read_text()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "study.toml"
        path.write_text(re.sub(r"(?m)^nodes = .*", "depth = 2", text))
        changes = [f"tune.method={method}", f"seed={seed}"]
        return load_study(path, [*changes, f"tune.trials={trials}", f"tune.games={games}"])


def run_search(
    tuning: StudyConfig, plan: StudyBudget, openings: Openings
) -> tuple[list[Trial], Point | None]:
    """Play all trials in this process; return them and the final point of a walk."""
    games = games_on(tuning, plan, openings, plan.total)
    search = study.open_search(tuning, plan)
    queue = TrialQueue(games, search, plan.trials, 1, [], study.window_of(tuning))
    trials, parts = list[Trial](), list[bytes]()
    for part in queue:
        parts.append(games.worker.play(part).games)
        if part.last:
            trials.append(queue.finish(part.trial, decode_trial(games, part.trial, parts), 0.0))
            parts = []
    return trials, search.walk.point if search.walk else None


def recommended_point(tuning: StudyConfig, trials: list[Trial], arrived: Point | None) -> Point:
    """Return the point with the highest posterior, or the final point of a walk."""
    if arrived is not None:
        return tuning.space.round_point(arrived)
    seed_point = tuning.space.point(tuning.seed_values)
    return recommend(tuning.space, seed_point, trials, tuning.plan.seed)[0].best_point


def games_on(tuning: StudyConfig, plan: StudyBudget, openings: Openings, slots: int) -> TrialGames:
    """Return the trial games on these openings."""
    opponents, method = budget.trial_opponents(tuning, plan.games), tuning.method
    return trial_games(
        tuning.plan, tuning.spec, tuning.space, opponents, openings, slots,
        sampler_entry(method).step, Sandbox(False),
    )  # fmt: skip


def pair_scores(games: TrialGames, point: Point, pairs: int) -> tuple[Places, Points]:
    """Return the openings and the scores of `pairs` pairs of a point."""
    part = TrialTask(0, 0, Task(0, pairs, {}), games.space.changes(point), True)
    played = decode_trial(games, 0, [games.worker.play(part).games])
    points = (played.result[0::2] + (2 - played.result[1::2])) / 4.0
    return played.opening[0::2], points


def truth_openings(tuning: StudyConfig, pairs: int) -> Truth:
    """Draw sets of `pairs` openings until they hold TRUTH_PAIRS distinct positions.

    One large set has another distribution: all of the few short lines, and then only long ones.
    """
    of, spec, sets = tuning.plan.game, tuning.plan.openings, list[Openings]()
    known = set[int]()
    while len(known) < TRUTH_PAIRS:
        sets.append(make_openings(of, spec, pairs, TRUTH_SEED + len(sets)))
        known.update(sets[-1].keys.tolist())
    slots = np.concatenate([each.slots for each in sets])
    keys = np.concatenate([each.keys for each in sets])
    _, first, times = np.unique(keys, return_index=True, return_counts=True)
    return Truth(Openings(slots[first], keys[first], finite=False), times)


def true_score(tuning: StudyConfig, plan: StudyBudget, point: Point, truth: Truth) -> float:
    """Return the score of a point over the distribution that its claim is drawn from."""
    pairs = len(truth.openings)
    games = games_on(tuning, plan._replace(games=2 * pairs), truth.openings, 1)
    openings, points = pair_scores(games, point, pairs)
    return float(np.average(points, weights=truth.times[openings]))


def run_study(tuning: StudyConfig, truth: Truth) -> StudyRow:
    """Run a whole study: its search, its claim, and the true score."""
    plan = budget.budget_from_file(tuning)
    for_trials, held_out = budget.divide_openings(tuning, plan)
    best = recommended_point(tuning, *run_search(tuning, plan, for_trials))
    claimed = plan.claim_pairs
    claim = games_on(tuning, plan._replace(games=2 * claimed), held_out, 1)
    score = score_interval(*pair_scores(claim, best, claimed))
    return StudyRow(true_score(tuning, plan, best, truth), score)


def row_text(game: str, method: str, rows: list[StudyRow]) -> str:
    """Return the row of the table in docs/evidence/tuning.md."""
    count = len(rows)
    elo = np.array([elo_from_score(row.truth) for row in rows])
    bias = 100 * np.array([row.claim.value - row.truth for row in rows])
    wide = 50 * np.mean([row.claim.high - row.claim.low for row in rows])
    errors = [each.std(ddof=1) / count**0.5 for each in (elo, bias)]
    return (
        f"| {game} | {method} | {count} | {elo.mean():.1f} ± {errors[0]:.1f} | {elo.min():.0f} | "
        f"{bias.mean():+.2f} ± {errors[1]:.2f} | {np.mean([r.covers_truth for r in rows]):.0%} | "
        f"{wide:.1f} |"
    )


def sources() -> str:
    """Return a digest of the code that affects the rows: games, agents, tuner, this file."""
    root = Path(__file__).parents[1]
    paths = [*sorted((root / "arena" / "tuning").rglob("*.py")), Path(__file__)]
    content = b"".join(path.read_bytes() for path in paths)
    return hashlib.blake2b(content + code_digest().encode(), digest_size=5).hexdigest()


def load_studies(path: Path) -> dict[int, StudyRow]:
    """Return the stored studies by their seeds."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {
        seed: StudyRow(truth, ScoreInterval(*claim))
        for seed, truth, claim in map(json.loads, lines)
    }


def main(words: list[str] | None = None) -> int:
    """Print the row after each study; the last line is the row of all studies."""
    parser = argparse.ArgumentParser(prog="benchmarks.tuning_claims", description=__doc__)
    parser.add_argument("game", choices=GAMES)
    parser.add_argument("--method", choices=tuple(SAMPLERS), default="spsa")
    for name, default in (("studies", 40), ("trials", 60), ("games", 200)):
        parser.add_argument(f"--{name}", type=int, default=default)
    chosen = parser.parse_args(words)
    game, method, size = chosen.game, chosen.method, (chosen.trials, chosen.games)
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    path = DIRECTORY / f"{game}-{method}-{size[0]}x{size[1]}-{sources()}.jsonl"
    rows = load_studies(path)
    first = tuning_of(game, method, 1, *size)
    truth = truth_openings(first, budget.budget_from_file(first).claim_pairs)
    for seed in range(1, max(chosen.studies, 2) + 1):
        if seed not in rows:
            rows[seed] = run_study(tuning_of(game, method, seed, *size), truth)
            with open_append(path) as file:
                print(json.dumps([seed, *rows[seed]]), file=file)
        if seed > 1:
            print(row_text(game, method, [rows[each] for each in range(1, seed + 1)]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
