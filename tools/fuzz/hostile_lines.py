"""Lines that no bot and no host would write, between those that they do write."""

import random
from collections.abc import Sequence

from hypothesis import strategies as st

from tools.fuzz.grammars import NASTY

MOST_LINES = 600
LONG = 70_000  # more than a line may have
ODD = (*NASTY, "9" * 5000, "-" * 300, "1 " * 400, ";" * 300, "\u0663", "\x85", "\x0c", "[]", "{}")
SEEDS = st.binary(min_size=8, max_size=8)


def streams(templates: Sequence[str], words: Sequence[str]) -> st.SearchStrategy[bytes]:
    """Some lines: templates as they are or damaged, words in any order, and what is no text."""

    def lines(seed: bytes, count: int) -> bytes:
        dice = random.Random(seed)
        return b"\n".join(one_line(dice, templates, words) for _ in range(count))

    return st.builds(lines, SEEDS, st.integers(1, MOST_LINES))


def one_line(dice: random.Random, templates: Sequence[str], words: Sequence[str]) -> bytes:
    """A line without its end."""
    how = dice.random()
    if how < 0.5:
        return dice.choice(templates).encode()
    if how < 0.7:
        said = [dice.choice(words) for _ in range(dice.randrange(1, 6))]
        if dice.random() < 0.1:
            said[-1] = dice.choice(ODD).replace("\n", "")
        return dice.choice((" ", ";", ",", "")).join(said).encode(errors="replace")
    if how < 0.9:
        return damaged_line(dice, dice.choice(templates))
    if how < 0.97:
        return dice.choice(ODD).replace("\n", " ").encode(errors="replace")
    if how < 0.999:
        return dice.randbytes(dice.randrange(40)).replace(b"\n", b"")
    return b"x" * dice.randrange(LONG)


def damaged_line(dice: random.Random, text: str) -> bytes:
    """A line with some bytes changed, left out or put in."""
    content = bytearray(text.encode())
    for _ in range(dice.randrange(1, 4)):
        at = dice.randrange(len(content) + 1)
        new = dice.choice(ODD).replace("\n", "").encode(errors="replace")[: dice.randrange(1, 9)]
        content[at : at + dice.randrange(3)] = dice.choice((b"", new, dice.randbytes(1)))
    return bytes(content).replace(b"\n", b"")
