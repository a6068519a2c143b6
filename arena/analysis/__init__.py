"""Concluding from the games: evidence, summary, standings, checks, proofs."""
