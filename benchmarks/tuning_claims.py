"""Whole studies on real games: their true gain, and their claims against many other games.

python -m benchmarks.tuning_claims kalah --method spsa --studies 40

Every finished study is kept in results/tuning-claims/ and not played again by the same code.
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
from arena.tuning.samplers.registry import SAMPLERS, final_point
from arena.tuning.space import Point
from arena.tuning.study_config import StudyConfig, load_study
from arena.tuning.trial_games import TrialGames, TrialQueue, TrialTask, decode_trial, trial_games
from arena.tuning.trials import Trial, make_trial
from arena.tuning.validation import ScoreInterval, score_interval
from games.base.files import open_append

TRUTH_PAIRS, TRUTH_SEED = 20_000, 888_002
GAMES = ("kalah", "owari", "othello")
DIRECTORY = Path("results/tuning-claims")


Places = NDArray[np.int64]
Points = NDArray[np.float64]


class StudyRow(NamedTuple):
    """One study: the truth about its recommendation, and what it claimed."""

    truth: float  # score
    claim: ScoreInterval

    @property
    def covered(self) -> bool:
        """Whether the interval of the claim holds the truth."""
        return self.claim.low <= self.truth <= self.claim.high


class Truth(NamedTuple):
    """Openings drawn as those of a claim, again and again; each is played once and counts often."""

    openings: Openings
    times: NDArray[np.int64]


def tuning_of(game: str, method: str, seed: int, trials: int, games: int) -> StudyConfig:
    """The shipped study at depth 2."""
    text = Path(f"experiments/tune_{game}.toml").read_text()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "study.toml"
        path.write_text(re.sub(r"(?m)^nodes = .*", "depth = 2", text))
        changes = [f"tune.method={method}", f"seed={seed}"]
        return load_study(path, [*changes, f"tune.trials={trials}", f"tune.games={games}"])


def run_search(
    tuning: StudyConfig, plan: StudyBudget, openings: Openings
) -> tuple[list[Trial], Point | None]:
    """Play all trials in this process; where a walk has arrived."""
    games = games_on(tuning, plan, openings, plan.total)
    sampler = study.sampler_of(tuning, plan)
    queue = TrialQueue(games, sampler, plan.trials, 1, [], study.window_of(tuning))
    trials, parts = list[Trial](), list[bytes]()
    for part in queue:
        parts.append(games.player.play(part).games)
        if part.last:
            found = decode_trial(games, part.slot, parts)
            trials.append(make_trial(part.slot, queue.points[part.slot], found, 0.0))
            queue.tell(trials[-1])
            parts = []
    return trials, final_point(sampler)


def recommended(tuning: StudyConfig, trials: list[Trial], arrived: Point | None) -> Point:
    """The point with the highest posterior, or that of the walk, which needs no fit."""
    if arrived is not None:
        return tuning.space.snapped(arrived)
    seed_point = tuning.space.point(tuning.seed_values)
    return recommend(tuning.space, seed_point, trials, tuning.plan.seed)[0].best_point


def games_on(tuning: StudyConfig, plan: StudyBudget, openings: Openings, slots: int) -> TrialGames:
    """Trials on these openings."""
    opponents, method = budget.opponents_of(tuning, plan.games), tuning.method
    return trial_games(
        tuning.plan, tuning.spec, tuning.space, opponents, openings, slots,
        study.trials_per_step(method), Sandbox(False),
    )  # fmt: skip


def pair_scores(games: TrialGames, point: Point, pairs: int) -> tuple[Places, Points]:
    """The openings and the scores of so many pairings of a point."""
    part = TrialTask(0, 0, Task(0, pairs, {}), games.space.changes(point), True)
    played = decode_trial(games, 0, [games.player.play(part).games])
    points = (played.result[0::2] + (2 - played.result[1::2])) / 4.0
    return played.opening[0::2], points


def truth_openings(tuning: StudyConfig, pairs: int) -> Truth:
    """Sets of so many openings as a claim has, drawn anew until they hold TRUTH_PAIRS positions.

    One large set is of another law: it has all of the few short lines, and then only long ones.
    """
    of, spec, sets = tuning.plan.of, tuning.plan.openings, list[Openings]()
    known = set[int]()
    while len(known) < TRUTH_PAIRS:
        sets.append(make_openings(of, spec, pairs, TRUTH_SEED + len(sets)))
        known.update(sets[-1].keys.tolist())
    slots = np.concatenate([each.slots for each in sets])
    keys = np.concatenate([each.keys for each in sets])
    _, first, times = np.unique(keys, return_index=True, return_counts=True)
    return Truth(Openings(slots[first], keys[first], finite=False), times)


def true_score(tuning: StudyConfig, plan: StudyBudget, point: Point, truth: Truth) -> float:
    """The score of a point over the law that its claim is drawn from."""
    pairs = len(truth.openings)
    games = games_on(tuning, plan._replace(games=2 * pairs), truth.openings, 1)
    openings, points = pair_scores(games, point, pairs)
    return float(np.average(points, weights=truth.times[openings]))


def studied(tuning: StudyConfig, truth: Truth) -> StudyRow:
    """A whole study: its search, its claim, and the truth."""
    plan = budget.budget_from_file(tuning)
    for_trials, held_out = budget.split_openings(tuning, plan)
    best = recommended(tuning, *run_search(tuning, plan, for_trials))
    claimed = plan.claim_pairs
    claim = games_on(tuning, plan._replace(games=2 * claimed), held_out, 1)
    score = score_interval(*pair_scores(claim, best, claimed))
    return StudyRow(true_score(tuning, plan, best, truth), score)


def row_text(game: str, method: str, rows: list[StudyRow]) -> str:
    """The row of the table in docs/tuning.md."""
    count = len(rows)
    elo = np.array([elo_from_score(row.truth) for row in rows])
    bias = 100 * np.array([row.claim.value - row.truth for row in rows])
    wide = 50 * np.mean([row.claim.high - row.claim.low for row in rows])
    errors = [each.std(ddof=1) / count**0.5 for each in (elo, bias)]
    return (
        f"| {game} | {method} | {count} | {elo.mean():.1f} ± {errors[0]:.1f} | {elo.min():.0f} | "
        f"{bias.mean():+.2f} ± {errors[1]:.2f} | {np.mean([r.covered for r in rows]):.0%} | "
        f"{wide:.1f} |"
    )


def sources() -> str:
    """A digest of what decides the rows: games, agents, the tuner, this file."""
    root = Path(__file__).parents[1]
    paths = [*sorted((root / "arena" / "tuning").rglob("*.py")), Path(__file__)]
    content = b"".join(path.read_bytes() for path in paths)
    return hashlib.blake2b(content + code_digest().encode(), digest_size=5).hexdigest()


def stored(path: Path) -> dict[int, StudyRow]:
    """The studies that are finished, by their seeds."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {
        seed: StudyRow(truth, ScoreInterval(*claim))
        for seed, truth, claim in map(json.loads, lines)
    }


def main(words: list[str] | None = None) -> int:
    """Print a row as the studies come in; the last line is the row of all."""
    parser = argparse.ArgumentParser(prog="benchmarks.tuning_claims", description=__doc__)
    parser.add_argument("game", choices=GAMES)
    parser.add_argument("--method", choices=tuple(SAMPLERS), default="spsa")
    for name, default in (("studies", 40), ("trials", 60), ("games", 200)):
        parser.add_argument(f"--{name}", type=int, default=default)
    chosen = parser.parse_args(words)
    game, method, size = chosen.game, chosen.method, (chosen.trials, chosen.games)
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    path = DIRECTORY / f"{game}-{method}-{size[0]}x{size[1]}-{sources()}.jsonl"
    rows = stored(path)
    first = tuning_of(game, method, 1, *size)
    truth = truth_openings(first, budget.budget_from_file(first).claim_pairs)
    for seed in range(1, max(chosen.studies, 2) + 1):
        if seed not in rows:
            rows[seed] = studied(tuning_of(game, method, seed, *size), truth)
            with open_append(path) as file:
                print(json.dumps([seed, *rows[seed]]), file=file)
        if seed > 1:
            print(row_text(game, method, [rows[each] for each in range(1, seed + 1)]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
