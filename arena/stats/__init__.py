"""Pure functions of counts: how strong, how sure, and what may be said of it.

Imports numpy and nothing of ours. Openings are numbers (equal number, same opening), scores
are 0, 1/2, 1 for a game and their mean for a pairing; an answer is an `Estimate`.

    estimate        Estimate(value, low, high, level, kind, reason): what all the others return
    counts          pair_counts, mirrored, pair_scores, one_per_opening
    clusters        spread, spread_of_these: mean, error, degrees of freedom, effective size
    added_loss      lower_end: empirical likelihood with one lost observation added
    intervals       score_estimate, lower_bound: one rule for every score
    score_checks    score_at_least, score_ever_at_least: checks with a one-sided bound
    elo             elo_estimate, normalized_elo_estimate, likelihood_of_superiority
    matchup         matchup: one row of a win-rate table from pairings; from_other_side
    gsprt           log_likelihood_ratio of counts, logistic or normalized
    sprt            SprtPlan, begin, advance, used_up; forecast of the length
    stopped         raw_estimate and corrected_estimate after a sequential test
    capital         log_capital, capital_reach: what bets have earned, true at every look
    watching        begun, observe, live_estimate: the standing of a pair for whoever looks live
    results         gather: games of many agents, summed by opening
    ratings         rate: one row per agent, by one of the methods in RATINGS
    bradley_terry   rate by maximum likelihood; difference of two ratings
    words           matchup_text, score_text, elo_text, sprt_text, check_text, ...
    rating_words    ratings_lines: the rating table as text

Below these: quantiles (normal, Student t, beta), rating_fit (the fit), connected (which
ratings exist), bootstrap (errors from drawn openings).
"""

from collections.abc import Mapping

# name -> module with `rate(results, plan) -> Ratings`
RATINGS: Mapping[str, str] = {
    "bradley_terry": "arena.stats.bradley_terry",
}
