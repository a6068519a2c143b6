"""Naive counts of the whole table."""
