"""What the recommended weights gain on other terms: at fixed opening lengths, at equal time."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from agents import AgentSpec
from agents.core import Settings
from agents.wall.wall import Wall
from arena.keeping.journal import Journal
from arena.planning.drawing import draw
from arena.planning.openings import NO_MOVE, Openings, way
from arena.planning.openings_spec import OpeningsSpec
from arena.planning.pairing_seeds import digest_word
from arena.planning.records import pair_points
from arena.playing.tournament import play
from arena.stats.words import signed
from arena.tuning.claim import Score, elo_within, scored
from arena.tuning.equal_time import by_nodes, share_of_nodes
from arena.tuning.trial_games import between
from arena.tuning.tune_file import Tuning
from arena.tuning.tune_table import TIME
from arena.tuning.validation import SEED, TUNED, Shown, TermGain, in_order, match_of

LENGTHS = (4, 6, 9)  # plies

Points = NDArray[np.float64]


def gains_on_other_terms(
    tuning: Tuning, changes: Settings, openings: Openings, pairs: int, shown: Shown
) -> list[TermGain]:
    """The gain at each length and at equal time (or nodes), of so many pairings each."""
    if not pairs:
        return []
    gains = at_lengths(tuning, changes, pairs, shown)
    if by_nodes(tuning.spec, tuning.plan.of):
        # Those of the claim: then the difference is not that of the openings.
        gains.append(at_other_cost(tuning, changes, between(openings, 0, pairs), shown))
    return gains


def at_lengths(tuning: Tuning, changes: Settings, pairs: int, shown: Shown) -> list[TermGain]:
    """The gain from openings of each length, all in one match."""
    of, word = tuning.plan.of, int(digest_word("lengths", tuning.plan.seed)) >> 1
    several = {
        plies: way("random").openings(
            of, OpeningsSpec("random", {"random_plies": plies}), pairs, word
        )
        for plies in LENGTHS
    }
    several = {plies: each for plies, each in several.items() if len(each)}
    if not several:
        return []
    ends = np.cumsum([len(each) for each in several.values()])
    points = played(
        tuning, tuning.candidate.changed(**changes), together(list(several.values())), shown
    )
    parts = np.split(points, ends[:-1])
    return [gain_of(f"{plies} plies", part) for plies, part in zip(several, parts, strict=True)]


def together(several: Sequence[Openings]) -> Openings:
    """All openings in one table."""
    widest = max(each.slots.shape[1] for each in several)
    rows = [
        np.pad(e.slots, ((0, 0), (0, widest - e.slots.shape[1])), constant_values=NO_MOVE)
        for e in several
    ]
    keys = np.concatenate([each.keys for each in several])
    return Openings(np.concatenate(rows), keys, finite=False)


def at_other_cost(tuning: Tuning, changes: Settings, openings: Openings, shown: Shown) -> TermGain:
    """The gain at equal time, if the search had equal nodes; at equal nodes, if it had not."""
    tuned = tuning.spec.changed(**changes)
    if tuning.equal == TIME:
        return gain_of("equal nodes", played(tuning, tuned, openings, shown))
    share = share_of(tuning, tuned, openings, shown)
    slower = replace(tuning, share=share).candidate.changed(**changes)
    words = f"equal time ({share:.2f} of the nodes)"
    return gain_of(words, played(tuning, slower, openings, shown))


def share_of(tuning: Tuning, tuned: AgentSpec, openings: Openings, shown: Shown) -> float:
    """The share of nodes at equal time, measured once for a study."""
    digest = str(digest_word(in_order(tuned.to_json()), tuning.plan.seed))
    with Journal(shown.directory / f"speed-{digest}", digest) as store:
        stored = store.plan()
        if stored is None:
            of, wall = tuning.plan.of, shown.options.wall or Wall(tuning.plan.walls_required)
            share = share_of_nodes(tuned, tuning.spec, of, openings, wall)
            stored = json.dumps({"share": share})
            store.keep_plan(stored)
    return float(json.loads(stored)["share"])


def played(tuning: Tuning, tuned: AgentSpec, openings: Openings, shown: Shown) -> Points:
    """The pair scores of an agent against the seed weights."""
    plan = match_of(tuning, {}, openings).plan
    agents = {TUNED: tuned, SEED: tuning.spec}
    drawn = draw(replace(plan, agents=agents, pairs=len(openings), stop=None), openings)
    keys = digest_word(openings.keys.tobytes())
    digest = str(digest_word(in_order(tuned.to_json()), keys, plan.seed))
    with Journal(shown.directory / f"terms-{digest}", digest) as store:
        play(drawn, store, shown.options, shown.show)
        return pair_points(store.games(drawn.pairings)) / 4.0


def gain_of(terms: str, points: Points) -> TermGain:
    """The gain that these pair scores show."""
    score = scored(np.arange(len(points)), points)
    return TermGain(terms, score, Score(*map(elo_within, score)), 2 * len(points))


def gain_lines(gains: Sequence[TermGain]) -> Iterator[str]:
    """A line for each of the terms."""
    width = max((len(each.terms) for each in gains), default=0)
    for each in gains:
        elo, least, most = (signed(part) for part in each.gain_elo)
        yield f"  {each.terms:{width}}  {elo} [{least}, {most}] Elo, in {each.games:,} games"


def gains_json(gains: Sequence[TermGain]) -> list[dict[str, object]]:
    """The gains as JSON holds them."""
    return [
        {"terms": e.terms, "score": list(e.score), "gain_elo": list(e.gain_elo), "games": e.games}
        for e in gains
    ]
