"""Concluding."""
