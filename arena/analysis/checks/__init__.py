"""Checks: claims of an experiment with their verdicts, one module per claim."""
