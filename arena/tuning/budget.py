"""The budget of a study: games, openings, and nodes at equal time."""

import contextlib
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from agents.core import MOVE_SECONDS, Agent, AgentFailure, AgentSpec, HostSettings
from agents.create import create_agent
from agents.registry import is_search, kind_of, option_values
from agents.sandbox.sandbox import Sandbox
from agents.search.compiled_agent import choose_fast
from arena.planning.openings.openings import Openings, OpeningsError, opening_moves
from arena.planning.openings.registry import opening_method
from arena.planning.seeds import hash64
from arena.tuning.samplers.registry import sampler_entry
from arena.tuning.study_config import TRIALS_PER_WEIGHT, StudyConfig, plays_only_seed
from arena.tuning.table import LEAST_GAMES
from arena.tuning.trial_games import CANDIDATE, Opponent, select_openings
from games import Game, Position

TRIALS_SHARE, VALIDATION_SHARE = 0.6, 0.2  # of a time limit
WANTED_TRIALS = 40
SEARCH, CLAIM = 0.85, 0.15  # of all games
LEAST_CLAIM = 400  # pairs
TERM_SHARE = 4  # one pair of the other cost for this many pairs of the claim
LEAST_VALIDATION = 50  # pairs
ROUNDS = 3  # the fastest of them counts
MOST_POSITIONS = 40
LEAST_SECONDS = 0.05  # of a round: shorter ones are inaccurate


class StudyBudget(NamedTuple):
    """The trials and the pairs of a study.

    `total` trials were planned; a time limit may end the search after fewer `trials`. Tables show
    `size` trials as one. `share` is the share of the seed's nodes that a candidate has.
    """

    trials: int
    games: int
    validation_pairs: int
    total: int = 0
    size: int = 1
    share: float = 1.0

    @property
    def claim_pairs(self) -> int:
        """The pairs of the claim: 15 % of all games, but at most those of the validation."""
        share = round(self.total * self.games / 2 * CLAIM / SEARCH)
        return min(max(LEAST_CLAIM, share), self.validation_pairs)

    @property
    def term_pairs(self) -> int:
        """The pairs at equal time or at equal nodes; none if the claim is small."""
        return 0 if self.claim_pairs < LEAST_CLAIM else self.claim_pairs // TERM_SHARE

    @property
    def search_games(self) -> int:
        """The games of the search."""
        return self.total * self.games

    @property
    def bundle_counts(self) -> tuple[int, int]:
        """The number of trials and the games of each, as tables show them."""
        return self.total // self.size, self.games * self.size


class StudyGames(NamedTuple):
    """The games of the parts of a study; the test of the validation may end it early."""

    search: int
    fewest_decision: int  # of claim and validation
    most_decision: int
    other_cost: int  # at equal time or at equal nodes


def study_games(tuning: StudyConfig, plan: StudyBudget) -> StudyGames:
    """Return the numbers of games that a study plays."""
    most = 2 * plan.validation_pairs
    if not plays_only_seed(tuning):  # then both sets of weights play all pairs
        most *= 2
    equal = 2 * plan.term_pairs if is_limited_by_nodes(tuning.spec, tuning.plan.game) else 0
    return StudyGames(plan.search_games, 2 * plan.claim_pairs, most, equal)


def budget_from_file(tuning: StudyConfig) -> StudyBudget:
    """Return the budget of the file."""
    return budget_in_steps(tuning, tuning.trials, tuning.games, tuning.validation.pairs)


def budget_to_play(tuning: StudyConfig) -> StudyBudget:
    """Return the budget of the file, limited by the openings that are left for validation."""
    plan = budget_from_file(tuning)
    held_out = len(divide_openings(tuning, plan)[1])
    return plan._replace(validation_pairs=min(plan.validation_pairs, held_out))


def openings_note(asked: int, there: int) -> str:
    """Return a note that openings end the validation too early; empty if they do not."""
    if there >= asked:
        return ""
    return (
        f"validation: {there:,} pairs at most, not {asked:,}: no more openings are held out "
        "(more plies or a longer list give more)"
    )


def budget_in_steps(
    tuning: StudyConfig, trials: int, games: int, validation_pairs: int
) -> StudyBudget:
    """Return the budget of some trials, cut into small ones if the method needs them."""
    own = sampler_entry(tuning.method).pairs
    if own is None or 2 * own > games:
        return StudyBudget(trials, games, validation_pairs, trials)
    slots = trials * games // (2 * own)
    return StudyBudget(slots, 2 * own, validation_pairs, slots, games // (2 * own))


def budget_from_seconds(
    tuning: StudyConfig, seconds: float, games_per_second: float
) -> StudyBudget:
    """Return the part of the file's budget that fits into a time: smaller trials first."""
    whole = games_per_second * seconds * TRIALS_SHARE
    least = min(tuning.trials, max(WANTED_TRIALS, TRIALS_PER_WEIGHT * len(tuning.space.axes)))
    games = min(tuning.games, max(LEAST_GAMES, int(whole / least) // 2 * 2))
    trials = min(tuning.trials, max(TRIALS_PER_WEIGHT * len(tuning.space.axes), int(whole / games)))
    pairs = int(games_per_second * seconds * VALIDATION_SHARE / 2)
    validation = min(tuning.validation.pairs, max(LEAST_VALIDATION, pairs))
    return budget_in_steps(tuning, trials, games, validation)


def trial_opponents(tuning: StudyConfig, games: int) -> tuple[Opponent, ...]:
    """Return the opponents and the pairs of a trial that each of them plays, at least one."""
    agents, pairs = tuning.plan.agents, games // 2
    return tuple(
        Opponent(
            f"{name} (seed)" if name in (tuning.agent, CANDIDATE) else name, agents[name], count
        )
        for name, share in tuning.opponents
        if (count := max(1, round(share * pairs)))
    )


def divide_openings(tuning: StudyConfig, plan: StudyBudget) -> tuple[Openings, Openings]:
    """Return the openings of the trials and of the validation, which have none in common.

    The openings of the validation are drawn first, but are at most half of all. Trials use their
    openings in turn and start again when all are used.
    """
    pairs = sum(each.pairs for each in trial_opponents(tuning, plan.games))
    wanted, spec = max(plan.trials, plan.total) * pairs, tuning.plan.openings
    seed = tuning.plan.seed
    whole = opening_method(spec.method).openings(
        tuning.plan.game, spec, plan.validation_pairs + wanted, seed
    )
    spared = max(len(whole) // 2, len(whole) - wanted)
    held_out = min(plan.validation_pairs, spared, len(whole) - pairs)
    if held_out < 1:
        raise OpeningsError(
            f"{len(whole)} openings are all used by the trials of {plan.games} games: none is "
            "held out for the validation; take more plies, a longer list, or fewer games"
        )
    order = np.arange(len(whole))
    if spec.method not in ("random", "plies"):  # lists are sorted by their moves
        word = int(hash64("held out", seed))
        order = np.random.default_rng(word).permutation(len(whole))
    return select_openings(whole, order[held_out:]), select_openings(whole, order[:held_out])


class NodeSpeed(NamedTuple):
    """The nodes and seconds of some searches."""

    nodes: int
    seconds: float

    @property
    def per_node(self) -> float:
        """The seconds for one node."""
        return self.seconds / self.nodes


def is_limited_by_nodes(spec: AgentSpec, game: Game) -> bool:
    """Return whether nodes alone limit an agent, so that any time equals some number of nodes."""
    if not is_search(spec):
        return False
    values = option_values(kind_of(spec).options, spec, game)
    return bool(values["nodes"]) and not values.get("depth") and not values.get("seconds")


def equal_time_node_ratio(
    tuned: AgentSpec, seed: AgentSpec, game: Game, openings: Openings, sandbox: Sandbox
) -> float:
    """Return the nodes of the tuned agent for each node of the seed in the same time.

    Both are measured in turn. The ratio is 1 if an agent fails in all positions.
    """
    positions = [p for p in start_positions(game, openings) if not game.over(p)]
    if not positions:
        return 1.0
    agents = [
        create_agent(spec, game, HostSettings(sandbox, MOVE_SECONDS)) for spec in (tuned, seed)
    ]
    try:
        rounds = [[search_speed(agent, positions) for agent in agents] for _ in range(ROUNDS + 1)]
    finally:
        for agent in agents:
            if hasattr(agent, "close"):
                agent.close()
    if not all(each.nodes for pair in rounds for each in pair):
        return 1.0
    ours, theirs = (min(pair[side].per_node for pair in rounds[1:]) for side in (0, 1))
    return round(theirs / ours, 3)


def start_positions(game: Game, openings: Openings) -> list[Position]:
    """Return the positions after some openings."""
    found = []
    for slots in openings.slots[:MOST_POSITIONS]:
        position = game.start()
        for move in opening_moves(game, slots):
            position = game.play(position, move)
        found.append(position)
    return found


def search_speed(agent: Agent, positions: Sequence[Position]) -> NodeSpeed:
    """Measure searches of some positions, repeated until they take long enough.

    A search in this thread is measured by the time of the thread, a search in the sandbox by the
    clock.
    """
    clock = time.perf_counter if hasattr(agent, "close") else time.thread_time
    nodes, begun, seconds = 0, clock(), 0.0
    agent.start(0)
    while seconds < LEAST_SECONDS:
        for position in positions:
            with contextlib.suppress(AgentFailure):  # in a game this is a forfeit
                nodes += choose_fast(agent, position).nodes
        seconds = clock() - begun
    return NodeSpeed(nodes, seconds)
