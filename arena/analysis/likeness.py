"""Likeness of sources: sequences of tokens that two programs share, without names and literals."""

import io
import keyword
import math
import re
import tokenize
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

LENGTH = 12  # tokens of a shingle
# Share of the weight of the shorter program's shingles. Programs of a generated class that share
# only their plan reach 0.55, copies with other names 1 (tests/arena/analysis/test_likeness.py).
ALIKE = 0.7
MIN_SHINGLES = 40  # shorter programs are alike by chance
# Shingles of a third of all programs, and of more than six, come from a common template.
COMMON_SHARE, MIN_COMMON = 1 / 3, 6
NAME, LITERAL = "n", "l"
IGNORED = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING, tokenize.ENDMARKER,
    tokenize.INDENT, tokenize.DEDENT,
}  # fmt: skip
LITERALS = {tokenize.NUMBER, tokenize.STRING}
# Comments, strings, numbers, words and signs of any language.
TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*|\#[^\n]*)|(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`[^`]*`)"""
    r"""|(?P<number>\d[\w.]*)|(?P<word>[^\W\d]\w*)|(?P<sign>[^\s\w])""",
    re.DOTALL,
)
WORDS = frozenset(
    """auto bool boolean break case catch char class const continue def default do double elif else
    elseif elsif end enum false finally float fn for from func function if impl import in int let
    local long match mut new nil not null of or and package private public return size_t static
    struct switch then throw true try unsigned use var void while""".split()  # noqa: SIM905
)


class Source(NamedTuple):
    """The text of a program; `is_python` chooses the tokenizer."""

    text: str
    is_python: bool


class Likeness(NamedTuple):
    """Two authors, and the weighted share of the shorter source that is also in the other."""

    first: str
    second: str
    share: float
    shingles: int

    @property
    def text(self) -> str:
        """Return the finding in one line."""
        return (
            f"{self.first} and {self.second}: {100 * self.share:.0f} % of the shorter source is in "
            f"the other one too ({self.shingles:,} sequences of {LENGTH} tokens; names, literals "
            "and comments do not count)"
        )


def tokens(source: Source) -> list[str]:
    """Return the tokens of a source, with one sign for all names and one for all literals."""
    if source.is_python:
        try:
            return list(_python_tokens(source.text))
        except (tokenize.TokenError, SyntaxError):  # broken Python has tokens all the same
            pass
    return list(_generic_tokens(source.text))


def _python_tokens(text: str) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME:
            yield token.string if keyword.iskeyword(token.string) else NAME
        elif token.type in LITERALS:
            yield LITERAL
        elif token.type not in IGNORED and not token.string.isspace():
            yield token.string


def _generic_tokens(text: str) -> Iterator[str]:
    for found in TOKEN.finditer(text):
        if found.lastgroup == "word":
            yield found[0] if found[0] in WORDS else NAME
        elif found.lastgroup in ("text", "number"):
            yield LITERAL
        elif found.lastgroup == "sign":
            yield found[0]


def shingles(source: Source) -> frozenset[tuple[str, ...]]:
    """Return the sequences of consecutive tokens in a source."""
    own = tokens(source)
    return frozenset(tuple(own[at : at + LENGTH]) for at in range(len(own) - LENGTH + 1))


def find_alike(sources: Mapping[str, Source]) -> list[Likeness]:
    """Return the pairs of authors with sources alike, the most similar first.

    A shingle weighs less the more programs have it, as words do in the search of texts.
    """
    own = {name: shingles(source) for name, source in sources.items()}
    counts = Counter(each for shingled in own.values() for each in shingled)
    most = max(MIN_COMMON, COMMON_SHARE * len(own))
    weights = {each: math.log1p(len(own) / n) for each, n in counts.items() if n <= most}
    rare = {name: own[name] & weights.keys() for name in own}
    total = {name: sum(weights[each] for each in rare[name]) for name in own}
    found = []
    for first, second in combinations(sorted(own), 2):
        if min(len(rare[first]), len(rare[second])) < MIN_SHINGLES:
            continue
        common = rare[first] & rare[second]
        share = sum(weights[each] for each in common) / min(total[first], total[second])
        if share >= ALIKE:
            found.append(Likeness(first, second, share, len(common)))
    return sorted(found, key=lambda each: (-each.share, each.first, each.second))


def join_pairs(pairs: Collection[Sequence[str]]) -> list[list[str]]:
    """Return the groups of names that pairs connect, in the order of their first names."""
    groups: list[set[str]] = []
    for pair in pairs:
        touching = [group for group in groups if group & {*pair}]
        groups = [group for group in groups if group not in touching]
        groups.append({*pair}.union(*touching))
    return sorted(sorted(group) for group in groups)
