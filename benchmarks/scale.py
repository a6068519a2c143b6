"""Make the absolute scale of a game: python -m benchmarks.scale "kalah(6,4)".

Each anchor plays its neighbours, and all results are rated together. The command writes the scale
into the package, checks it, and writes docs/evidence/scale.md from all scales. Games are stored, so
the same command continues; --page only checks the scales again and writes the page.
"""

import argparse
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from arena.analysis.move_losses.judge import JudgeSettings, judge_run
from arena.analysis.move_losses.losses import agent_losses
from arena.analysis.move_losses.run_lines import load_run_lines
from arena.config.experiment import (
    AgentLike,
    agent_name,
    agent_spec,
    build_experiment,
    match_tables,
)
from arena.config.toml_file import source_from_tables
from arena.planning.games import WIN, Games
from arena.planning.plan import OpeningsSpec, Plan
from arena.planning.scale import Scale, moves_digest, scale_files, scale_path
from arena.planning.schedule import make_schedule
from arena.planning.schedules.scale import WIDTH
from arena.playing.match import play_match
from arena.playing.options import Interrupts, PlayOptions
from arena.playing.play import play_schedule
from arena.stats.elo import score_from_elo
from arena.stats.estimate import Estimate
from arena.stats.placement import Anchors, half_width, next_anchor, next_pairs, placement
from arena.stats.rating_data import rating_data
from arena.stats.ratings import RatingPlan, rate
from arena.storage.journal import RunDirectory
from games import game
from games.base.files import write_text
from pitflip import __version__, run

PAGE = Path(__file__).parents[1] / "docs" / "evidence" / "scale.md"
SIMULATED, MOST_PAIRS = 300, 200
JUDGED_PAIRS = 20  # of two neighbours, for their move losses
OPENINGS = {"random_plies": 6}
# Shares of the way to the strongest anchor, and the dispersion: weak agents play independent games.
TRUE_STRENGTHS = ((0.02, 0.5), (0.3, 0.45), (0.6, 0.4), (0.75, 0.35), (0.98, 0.2))
NEIGHBOURS = 2  # on each side
DRAWS, SEED = 500, 2026
# The anchors of each scale and the pairs of their matches: of the slower of two agents.
# The anchors of each scale, the weakest first. A match has the pairs of the slower agent.
SCALES = {
    "kalah(6,4)": {
        "random": 20_000,
        "greedy:epsilon=0.75": 20_000,
        "greedy:epsilon=0.5": 20_000,
        "greedy:epsilon=0.25": 20_000,
        "greedy": 20_000,
        "minimax:depth=2": 20_000,
        "minimax:depth=3": 12_000,
        "minimax:depth=5": 6_000,
        "smart:nodes=100": 6_000,
        "smart:nodes=10000": 1_000,
    },
    "owari(6,3)": {
        "random": 18_000,
        "greedy:epsilon=0.5": 18_000,
        "greedy": 18_000,
        "minimax:depth=2,epsilon=0.17": 18_000,
        "minimax:depth=2": 12_000,
        "minimax:depth=5": 3_000,
        "smart:nodes=100,epsilon=0.12": 4_000,
        "smart:nodes=100": 4_000,
        "smart:nodes=1000": 1_500,
        "smart:nodes=10000": 500,
    },
    "othello(6)": {
        "random": 6_000,
        "greedy": 6_000,
        "minimax:depth=1,epsilon=0.35": 6_000,
        "minimax:depth=1": 6_000,
        "minimax:depth=2": 6_000,
        "minimax:depth=3": 6_000,
        "smart:nodes=30": 3_000,
        "smart:nodes=150": 3_000,
        "smart:nodes=800": 1_500,
        "smart:nodes=30000": 500,
    },
}


class Match(NamedTuple):
    """The games of two anchors, by their places."""

    weaker: int
    stronger: int
    games: Games


def match_plan(name: str, agents: Sequence[str], pairs: int, number: int) -> Plan:
    """Return the plan of one match; each match has its own openings."""
    return Plan(
        game_name=name,
        agents={agent_name(agent): agent_spec(agent) for agent in agents},
        matches=((0, 1),),
        openings=OpeningsSpec("random", OPENINGS),
        pairs=pairs,
        seed=SEED + number,
        keep_moves=False,
    )


def neighbours(agents: int) -> Iterator[tuple[int, int]]:
    """Yield the places of two anchors that meet, the weaker one first."""
    for one in range(agents):
        for other in range(one + 1, min(one + NEIGHBOURS + 1, agents)):
            yield one, other


def play_neighbours(name: str, directory: Path, options: PlayOptions) -> Iterator[Match]:
    """Play the matches of all neighbours."""
    pairs = SCALES[name]
    agents = list(pairs)
    for number, (one, other) in enumerate(neighbours(len(agents))):
        both = agents[one], agents[other]
        plan = match_plan(name, both, min(pairs[each] for each in both), number)
        begun = time.monotonic()
        with RunDirectory(directory / plan.digest()[:10], plan.digest()) as place:
            result = play_match(plan, place.section(), options)
        score = 25.0 * result.pair_points.mean()
        seconds = time.monotonic() - begun
        print(
            f"{both[0]} against {both[1]}: {score:.1f} %, {plan.pairs:,} pairs, {seconds:.0f} s",
            flush=True,
        )
        yield Match(one, other, result.games)


def rate_anchors(matches: Iterable[Match], agents: int) -> Anchors:
    """Rate all anchors from the first one, with the covariance of their errors."""
    first, second, scores, openings = [], [], [], []
    for number, (one, other, found) in enumerate(matches):
        places = np.array([one, other])
        first.append(places[found.first])
        second.append(places[found.second])
        scores.append(found.result / float(WIN))
        openings.append(number * 1_000_000 + found.opening.astype(np.int64))
    data = rating_data(*map(np.concatenate, (first, second, scores, openings)), agents)
    (group,) = rate(data, RatingPlan(draws=DRAWS, seed=SEED, first_move=False)).groups
    assert group.replicates is not None
    samples = group.replicates.ratings - group.replicates.ratings[:, :1]
    elo = group.fit.ratings[0] - group.fit.ratings[0, 0]
    return Anchors(elo.round(1), np.cov(samples.T).round(2))


def move_losses(name: str, directory: Path, options: PlayOptions) -> dict[str, float]:
    """Return the mean move loss of each anchor near the end of its games against neighbours."""
    agents = {agent_name(text): agent_spec(text).to_json() for text in SCALES[name]}
    names = list(agents)
    tables = {
        "name": "losses",
        "game": name,
        "pairs": JUDGED_PAIRS,
        "schedule": {"match": [[names[a], names[b]] for a, b in neighbours(len(names))]},
        "agents": agents,
    }
    played = run(tables, results=directory, workers=options.workers, progress=False)
    judged = agent_losses(judge_run(load_run_lines(played.directory), JudgeSettings(), options))
    return {each.agent: each.total("loss") / each.total("judged") for each in judged}


def make_scale(name: str, directory: Path, options: PlayOptions) -> None:
    """Measure the scale of a game and write it into the package."""
    agents, rules = list(SCALES[name]), game(name)
    anchors = rate_anchors(play_neighbours(name, directory, options), len(agents))
    losses = move_losses(name, directory, options)
    specs = {agent_name(text): agent_spec(text) for text in agents}
    scale = Scale(
        name,
        OPENINGS,
        specs,
        tuple(anchors.elo.tolist()),
        tuple(map(tuple, anchors.covariance.tolist())),
        tuple(moves_digest(spec, rules) for spec in specs.values()),
        tuple(round(losses[each], 3) for each in specs),
        f'python -m benchmarks.scale "{name}"',
        __version__,
    )
    scale_path(rules).parent.mkdir(exist_ok=True)
    write_text(scale_path(rules), json.dumps(scale.to_json(), indent=1) + "\n")


# ------------------------------------------------------------------------- checks


class Simulation(NamedTuple):
    """Simulated placements at one true rating."""

    true: float
    dispersion: float
    covers: float
    width: float  # the median half-width
    narrow: float  # the share with at most WIDTH
    pairs: float


def simulate(anchors: Anchors, true: float, dispersion: float, runs: int, seed: int) -> Simulation:
    """Place an agent of known strength by random pair scores with this dispersion.

    The true ratings of the anchors vary around the stored ones by their errors.
    """
    rng = np.random.default_rng((SEED, seed))
    covers, widths, pairs = 0, [], 0
    for _ in range(runs):
        elo = rng.multivariate_normal(anchors.elo, anchors.covariance)
        counts = np.zeros((len(elo), 5), np.int64)
        found = placement(anchors, counts)
        while (size := next_pairs(counts, MOST_PAIRS, WIDTH, found)) > 0:
            at = next_anchor(anchors, counts, size)
            chance = score_from_elo(true - float(elo[at]))
            counts[at] += pair_counts(chance, dispersion, size, rng)
            found = placement(anchors, counts)
        low = -np.inf if found.low is None else found.low
        high = np.inf if found.high is None else found.high
        covers += low <= true <= high
        widths.append(half_width(found) or np.inf)
        pairs += int(counts.sum())
    narrow = float(np.mean(np.array(widths) <= WIDTH + 0.5))
    return Simulation(
        true, dispersion, covers / runs, float(np.median(widths)), narrow, pairs / runs
    )


def pair_counts(
    chance: float, dispersion: float, size: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw pairs by score: two independent games, or one win for each side.

    Openings that decide both games for one side lower the variance of a pair from half that of a
    game to `dispersion` times it.
    """
    split = max(0.0, 1.0 - 2.0 * dispersion) * 4.0 * chance * (1.0 - chance)
    share = 0.0 if split == 0.0 else min(split, 2.0 * min(chance, 1.0 - chance))
    # The other pairs keep the mean score.
    rest = 0.5 if share == 1.0 else (chance - 0.5 * share) / (1.0 - share)
    games = rng.random((2, size)) < rest
    scores = np.where(rng.random(size) < share, 2, 2 * games.sum(axis=0))
    return np.bincount(scores, minlength=5)


class Placed(NamedTuple):
    """The rating of an agent by real games."""

    rating: Estimate
    pairs: int

    @property
    def text(self) -> str:
        """The rating with its interval."""
        return f"{self.rating.value:,.0f} [{self.rating.low:,.0f}, {self.rating.high:,.0f}]"

    def covers(self, elo: float) -> bool:
        """Return whether the interval contains a rating."""
        assert self.rating.low is not None
        assert self.rating.high is not None
        return self.rating.low <= elo <= self.rating.high


def place_agent(scale: Scale, agent: AgentLike, directory: Path, options: PlayOptions) -> Placed:
    """Place an agent by real games."""
    tables = match_tables(agent, "scale", scale.game, {"seed": SEED + 1})
    plan = build_experiment(*source_from_tables(tables)).plan
    with RunDirectory(directory / plan.digest()[:10], plan.digest()) as place:
        played = play_schedule(make_schedule(plan), place.section(), options)
    assert played.tournament is not None
    found = played.tournament.rows[0].elo
    assert found is not None
    return Placed(found, played.schedule.pairs.total)


# ------------------------------------------------------------------------- page

HEAD = """\
# How strong is `smart`, in units others know?

An Elo rating means nothing without the agents that it is relative to. Each scale below is a fixed
ladder of anchors from `random`, which has 0 Elo. `pitflip match my_bot.py scale` rates any agent on
it: [Rate a bot on the scale](../how-to/place-on-the-scale.md) shows how.

`python -m benchmarks.scale GAME` makes a scale and this page.
"""
SCALE_TEXT = """
## {game}

Each anchor played the next {near} anchors on each side, in pairs from openings of {plies} random
plies. All results were rated together (Bradley-Terry). *Error* is the standard error of the rating,
from {draws} bootstrap draws of the openings. *Step* is the difference to the anchor before. *Move
loss* is the mean loss against perfect play near the end of the game, where positions are solved.

| anchor | Elo | error | step | move loss |
|---|---|---|---|---|
"""
TOP_TEXT = """
**`smart` as shipped (20,000 nodes a move) is placed at {smart} Elo.**

The strongest anchor is a large budget of `smart`, because `perfect` is too slow for thousands of
games. The scale was made with version {version}.
"""
SIMULATION_TEXT = """
**Simulated placements**, {runs} in each row, of an agent whose true rating is known. *Dispersion*
is the variance of the score of a pair, in units of that of a game: 0.5 for two independent games,
less if openings decide both games of a pair. *Reached* is the share of intervals with at most
±{width:.0f} Elo. No method reaches ±{width:.0f} Elo with 200 pairs of independent games without
draws: the standard error of 400 such games is at least 17.4 Elo, an interval of ±34 Elo.

| true Elo | dispersion | covers | median half-width | reached | mean pairs |
|---|---|---|---|---|---|
"""
REAL_TEXT = """
**Real placements**: each anchor was placed on the scale without it.

| anchor | rating | placed at | covers | pairs |
|---|---|---|---|---|
"""


def scale_lines(scale: Scale, directory: Path, options: PlayOptions, runs: int) -> Iterator[str]:
    """Yield the parts of the page about a scale."""
    errors, plies = np.sqrt(np.diag(scale.covariance)), scale.openings["random_plies"]
    yield SCALE_TEXT.format(game=scale.game, near=NEIGHBOURS, plies=plies, draws=DRAWS)
    for at, name in enumerate(scale.anchors):
        elo, step = scale.elo[at], f"{scale.elo[at] - scale.elo[at - 1]:.0f}" if at else ""
        yield f"| {name} | {elo:,.0f} | {errors[at]:.1f} | {step} | {scale.losses[at]:.2f} |\n"
    smart = place_agent(scale, "smart", directory, options)
    yield TOP_TEXT.format(smart=smart.text, version=scale.version)
    yield SIMULATION_TEXT.format(runs=runs, width=WIDTH)
    anchors = Anchors(np.array(scale.elo), np.array(scale.covariance))
    covers = 0.0
    for number, (share, dispersion) in enumerate(TRUE_STRENGTHS):
        true = float(round(share * anchors.elo[-1]))
        row = simulate(anchors, true, dispersion, runs, number)
        covers += 100 * row.covers / len(TRUE_STRENGTHS)
        yield (
            f"| {row.true:,.0f} | {dispersion} | {100 * row.covers:.1f} % | {row.width:.0f} | "
            f"{100 * row.narrow:.0f} % | {row.pairs:.0f} |\n"
        )
    yield f"\nAll rows together cover the truth in {covers:.1f} %.\n"
    yield REAL_TEXT
    real = 0
    inner = list(zip(scale.anchors.items(), scale.elo, strict=True))[1:-1]
    for (name, spec), elo in inner:  # beyond its ends a scale extrapolates
        placed = place_agent(scale, spec.to_json(), directory, options)
        real += placed.covers(elo)
        covers = "yes" if placed.covers(elo) else "no"
        yield f"| {name} | {elo:,.0f} | {placed.text} | {covers} | {placed.pairs} |\n"
    yield f"\n{real} of {len(inner)} intervals contain the rating.\n"


def write_page(directory: Path, options: PlayOptions, runs: int) -> None:
    """Check all scales and write the page."""
    parts = [HEAD]
    for path in scale_files():
        scale = Scale.from_json(json.loads(path.read_text()))
        parts += scale_lines(scale, directory, options, runs)
    write_text(PAGE, "".join(parts))


def main() -> None:
    """Make the scale of a game, or only write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game", nargs="?", choices=SCALES)
    parser.add_argument("--page", action="store_true", help="check the scales and write the page")
    parser.add_argument("--dir", type=Path, default=Path("results/scale"), help="for the games")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--runs", type=int, default=SIMULATED, help="of each simulation")
    arguments = parser.parse_args()
    options = PlayOptions(arguments.workers, Interrupts())
    if arguments.game:
        make_scale(arguments.game, arguments.dir, options)
    if arguments.page or not arguments.game:
        write_page(arguments.dir, options, arguments.runs)


if __name__ == "__main__":
    main()
