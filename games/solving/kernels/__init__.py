"""Compiled exact searches: written once over the names of a family, or for one family."""
