"""Streams of lines for bots and hosts: valid lines mixed with invalid ones."""

import random
from collections.abc import Sequence

from hypothesis import strategies as st

from tools.fuzz.grammars import NASTY

MOST_LINES = 600
LONG = 70_000  # characters: more than the limit of a line
ODD = (*NASTY, "9" * 5000, "-" * 300, "1 " * 400, ";" * 300, "\u0663", "\x85", "\x0c", "[]", "{}")
SEEDS = st.binary(min_size=8, max_size=8)


def line_streams(templates: Sequence[str], words: Sequence[str]) -> st.SearchStrategy[bytes]:
    """Return a strategy for lines: intact or damaged templates, shuffled words, random bytes."""

    def lines(seed: bytes, count: int) -> bytes:
        dice = random.Random(seed)
        return b"\n".join(random_line(dice, templates, words) for _ in range(count))

    return st.builds(lines, SEEDS, st.integers(1, MOST_LINES))


def random_line(dice: random.Random, templates: Sequence[str], words: Sequence[str]) -> bytes:
    """Return a random line without its line break."""
    how = dice.random()
    if how < 0.5:
        return dice.choice(templates).encode()
    if how < 0.7:
        parts = [dice.choice(words) for _ in range(dice.randrange(1, 6))]
        if dice.random() < 0.1:
            parts[-1] = dice.choice(ODD).replace("\n", "")
        return dice.choice((" ", ";", ",", "")).join(parts).encode(errors="replace")
    if how < 0.9:
        return mutate_line(dice, dice.choice(templates))
    if how < 0.97:
        return dice.choice(ODD).replace("\n", " ").encode(errors="replace")
    if how < 0.999:
        return dice.randbytes(dice.randrange(40)).replace(b"\n", b"")
    return b"x" * dice.randrange(LONG)


def mutate_line(dice: random.Random, text: str) -> bytes:
    """Return a line with some bytes changed, deleted or inserted."""
    content = bytearray(text.encode())
    for _ in range(dice.randrange(1, 4)):
        at = dice.randrange(len(content) + 1)
        new = dice.choice(ODD).replace("\n", "").encode(errors="replace")[: dice.randrange(1, 9)]
        content[at : at + dice.randrange(3)] = dice.choice((b"", new, dice.randbytes(1)))
    return bytes(content).replace(b"\n", b"")
