"""Estimates as text."""

import math
from collections.abc import Sequence
from dataclasses import replace

from arena.stats.estimate import Estimate, EstimateKind, Scope
from arena.stats.intervals import EQUAL_SCORES, NO_VARIATION, ONE_OPENING
from arena.stats.match_estimate import MatchEstimate, ScoreAndElo
from arena.stats.rating_fit import FirstMove
from arena.stats.ratings import RatingGroup
from arena.stats.score_checks import CheckStatus, ScoreCheck
from arena.stats.spread import Spread
from arena.stats.sprt import Decision, SprtPlan, SprtState
from arena.stats.stopping import GIVE_UP_ERROR, StopPlan, StopState, WidthPlan, WidthState

NO_ANSWER = "\u2013"
_FINE_WIDTH = 3.0

UNITS = ((7200.0, 3600.0, "h"), (120.0, 60.0, "min"), (1.0, 1.0, "s"), (1e-3, 1e-3, "ms"),
         (1e-6, 1e-6, "\u00b5s"), (0.0, 1e-9, "ns"))  # fmt: skip
ROUNDING = 1e-9  # floating-point errors below this do not move a printed end


def sign_text(number: float, decimals: int = 0) -> str:
    """Return a number with its sign; zero has none."""
    text = f"{number:+.{decimals}f}"
    return text[1:] if float(text) == 0.0 else text


def decimals_for(half_width: float) -> int:
    """Return the decimals for an interval of this half-width; it never prints as 0."""
    if half_width >= _FINE_WIDTH:
        return 0
    return min(max(1, math.ceil(-math.log10(half_width / _FINE_WIDTH))), 9)


def percent_text(share: float) -> str:
    """Return a share in percent; only exact values print as 100 or 0."""
    if share in (0.0, 1.0):
        return f"{100 * share:.0f} %"
    for decimals in range(1, 5):
        text = f"{100 * share:.{decimals}f}"
        if 0.0 < float(text) < 100.0:
            return f"{text} %"
    return "> 99.9999 %" if share > 0.5 else "< 0.0001 %"


def first_mover_text(opening_plies: Sequence[int] | None) -> str:
    """Name the first mover, with the range of opening plies if it is known."""
    if opening_plies is None or not opening_plies:
        return "the first mover (to move after the opening)"
    fewest, most = opening_plies
    if not most:
        return "the first mover (games began from the start)"
    plies = str(most) if fewest == most else f"{fewest} to {most}"
    return f"the first mover (to move after {plies} opening {'ply' if plies == '1' else 'plies'})"


def round_down(number: float, decimals: int) -> float:
    """Round the lower end of an interval or a lower bound, which must never be rounded up."""
    unit = 10.0**decimals
    return math.floor(number * unit + ROUNDING) / unit


def round_up(number: float, decimals: int) -> float:
    """Round the upper end of an interval or an upper bound."""
    return 0.0 - round_down(0.0 - number, decimals)


def bound_decimals(value: float | None, bound: float) -> int:
    """Return the decimals of a one-sided bound: at least those of an interval around it."""
    return decimals_for(0.5 * abs(value - bound)) if value is not None and value != bound else 0


def bound_text(elo: Estimate) -> str:
    """Return a one-sided bound; "" if there is none or if there are two."""
    if elo.low is not None and elo.high is None:
        decimals = bound_decimals(elo.value, elo.low)
        return f"> {sign_text(round_down(elo.low, decimals), decimals)}"
    if elo.high is not None and elo.low is None:
        decimals = bound_decimals(elo.value, elo.high)
        return f"< {sign_text(round_up(elo.high, decimals), decimals)}"
    return ""


def range_text(estimate: Estimate) -> str:
    """Return a value in its two-sided interval: `+83 [+61, +107]`, or `0 ± 2.6` around zero."""
    value, low, high = estimate.value, estimate.low, estimate.high
    if value is None or low is None or high is None:
        raise ValueError("an interval needs a value and both ends")
    decimals = decimals_for(0.5 * (high - low))
    ends = value, round_down(low, decimals), round_up(high, decimals)
    texts = [sign_text(number, decimals) for number in ends]
    if estimate.reason == EQUAL_SCORES and value == 0.0:
        return f"0 ± {round_up(high, decimals):.{decimals}f}"
    return f"{texts[0]} [{texts[1]}, {texts[2]}]"


def elo_text(estimate: Estimate) -> str:
    """Return any Elo estimate as a phrase; the kind is named unless it is `fixed-n`."""
    kind = "" if estimate.kind is EstimateKind.FIXED else f" {estimate.kind}"
    if estimate.has_both_ends and estimate.value is not None:
        return f"{range_text(estimate)} Elo{kind}"
    bound = bound_text(estimate)
    if bound:
        return f"{bound} Elo ({100 * estimate.level:g} %){kind}"
    if estimate.kind is EstimateKind.CENSUS:
        return _census_text(estimate)
    if estimate.kind is EstimateKind.NONE:
        value = "" if estimate.value is None else f"{sign_text(estimate.value)}, "
        return f"{value}{estimate.reason or NO_ANSWER}"
    why = f": {estimate.reason}" if estimate.reason else ""
    return f"no bound on Elo ({100 * estimate.level:g} %){kind}{why}"


def _census_text(estimate: Estimate) -> str:
    if estimate.value is None:
        return "won or lost every game of these openings (census)"
    decimals = decimals_for(abs(estimate.value)) if estimate.value else 0
    return f"exactly {sign_text(estimate.value, decimals)} on these openings (census)"


def game_counts_text(games: int, duplicates: int, forfeits: int, unplayed: int) -> str:
    """Return the number of games, and how many are duplicates, forfeited and unplayed."""
    words = [f"{games:,} game{'s' * (games != 1)}"]
    if duplicates:
        words.append(f"{duplicates:,} duplicate{'s' * (duplicates != 1)}")
    if forfeits:
        aside = f" ({unplayed:,} of them unplayed)" if unplayed else ""
        words.append(f"{forfeits:,} forfeited{aside}")
    return ", ".join(words)


def mirror_text(identical: bool, same_player: bool) -> str:
    """Return the text of a match in which both games of every pair had the same moves, or ""."""
    if not identical:
        return ""
    return f"{'the same player twice: ' if same_player else ''}both played identical games"


def mirror_sentence(distinct: int, games: int) -> str:
    """Return why a match ties in which both games of every pair had the same moves."""
    return (
        "every pair is one game played twice with the sides swapped, so each pair ends 1-1: "
        f"{distinct:,} of {games:,} games are distinct"
    )


def first_mover_line(distinct: int | None, score: float | None, margin: float | None) -> str:
    """Return the distinct games, and the first mover's score and mean margin."""
    parts = []
    if distinct is not None:
        parts.append(f"{distinct:,} distinct game{'s' * (distinct != 1)}")
    if score is not None:
        mean = "" if margin is None else f" with a mean margin of {mean_margin_text(margin)}"
        parts.append(f"the first mover scored {percent_text(score)}{mean}")
    return ", ".join(parts)


def mean_margin_text(margin: float) -> str:
    """Return a mean margin with at most one decimal."""
    return sign_text(margin, 1).removesuffix(".0")


def match_estimate_text(row: MatchEstimate) -> str:
    """Return a match in one phrase, including each answer that it has."""
    mirror = mirror_text(row.counts.is_identical, row.counts.same_player)
    return "; ".join(filter(None, [mirror, _counts_and_answers_text(row)]))


def _counts_and_answers_text(row: MatchEstimate) -> str:
    counts = row.counts
    if counts.pairs == 0:
        return "no games"
    these = row.these
    aside = _no_variation_text(these)
    if counts.openings == 1 and (these is None or aside or _is_census(these)):
        total = counts.total
        lead = f"{total.wins} won, {total.draws} drawn, {total.losses} lost"
        return f"{lead}; {_one_opening(row)}{aside}"
    answers = [row.answer]
    if these is not None and these is not row.answer and not aside and not _is_census(these):
        answers.append(these)
    return "; ".join(answer_text(answer) for answer in answers) + aside


def _no_variation_text(these: ScoreAndElo | None) -> str:
    """Return how rarely games can vary, for agents whose repeated games were identical."""
    if these is None or not these.score.reason.startswith(NO_VARIATION):
        return ""
    return f"; {these.score.reason}"


def answer_text(answer: ScoreAndElo) -> str:
    """Return score and Elo with the openings that they are about."""
    found = answer.spread
    if _is_census(answer):
        return f"{percent_text(found.mean)}, {elo_text(answer.elo)}"
    question = opening_scope_text(found)
    if not answer.elo.has_both_ends:
        sizes = f", K = {found.openings:,}" if found.scope is Scope.LIKE else ""
        return f"{percent_text(found.mean)}, {elo_text(answer.elo)} {question}{sizes}"
    alike = f", {EQUAL_SCORES}," if answer.score.reason == EQUAL_SCORES else ""
    sizes = f"n={2 * found.pairs} (n_eff {found.effective_pairs:.0f})"
    elo = f"{range_text(answer.elo)} Elo{alike}"
    return f"{share_text(answer.score)}, {elo} {question}  {sizes}"


def strength_text(score: Estimate, elo: Estimate) -> str:
    """Return score and Elo in their intervals: `61.0 % [58.2, 63.9], +78 Elo [+57, +99]`."""
    if score.kind is EstimateKind.CENSUS:
        exact = "" if elo.value is None else f", {sign_text(elo.value)} Elo"
        return f"exactly {share_text(score)}{exact} on these openings"
    if elo.value is None or not elo.has_both_ends:
        share = score.reason if score.value is None else percent_text(score.value)
        return f"{share}, {elo_text(replace(elo, kind=EstimateKind.FIXED))}"
    value, _, ends = range_text(elo).partition(" [")
    return f"{share_text(score)}, {value} Elo{ends and f' [{ends}'}"


def opening_scope_text(found: Spread) -> str:
    """Return the openings that a number is about."""
    if found.scope is Scope.LIKE:
        return "for openings like these"
    of = "this opening" if found.openings == 1 else f"these {found.openings:,} openings"
    return f"for exactly {of}, {found.pairs:,} pairs"


def _is_census(answer: ScoreAndElo) -> bool:
    return answer.score.kind is EstimateKind.CENSUS


def _one_opening(row: MatchEstimate) -> str:
    distinct = row.counts.distinct_games
    if distinct is None or row.counts.pairs == 1:
        return ONE_OPENING
    return f"1 opening, {distinct} distinct games: no inference"


def score_text(score: Estimate) -> str:
    """Return a score with its interval in percent; the kind is named unless it is `fixed-n`."""
    if score.value is None:
        return score.reason
    kind = "" if score.kind is EstimateKind.FIXED else f" {score.kind}"
    if score.kind in (EstimateKind.NONE, EstimateKind.CENSUS):
        return f"{percent_text(score.value)} ({score.reason})"
    if score.low is None and score.high is None:
        return f"{percent_text(score.value)}, no bound{kind}"
    return f"{share_text(score)}{kind}"


def share_text(score: Estimate) -> str:
    """Return a score in percent with its interval or bound."""
    if score.value is None:
        return score.reason
    text = percent_text(score.value)
    if score.low is not None and score.high is not None:
        decimals = decimals_for(50.0 * (score.high - score.low)) or 1
        return f"{text} [{lower_end(score.low, decimals)}, {upper_end(score.high, decimals)}]"
    if score.low is not None:
        return f"{text}, > {lower_bound_text(score.value, score.low)}"
    if score.high is not None:
        decimals = bound_decimals(100.0 * score.value, 100.0 * score.high) or 1
        return f"{text}, < {upper_end(score.high, decimals)} %"
    return text


def lower_end(share: float, decimals: int) -> str:
    """Return the lower end of an interval in percent."""
    return f"{round_down(100.0 * share, decimals):.{decimals}f}"


def upper_end(share: float, decimals: int) -> str:
    """Return the upper end of an interval in percent."""
    return f"{round_up(100.0 * share, decimals):.{decimals}f}"


def lower_bound_text(score: float, bound: float) -> str:
    """Return a lower bound on a score in percent."""
    decimals = bound_decimals(100.0 * score, 100.0 * bound) or 1
    return percent_text(bound) if bound in (0.0, 1.0) else f"{lower_end(bound, decimals)} %"


def stop_text(plan: StopPlan, state: StopState, pairs: int) -> str:
    """Return how a stop rule ended a match of at most this many `pairs`."""
    used = f"{state.observations:,}"
    if state.decision is Decision.GAVE_UP:
        aim = (
            f"an interval of ± {plan.width:g} Elo" if isinstance(plan, WidthPlan) else "a decision"
        )
        left = f"{aim} within {pairs:,} pairs had a chance of at most {100 * GIVE_UP_ERROR:g} %"
        needed = state.needed if isinstance(state, WidthState) else None
        more = "" if needed is None else f"; it takes about {rough_count(needed)} pairs"
        return f"gave up after {used} pairs: {left}{more}"
    if isinstance(plan, SprtPlan):
        assert isinstance(state, SprtState)
        return sprt_text(plan, state)
    assert isinstance(state, WidthState)
    if state.decision is Decision.WIDTH:
        return f"stopped after {used} pairs: the interval is at most ± {plan.width:g} Elo"
    return f"ended after {used} pairs: the interval is wider than ± {plan.width:g} Elo"


def stop_state_text(state: StopState) -> str:
    """Return how far a stop rule is, for a progress line; "" if it cannot say yet."""
    if isinstance(state, SprtState):
        return f"LLR {state.llr:+.2f} in ({state.lower:.2f}, {state.upper:.2f})"
    if state.half_width is None or state.needed is None:
        return ""
    return f"± {state.half_width:.0f} Elo, about {rough_count(state.needed)} pairs needed"


def rough_count(number: float) -> str:
    """Return a number rounded up to two digits."""
    unit = 10.0 ** max(math.floor(math.log10(max(number, 1.0))) - 1, 0)
    return f"{math.ceil(number / unit) * unit:,.0f}"


def sprt_text(plan: SprtPlan, state: SprtState) -> str:
    """Return the state of a sequential test, with its unit and the openings used."""
    used = state.observations
    if state.decision is Decision.UNDECIDED:
        return f"undecided, {used} openings used"
    where = f"LLR {state.llr:.2f} in ({state.lower:.2f}, {state.upper:.2f})"
    tail = f"K = {used}, bounds [{plan.elo0:g}, {plan.elo1:g}] {plan.model} Elo"
    if state.decision is Decision.ELO0:
        return f"accepted {plan.elo0:g}: {where}, {tail}"
    if state.decision is Decision.ELO1:
        return f"accepted {plan.elo1:g}: {where}, {tail}"
    if used < plan.min_distinct:
        return f"{where}, no verdict below {plan.min_distinct} openings, {tail}"
    return f"{where}, {tail}"


def check_text(check: ScoreCheck) -> str:
    """Return a check of a score in one phrase."""
    wanted = f"at least {percent_text(check.wanted)}"
    if check.verdict is CheckStatus.VACUOUS:
        return f"vacuous: {check.reason}"
    if check.score is None or check.bound is None:
        raise ValueError("a check that is not vacuous has a score and a bound")
    bound = lower_bound_text(check.score, check.bound)
    found = f"score {percent_text(check.score)}, bound {bound} ({check.reason})"
    return f"{check.verdict}: {wanted} wanted, {found}, K = {check.openings}"


def rating_text(rating: Estimate) -> str:
    """Return a rating with its interval or bound."""
    if rating.value is None:
        return bound_text(rating) or NO_ANSWER
    if rating.has_both_ends:
        return range_text(rating)
    bound = bound_text(rating)
    if bound:
        return f"{_value_text(rating.value)}, {bound}"
    why = f" ({rating.reason})" if rating.reason else ""
    return f"{_value_text(rating.value)}{why}"


def _value_text(value: float) -> str:
    return sign_text(value, 1 if 0.0 < abs(value) < 1.0 else 0)


def first_move_text(pool: RatingGroup, games: int) -> str:
    """Return the value of the first move in a group, or why it is unknown."""
    if pool.first_move is FirstMove.FITTED:
        fitted = pool.advantage
        if fitted.value is None or bound_text(fitted) or fitted.has_both_ends or not fitted.reason:
            return f"first move {rating_text(fitted)} Elo"
        return f"first move {_value_text(fitted.value)} Elo ({fitted.reason})"
    without = "ratings without first-move term"
    worth = bound_text(pool.advantage)
    worth = f", worth {worth} Elo" if worth else ""
    if pool.first_move is FirstMove.ALWAYS_WINS:
        return f"first mover won all {games}{worth}; {without}"
    if pool.first_move is FirstMove.ALWAYS_LOSES:
        return f"second mover won all {games}{worth}; {without}"
    return f"{pool.first_move}; {without}"


def seconds_text(number: float) -> str:
    """Return a time in the unit that fits."""
    for least, unit, name in UNITS:
        if number >= least:
            size = number / unit
            digits = f"{size:.0f}" if size >= 10 and name != "h" else f"{size:.1f}"
            return f"{digits if name == 'h' else digits.removesuffix('.0')} {name}"
    return "0 s"
