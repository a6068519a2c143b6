"""Strategies for hostile inputs: valid words in the wrong place, and damaged bytes."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
TOKENS = re.compile(r"\w+|\s+|.", re.DOTALL)
WORD = re.compile(r"[A-Za-z_][\w.-]*")
MAX_CHANGES = 5
NASTY = (
    "", "\x00", "\x1b[31m", "\u202e", "\ufeff", "\u2028", "\ud7ff", "\U0010ffff", "\\", '"', "'''",
    "[" * 40, "{" * 40, "(" * 3000, "a." * 40, "0", "-0", "-1", "1e999", "-1e308", "nan", "inf",
    "9" * 19, "1" * 400, "0x10", "1_0", "²", "true", "None", "null", "..", "/", "/dev/zero", "~",
    "%s", "{0}", "#", ";", ",", ",,,", "=", "\n", "\r", "\t", "\n\n", "x" * 5000, "é" * 300,
)  # fmt: skip


def words_of(samples: Sequence[str]) -> list[str]:
    """Return the distinct words of the samples, sorted."""
    return sorted({word for sample in samples for word in WORD.findall(sample)})


def values() -> st.SearchStrategy[str]:
    """Return a strategy for values in TOML or JSON syntax, mostly invalid ones."""
    plain = st.one_of(
        st.integers().map(str),
        st.integers(-3, 300).map(str),
        st.floats(allow_nan=False, allow_infinity=False).map(repr),
        st.booleans().map(lambda each: str(each).lower()),
        st.text(max_size=12).map(json.dumps),
        st.sampled_from(NASTY),
        st.just("2026-01-01"),
    )
    return st.recursive(
        plain,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4).map(lambda each: f"[{', '.join(each)}]"),
            st.lists(inner, max_size=3).map(
                lambda each: "{" + ", ".join(f"a{n} = {v}" for n, v in enumerate(each)) + "}"
            ),
        ),
        max_leaves=6,
    )


@st.composite
def text_mutations(draw: st.DrawFn, samples: Sequence[str], words: Sequence[str] = ()) -> bytes:
    """Draw a sample with words inserted, deleted, replaced or repeated, sometimes truncated."""
    sample = draw(st.sampled_from(samples))
    tokens = TOKENS.findall(sample)
    known = [*words, *words_of(samples)]
    for _ in range(draw(st.integers(1, MAX_CHANGES))):
        at = draw(st.integers(0, max(0, len(tokens) - 1)))
        to = at + draw(st.integers(0, 6))
        new = draw(st.one_of(st.sampled_from(known), values(), st.sampled_from(NASTY)))
        how = draw(st.integers(0, 5))
        if how <= 1:
            tokens[at : at + 1] = [new]
        elif how == 2:
            tokens[at:at] = [new]
        elif how == 3:
            tokens[at:to] = []
        elif how == 4:
            tokens[at:at] = tokens[at:to] * draw(st.integers(1, 30))
        else:
            tokens = tokens[:at]
    return "".join(tokens).encode(errors="replace")


@st.composite
def byte_mutations(draw: st.DrawFn, sample: bytes) -> bytes:
    """Draw the sample with bytes flipped, inserted, zeroed or truncated."""
    content = bytearray(sample)
    for _ in range(draw(st.integers(1, MAX_CHANGES))):
        at = draw(st.integers(0, max(0, len(content) - 1)))
        how = draw(st.integers(0, 4))
        if how <= 1 and content:
            content[at] ^= 1 << draw(st.integers(0, 7))
        elif how == 2:
            content[at:at] = draw(st.binary(max_size=8))
        elif how == 3:
            size = draw(st.integers(1, 200))
            content[at : at + size] = bytes(min(size, len(content) - at))
        elif draw(st.integers(0, 3)) == 0:
            del content[at:]
    return bytes(content)


def pairs_of(keys: Sequence[str]) -> st.SearchStrategy[bytes]:
    """Return a strategy for KEY=VALUE, mostly with invalid values."""
    return st.builds(lambda key, value: f"{key}={value}".encode(), st.sampled_from(keys), values())
