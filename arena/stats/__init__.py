"""Pure functions of counts: how strong, how sure, and what may be said of it.

Imports numpy and nothing of ours. Openings are numbers (equal number, same opening), scores
are 0, 1/2, 1 for a game and their mean for a pairing; an answer is an `Estimate`.

    estimate         Estimate(value, low, high, level, kind, reason): returned by all the others
    counts           pair scores and their counts
    spread           mean, error, degrees of freedom and effective size of clustered scores
    intervals        intervals and one-sided bounds of a score
    clustered_means  the mean of a value of many moves, with its bound
    elo              Elo, normalized Elo and the likelihood of superiority
    match_estimate   one row of a win-rate table
    sample_size      the precision that a number of pairs will give
    score_checks     checks of a score, at one look or at many
    sprt             sequential tests; sprt_estimates corrects the estimate after one
    anytime          anytime-valid intervals by betting; racing compares many agents with them
    rating_data      games of many agents, summed by opening and pair
    ratings          ratings by a method of RATINGS; bradley_terry and rating_fit compute them
    quantiles        quantiles of the normal, Student t and beta distributions
    text             all of these as text
"""

from collections.abc import Mapping

# name -> module with `rate(results, plan) -> Ratings`
RATINGS: Mapping[str, str] = {
    "bradley_terry": "arena.stats.bradley_terry",
}
