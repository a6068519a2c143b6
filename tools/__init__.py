"""Long searches for faults, run by hand: fuzzing, torture, mutants."""
