"""Keeping bytes and columns on disk: journal, run directory, parquet, log."""
