"""Pure statistical functions: counts of results in, estimates with their uncertainty out.

Imports numpy and nothing of ours. Openings are numbers (equal number, same opening). The score of a
game is 0, 1/2 or 1, that of a pair the mean of its two games; results are `Estimate` values.

    estimate         Estimate(value, low, high, level, kind, reason)
    counts           pair scores and their counts
    spread           mean, error, degrees of freedom and effective size of clustered scores
    intervals        intervals and one-sided bounds of a score
    clustered_means  the mean of a value over many moves, with its bound
    elo              Elo, normalized Elo and the likelihood of superiority
    match_estimate   one row of a win-rate table
    sample_size      the precision to expect from a number of pairs
    score_checks     checks of a score, at one look or at many
    sprt             sequential tests; sprt_estimates corrects the estimate after one
    anytime          anytime-valid intervals by betting; racing compares many agents with them
    rating_data      games of many agents, summed by opening and pair of agents
    ratings          Bradley-Terry ratings; rating_fit fits them
    quantiles        quantiles of the normal, Student t and beta distributions
    text             all of these as text
"""
