"""Playing pairings in order: workers, the two loops, stop rules, watchdog."""
