"""What a fit of weights needs compiled: labelled positions of games, sums over looked-up tables."""
