"""Games whose rules are in a user's Python file."""
