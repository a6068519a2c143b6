"""Planning a run before its first game: plan, openings, pairings, seeds."""
