"""A fuzzer: unusual inputs, derived from valid ones, must neither crash nor hang a command."""
