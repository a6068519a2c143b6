"""Whether a command answers as its page says: all but what differs from run to run."""

import re

# Lines of commands that have to wait, on a slow machine.
WAITS = (
    "pitflip: compiling .*",
    "getting ready.*",
    "thinking, .*",
    "searching each move alone, .*",
    "starting .*",
    r"pilot: [\d,]+ games so far",
)


def matches(answer: str, text: str) -> bool:
    """Whether `text` is the answer shown; `...` and a `<word>` stand for anything."""
    return re.fullmatch(pattern(answer), comparable(text) + "\n") is not None


def comparable(text: str) -> str:
    """An answer without what differs from run to run: speeds, and lines printed on the way."""
    text = re.sub(rf"^({'|'.join(WAITS)})\n", "", text, flags=re.MULTILINE)
    # A busy machine takes long enough to be told how far a proof has come.
    text = re.sub(r"^.* after \d+ s, [\d.,]+ M positions\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^building the endgame database .*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^([\d,]+) of (?!\1 )[\d,]+ games, .*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r'("nodes_per_second": )\d+', r"\1-", text)
    text = re.sub(r"^( +\d+ +[\d,]+ +[\d,]+) +[\d,]+$", r"\1 -", text, flags=re.MULTILINE)
    text = re.sub(r"[\d,]+ games/s", "- games/s", text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def pattern(answer: str) -> str:
    """What the answer on a page stands for."""
    lines = comparable(answer).split("\n")
    return "".join(r"(?:.*\n)*?" if line == "..." else line_pattern(line) for line in lines)


def line_pattern(line: str) -> str:
    """What one line stands for."""
    exact = re.sub(r"<\w+>", r"\\S+", re.escape(line))
    return re.sub(r"\\\.\\\.\\\.$", ".*", exact) + r"\n"
