"""Ratios against C, open_spiel and ourselves, each measured side by side in one run."""
