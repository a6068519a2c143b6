"""What the games say: evidence, summary, standings, checks, proofs."""
