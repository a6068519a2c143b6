"""What is played, fixed before the first game: plan, openings, pairings, seeds."""
