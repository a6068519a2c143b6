"""Text from outside to values: files, overrides, other people's games."""
