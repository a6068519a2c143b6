"""Analysis: the games of a run as evidence, estimates, standings, checks and tables."""
