"""Benchmarks against C, open_spiel and earlier versions; both sides run side by side."""
