"""Evaluations: weighted features, learned tables and users' functions."""
