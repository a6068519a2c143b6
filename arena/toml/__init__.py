"""Experiment files as they are written: keys, lines, and what can be wrong with them."""
