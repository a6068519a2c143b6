"""Text from outside becomes values: files, overrides, other people's games."""
