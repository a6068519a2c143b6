"""Keeping."""
