"""How many games a study plays; split of openings."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.planning.openings.openings import Openings, OpeningsError
from arena.planning.openings.registry import way
from arena.planning.seeds import hash64
from arena.tuning.equal_time import is_limited_by_nodes
from arena.tuning.problems import TRIALS_PER_WEIGHT
from arena.tuning.samplers.registry import fixed_pairs
from arena.tuning.study_config import StudyConfig, against_seed
from arena.tuning.table import LEAST_GAMES
from arena.tuning.trial_games import CANDIDATE, Opponent

TRIALS_SHARE, VALIDATION_SHARE = 0.6, 0.2  # of a budget; then equal time, start, fit and page
WANTED_TRIALS = 40
SEARCH, CLAIM = 0.85, 0.15  # of all games
LEAST_CLAIM = 400  # pairs
TERM_SHARE = 4  # of the claim's pairings: at equal time, or at equal nodes
LEAST_VALIDATION = 50  # pairings


class StudyBudget(NamedTuple):
    """How many trials of how many games, and how many pairings the validation may take.

    `total` trials were planned; a budget may end the search after fewer `trials`. `size` trials
    are shown as one. `share` is how many of the seed's nodes a candidate has at equal time.
    """

    trials: int
    games: int
    validation_pairs: int
    total: int = 0
    size: int = 1
    share: float = 1.0

    @property
    def claim_pairs(self) -> int:
        """The pairings of the claim: 15 % of all, but the match has no more than its own."""
        share = round(self.total * self.games / 2 * CLAIM / SEARCH)
        return min(max(LEAST_CLAIM, share), self.validation_pairs)

    @property
    def term_pairs(self) -> int:
        """The pairs at equal time or at equal nodes; none beside a small claim."""
        return 0 if self.claim_pairs < LEAST_CLAIM else self.claim_pairs // TERM_SHARE

    @property
    def searched(self) -> int:
        """The games of the search."""
        return self.total * self.games

    @property
    def shown_trials(self) -> tuple[int, int]:
        """How many trials of how many games the study shows: small steps are shown as one."""
        return self.total // self.size, self.games * self.size


class StudyGames(NamedTuple):
    """The games of the parts of a study; the test of the validation may stop it early."""

    search: int
    least: int  # of claim and validation
    most: int
    equal_terms: int  # at equal time or at equal nodes


def games_of(tuning: StudyConfig, plan: StudyBudget) -> StudyGames:
    """How many games the parts of a study take."""
    most = 2 * plan.validation_pairs
    if not against_seed(tuning):  # then recommended and seed weights play all of them
        most *= 2
    equal = 2 * plan.term_pairs if is_limited_by_nodes(tuning.spec, tuning.plan.of) else 0
    return StudyGames(plan.searched, 2 * plan.claim_pairs, most, equal)


def budget_from_file(tuning: StudyConfig) -> StudyBudget:
    """The plan as the file says."""
    return in_steps(tuning, tuning.trials, tuning.games, tuning.validation.pairs)


def budget_to_play(tuning: StudyConfig) -> StudyBudget:
    """The plan as the file says, but no more validation than there are openings for."""
    plan = budget_from_file(tuning)
    held_out = len(split_openings(tuning, plan)[1])
    return plan._replace(validation_pairs=min(plan.validation_pairs, held_out))


def openings_note(asked: int, there: int) -> str:
    """Say that openings end the validation before the pairs that the file asks for; else empty."""
    if there >= asked:
        return ""
    return (
        f"validation: {there:,} pairings at most, not {asked:,}: no more openings are held out "
        "(more plies or a longer list give more)"
    )


def in_steps(tuning: StudyConfig, trials: int, games: int, validation_pairs: int) -> StudyBudget:
    """So many trials, cut into small ones where the method steps by its own number of pairings."""
    own = fixed_pairs(tuning.method)
    if own is None or 2 * own > games:
        return StudyBudget(trials, games, validation_pairs, trials)
    slots = trials * games // (2 * own)
    return StudyBudget(slots, 2 * own, validation_pairs, slots, games // (2 * own))


def budget_from_seconds(
    tuning: StudyConfig, seconds: float, games_per_second: float
) -> StudyBudget:
    """As much of the file's plan as fits into `seconds`: smaller trials before fewer ones."""
    whole = games_per_second * seconds * TRIALS_SHARE
    least = min(tuning.trials, max(WANTED_TRIALS, TRIALS_PER_WEIGHT * len(tuning.space.axes)))
    games = min(tuning.games, max(LEAST_GAMES, int(whole / least) // 2 * 2))
    trials = min(tuning.trials, max(TRIALS_PER_WEIGHT * len(tuning.space.axes), int(whole / games)))
    pairs = int(games_per_second * seconds * VALIDATION_SHARE / 2)
    validation = min(tuning.validation.pairs, max(LEAST_VALIDATION, pairs))
    return in_steps(tuning, trials, games, validation)


def opponents_of(tuning: StudyConfig, games: int) -> tuple[Opponent, ...]:
    """The opponents and how many pairings of a trial each plays, at least one."""
    agents, pairs = tuning.plan.agents, games // 2
    return tuple(
        Opponent(
            f"{name} (seed)" if name in (tuning.agent, CANDIDATE) else name, agents[name], count
        )
        for name, share in tuning.opponents
        if (count := max(1, round(share * pairs)))
    )


def split_openings(tuning: StudyConfig, plan: StudyBudget) -> tuple[Openings, Openings]:
    """Openings for all trials and others for the validation: no opening is in both.

    Those of the validation are drawn first; where there are few, half of all are held out. The
    trials take theirs in turn, and begin again when all were played.
    """
    pairs = sum(each.pairs for each in opponents_of(tuning, plan.games))
    wanted, spec = max(plan.trials, plan.total) * pairs, tuning.plan.openings
    seed = tuning.plan.seed
    whole = way(spec.way).openings(tuning.plan.of, spec, plan.validation_pairs + wanted, seed)
    spared = max(len(whole) // 2, len(whole) - wanted)
    held_out = min(plan.validation_pairs, spared, len(whole) - pairs)
    if held_out < 1:
        raise OpeningsError(
            f"{len(whole)} openings are all used by the trials of {plan.games} games: none is "
            "held out for the validation; take more plies, a longer list, or fewer games"
        )
    order = np.arange(len(whole))
    if spec.way not in ("random", "plies"):  # a list is in the order of its moves
        word = int(hash64("held out", seed))
        order = np.random.default_rng(word).permutation(len(whole))
    return select_openings(whole, order[held_out:]), select_openings(whole, order[:held_out])


def select_openings(openings: Openings, places: NDArray[np.int64]) -> Openings:
    """Some of the openings."""
    return Openings(openings.slots[places], openings.keys[places], finite=False)
