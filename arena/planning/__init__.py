"""Planning what is played, before the first game: plan, openings, pairings, seeds."""
