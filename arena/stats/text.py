"""Estimates as text."""

import math
from collections.abc import Sequence
from dataclasses import replace

from arena.stats.estimate import Estimate, EstimateKind, Scope
from arena.stats.intervals import ALIKE, ONE_OPENING, UNVARIED
from arena.stats.match_estimate import MatchEstimate, ScoreAndElo
from arena.stats.rating_fit import FirstMove
from arena.stats.ratings import AgentRating, RatingGroup, Ratings
from arena.stats.score_checks import CheckStatus, ScoreCheck
from arena.stats.spread import Spread
from arena.stats.sprt import Decision, SprtPlan, SprtState

NO_ANSWER = "\u2013"
_FINE_WIDTH = 3.0


ROUNDING = 1e-9  # errors of the machine, which do not move an end


def signed_text(number: float, decimals: int = 0) -> str:
    """A number with its sign; zero has none."""
    text = f"{number:+.{decimals}f}"
    return text[1:] if float(text) == 0.0 else text


def decimals_for(half_width: float) -> int:
    """Decimals for an interval of this half-width, enough that it never prints as 0."""
    if half_width >= _FINE_WIDTH:
        return 0
    return min(max(1, math.ceil(-math.log10(half_width / _FINE_WIDTH))), 9)


def percent_text(share: float) -> str:
    """A share in percent; only an exact one prints as 100 or 0."""
    if share in (0.0, 1.0):
        return f"{100 * share:.0f} %"
    for decimals in range(1, 5):
        text = f"{100 * share:.{decimals}f}"
        if 0.0 < float(text) < 100.0:
            return f"{text} %"
    return "> 99.9999 %" if share > 0.5 else "< 0.0001 %"


def first_mover_words(opening_plies: Sequence[int] | None) -> str:
    """Name the first mover, with the fewest and the most plies of the openings if known."""
    if opening_plies is None or not opening_plies:
        return "the first mover (to move after the opening)"
    fewest, most = opening_plies
    if not most:
        return "the first mover (games began from the start)"
    plies = str(most) if fewest == most else f"{fewest} to {most}"
    return f"the first mover (to move after {plies} opening {'ply' if plies == '1' else 'plies'})"


def rounded_down(number: float, decimals: int) -> float:
    """Round the lower end of an interval or a lower bound: it must not promise too much."""
    unit = 10.0**decimals
    return math.floor(number * unit + ROUNDING) / unit


def rounded_up(number: float, decimals: int) -> float:
    """Round the upper end of an interval or an upper bound."""
    return 0.0 - rounded_down(0.0 - number, decimals)


def bound_decimals(value: float | None, bound: float) -> int:
    """Return the decimals of a one-sided bound: at least those of an interval around it."""
    return decimals_for(0.5 * abs(value - bound)) if value is not None and value != bound else 0


def bound_text(elo: Estimate) -> str:
    """A one-sided bound; empty if there is none or if there are two."""
    if elo.low is not None and elo.high is None:
        decimals = bound_decimals(elo.value, elo.low)
        return f"> {signed_text(rounded_down(elo.low, decimals), decimals)}"
    if elo.high is not None and elo.low is None:
        decimals = bound_decimals(elo.value, elo.high)
        return f"< {signed_text(rounded_up(elo.high, decimals), decimals)}"
    return ""


def range_text(estimate: Estimate) -> str:
    """A value in its two-sided interval: `+83 [+61, +107]`, or `0 ± 2.6` around zero."""
    value, low, high = estimate.value, estimate.low, estimate.high
    if value is None or low is None or high is None:
        raise ValueError("an interval needs a value and both ends")
    decimals = decimals_for(0.5 * (high - low))
    ends = value, rounded_down(low, decimals), rounded_up(high, decimals)
    texts = [signed_text(number, decimals) for number in ends]
    if estimate.reason == ALIKE and value == 0.0:
        return f"0 ± {rounded_up(high, decimals):.{decimals}f}"
    return f"{texts[0]} [{texts[1]}, {texts[2]}]"


def elo_text(estimate: Estimate) -> str:
    """Any Elo estimate in one phrase; the kind is named unless it is `fixed-n`."""
    kind = "" if estimate.kind is EstimateKind.FIXED else f" {estimate.kind}"
    if estimate.two_sided and estimate.value is not None:
        return f"{range_text(estimate)} Elo{kind}"
    bound = bound_text(estimate)
    if bound:
        return f"{bound} Elo ({100 * estimate.level:g} %){kind}"
    if estimate.kind is EstimateKind.CENSUS:
        return _census_text(estimate)
    if estimate.kind is EstimateKind.NONE:
        value = "" if estimate.value is None else f"{signed_text(estimate.value)}, "
        return f"{value}{estimate.reason or NO_ANSWER}"
    why = f": {estimate.reason}" if estimate.reason else ""
    return f"no bound on Elo ({100 * estimate.level:g} %){kind}{why}"


def _census_text(estimate: Estimate) -> str:
    if estimate.value is None:
        return "won or lost every game of these openings (census)"
    decimals = decimals_for(abs(estimate.value)) if estimate.value else 0
    return f"exactly {signed_text(estimate.value, decimals)} on these openings (census)"


def game_counts_text(games: int, duplicates: int, forfeits: int, unplayed: int) -> str:
    """Return how many games there are, and how many of them are duplicates, forfeited, unplayed."""
    words = [f"{games:,} game{'s' * (games != 1)}"]
    if duplicates:
        words.append(f"{duplicates:,} duplicate{'s' * (duplicates != 1)}")
    if forfeits:
        aside = f" ({unplayed:,} of them unplayed)" if unplayed else ""
        words.append(f"{forfeits:,} forfeited{aside}")
    return ", ".join(words)


def mirror_text(identical: bool, same_player: bool) -> str:
    """Return what a match shows in which both games of every pair had the same moves, or ""."""
    if not identical:
        return ""
    return f"{'the same player twice: ' if same_player else ''}both played identical games"


def first_mover_line(distinct: int | None, score: float | None, margin: float | None) -> str:
    """Return distinct games, and the first mover's score and mean margin, in one phrase."""
    parts = []
    if distinct is not None:
        parts.append(f"{distinct:,} distinct game{'s' * (distinct != 1)}")
    if score is not None:
        mean = "" if margin is None else f" with a mean margin of {signed_mean(margin)}"
        parts.append(f"the first mover scored {percent_text(score)}{mean}")
    return ", ".join(parts)


def signed_mean(margin: float) -> str:
    """Return a mean margin with at most one decimal."""
    return signed_text(margin, 1).removesuffix(".0")


def match_estimate_text(row: MatchEstimate, unpaired_games: int = 0) -> str:
    """One pair of agents in one phrase for each question, whatever happened between them."""
    mirror = mirror_text(row.counts.identical, row.counts.same_player)
    return "; ".join(filter(None, [mirror, _matchup_text(row, unpaired_games)]))


def _matchup_text(row: MatchEstimate, unpaired_games: int) -> str:
    counts = row.counts
    if counts.pairings == 0:
        return "0 complete pairings" if unpaired_games else "no games"
    these = row.these
    aside = _unvaried(these)
    if counts.openings == 1 and (these is None or aside or _exact(these)):
        total = counts.total
        lead = f"{total.wins} won, {total.draws} drawn, {total.losses} lost"
        return f"{lead}; {_one_opening(row)}{aside}"
    answers = [row.answer]
    if these is not None and these is not row.answer and not aside and not _exact(these):
        answers.append(these)
    return "; ".join(answer_text(answer) for answer in answers) + aside


def _unvaried(these: ScoreAndElo | None) -> str:
    """That agents of whom nothing is known played the same games again."""
    if these is None or not these.score.reason.startswith(UNVARIED):
        return ""
    return f"; {these.score.reason}"


def answer_text(answer: ScoreAndElo) -> str:
    """How strong one agent is against the other, with the question that this answers."""
    found = answer.spread
    if _exact(answer):
        return f"{percent_text(found.mean)}, {elo_text(answer.elo)}"
    question = opening_scope_text(found)
    if not answer.elo.two_sided:
        sizes = f", K = {found.openings:,}" if found.scope is Scope.LIKE else ""
        return f"{percent_text(found.mean)}, {elo_text(answer.elo)} {question}{sizes}"
    alike = f", {ALIKE}," if answer.score.reason == ALIKE else ""
    sizes = f"n={2 * found.pairings} (n_eff {found.effective_pairings:.0f})"
    elo = f"{range_text(answer.elo)} Elo{alike}"
    return f"{share_text(answer.score)}, {elo} {question}  {sizes}"


def strength_text(score: Estimate, elo: Estimate) -> str:
    """Return a score in its interval and its Elo difference: `61.0 % [58.2, 63.9], +78 Elo`."""
    if score.kind is EstimateKind.CENSUS:
        exact = "" if elo.value is None else f", {signed_text(elo.value)} Elo"
        return f"exactly {share_text(score)}{exact} on these openings"
    if elo.value is None or not elo.two_sided:
        share = score.reason if score.value is None else percent_text(score.value)
        return f"{share}, {elo_text(replace(elo, kind=EstimateKind.FIXED))}"
    decimals = decimals_for(0.5 * ((elo.high or 0.0) - (elo.low or 0.0)))
    return f"{share_text(score)}, {signed_text(elo.value, decimals)} Elo"


def opening_scope_text(found: Spread) -> str:
    """The question that a number answers."""
    if found.scope is Scope.LIKE:
        return "for openings like these"
    of = "this opening" if found.openings == 1 else f"these {found.openings:,} openings"
    return f"for exactly {of}, {found.pairings:,} pairings"


def _exact(answer: ScoreAndElo) -> bool:
    return answer.score.kind is EstimateKind.CENSUS


def _one_opening(row: MatchEstimate) -> str:
    distinct = row.counts.distinct_games
    if distinct is None or row.counts.pairings == 1:
        return ONE_OPENING
    return f"1 opening, {distinct} distinct games: no inference"


def score_text(score: Estimate) -> str:
    """A score with its interval, in percent, the kind named unless it is `fixed-n`."""
    if score.value is None:
        return score.reason
    kind = "" if score.kind is EstimateKind.FIXED else f" {score.kind}"
    if score.kind in (EstimateKind.NONE, EstimateKind.CENSUS):
        return f"{percent_text(score.value)} ({score.reason})"
    if score.low is None and score.high is None:
        return f"{percent_text(score.value)}, no bound{kind}"
    return f"{share_text(score)}{kind}"


def share_text(score: Estimate) -> str:
    """Return a score in percent with what is known of its interval."""
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
    return f"{rounded_down(100.0 * share, decimals):.{decimals}f}"


def upper_end(share: float, decimals: int) -> str:
    """Return the upper end of an interval in percent."""
    return f"{rounded_up(100.0 * share, decimals):.{decimals}f}"


def lower_bound_text(score: float, bound: float) -> str:
    """Return a lower bound on a score in percent."""
    decimals = bound_decimals(100.0 * score, 100.0 * bound) or 1
    return percent_text(bound) if bound in (0.0, 1.0) else f"{lower_end(bound, decimals)} %"


def sprt_text(plan: SprtPlan, state: SprtState) -> str:
    """Where a sequential test stands, with its unit and the openings used."""
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
    """A check of a score in one phrase."""
    wanted = f"at least {percent_text(check.wanted)}"
    if check.verdict is CheckStatus.VACUOUS:
        return f"vacuous: {check.reason}"
    if check.score is None or check.bound is None:
        raise ValueError("a check that is not vacuous has a score and a bound")
    bound = lower_bound_text(check.score, check.bound)
    found = f"score {percent_text(check.score)}, bound {bound} ({check.reason})"
    return f"{check.verdict}: {wanted} wanted, {found}, K = {check.openings}"


def rating_text(rating: Estimate) -> str:
    """A rating with its error in one phrase."""
    if rating.value is None:
        return bound_text(rating) or NO_ANSWER
    if rating.two_sided:
        return range_text(rating)
    bound = bound_text(rating)
    if bound:
        return f"{_value_text(rating.value)}, {bound}"
    why = f" ({rating.reason})" if rating.reason else ""
    return f"{_value_text(rating.value)}{why}"


def _value_text(value: float) -> str:
    return signed_text(value, 1 if 0.0 < abs(value) < 1.0 else 0)


def first_move_text(pool: RatingGroup, games: int) -> str:
    """The value of the first move in a pool, or why it is unknown."""
    if pool.first_move is FirstMove.FITTED:
        fitted = pool.advantage
        if fitted.value is None or bound_text(fitted) or fitted.two_sided or not fitted.reason:
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


def ratings_lines(ratings: Ratings, names: Sequence[str]) -> list[str]:
    """The whole table as lines: one for each group."""
    lines: list[str] = []
    islands = len({pool.island for pool in ratings.pools})
    for number, pool in enumerate(ratings.pools):
        if number:
            lines.append("")
        rows = [row for row in ratings.agents if row.pool == number]
        if len(ratings.pools) > 1:
            lines.append(f"group {number + 1} of {len(ratings.pools)}: {_names(pool, names)}")
        lines.extend(_row_text(row, names) for row in sorted(rows, key=_strength))
        if len(pool.members) > 1:
            lines.append(first_move_text(pool, sum(row.games for row in rows) // 2))
    if islands > 1:
        lines.append(f"{islands} groups that never met: not comparable")
    return lines


def _row_text(row: AgentRating, names: Sequence[str]) -> str:
    sizes = f"n={row.games}, K = {row.openings}"
    return f"{names[row.agent]}  {rating_text(row.rating)}  {row.points:g}/{row.games}  {sizes}"


def _strength(row: AgentRating) -> tuple[float, int]:
    return (0.0 - (row.rating.value or 0.0), row.agent)


def _names(pool: RatingGroup, names: Sequence[str]) -> str:
    return ", ".join(names[member] for member in pool.members)
