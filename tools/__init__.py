"""Tools for development: fuzzing, torture, mutants, generated reference pages."""
