"""Planning a run before its first game: plan, openings, pairs, seeds."""
