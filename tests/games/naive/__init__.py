"""Slow twins of the games, written from the rules, importing nothing of what they check."""
