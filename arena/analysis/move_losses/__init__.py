"""Judging what was played by exact values: what every stored move lost against the best one."""
