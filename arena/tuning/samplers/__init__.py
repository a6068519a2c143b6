"""Ways to choose the next weights to try."""
