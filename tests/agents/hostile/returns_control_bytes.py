"""Answers escape codes."""
# ends: illegal


def choose(view, legal, rng):
    return "\x1b[31m\x00\r\n"
