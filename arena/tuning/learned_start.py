"""Where a search begins that does not begin at the seed weights: features fitted to games."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from agents.core import Weights
from arena.config.command_line import RunOptions
from arena.learning.config import FEATURES, Learning, match_table, tables_part, usual_plies
from arena.learning.round_fit import RoundFit, sample_of
from arena.learning.round_games import round_games
from arena.tuning.space import WEIGHTS, Value, values_text
from arena.tuning.study_config import Tuning
from games.base.errors import say

GAMES = 1000
NODES = 100  # a better teacher's games are worth more, but not what they cost
FITTED = "fit"
LEARNED = "learned"


def with_start(tuning: Tuning, options: RunOptions, directory: Path, digest: str) -> Tuning:
    """The study with the point where it begins, if that is to be learned."""
    if tuning.start != LEARNED and tuning.method != FITTED:
        return tuning
    learned = fitted(tuning, options, directory, digest)
    values = within(tuning, learned)
    if not options.quiet:
        said = values_text(values)
        say(f"the search begins at weights fitted to {GAMES:,} games: {said}")
    return replace(tuning, start_values=values)


def fitted(tuning: Tuning, options: RunOptions, directory: Path, digest: str) -> Weights:
    """The weights of all features that explain the margins of the agent's own games best."""
    of, part = tuning.plan.of, tables_part(tuning.plan.of)
    teacher = tuning.spec.changed(nodes=NODES, depth=None, seconds=None)
    shares = getattr(part, "OPENING_SHARES", None)
    learning = Learning(
        experiment=tuning.experiment,
        teacher=tuning.agent,
        agent=tuning.agent,
        tables=FEATURES,
        patterns={},
        phases=1,
        games=(GAMES,),
        sources=(),
        ridges=(1.0,),
        held_out=0.1,
        opening_plies=usual_plies(of, shares) if shares else (4, 16),
        solve_from=getattr(part, "SOLVE_FROM", -1),
        curve=False,
        match=match_table(None),
    )
    playing = options.playing
    games = round_games(learning, teacher, 1, directory / "start", digest, playing, shown_nowhere)
    found = RoundFit(learning, sample_of(learning, games), options.at_once)
    return found.features().by_name


def shown_nowhere(_done: int, _total: int) -> None:
    """A second of games needs no line."""


def within(tuning: Tuning, learned: Weights) -> Mapping[str, Value]:
    """The fitted weights on the scale of the study's fixed ones, cut to their ranges."""
    scale = scale_of(tuning, learned)
    fitted = {
        axis.name: float(
            np.clip(scale * learned.get(axis.place[1], (0.0,))[0], axis.low, axis.high)
        )
        for axis in tuning.space.axes
        if axis.place[0] == WEIGHTS
    }
    return {**tuning.seed_values, **fitted}


def scale_of(tuning: Tuning, learned: Weights) -> float:
    """What brings a fixed weight to its number; without one, the mean size to that of the seed."""
    for name, values in tuning.space.fixed.items():
        own = learned.get(name, (0.0,))[0]
        if values[0] and own and (values[0] > 0) == (own > 0):
            return values[0] / own
    axes = [axis for axis in tuning.space.axes if axis.place[0] == WEIGHTS]
    seed = [abs(float(tuning.seed_values[axis.name])) for axis in axes]
    size = [abs(learned.get(axis.place[1], (0.0,))[0]) for axis in axes]
    return sum(seed) / sum(size) if sum(size) and sum(seed) else 1.0
