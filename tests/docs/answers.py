"""Compare the output of a command with its page, except for what differs between runs."""

import re

# Lines of waiting commands on a slow machine.
WAITS = (
    "pitflip: compiling .*",
    "getting ready.*",
    "thinking, .*",
    "searching each move alone, .*",
    "starting .*",
    r"pilot: [\d,]+ games so far",
    r"pitflip \w+: working, \d+ s",
)


def matches(answer: str, text: str) -> bool:
    """Return whether `text` is the answer; `...` and a `<word>` stand for anything."""
    return re.fullmatch(pattern(answer), comparable(text) + "\n") is not None


def comparable(text: str) -> str:
    """Return an answer without speeds and progress lines."""
    text = re.sub(rf"^({'|'.join(WAITS)})\n", "", text, flags=re.MULTILINE)
    # A busy machine prints the progress of a proof.
    text = re.sub(r"^.* after \d+ s, [\d.,]+ M positions\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^building the endgame database .*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^([\d,]+) of (?!\1 )[\d,]+ games, .*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r'("nodes_per_second": )\d+', r"\1-", text)
    text = re.sub(r"^( +\d+ +[\d,]+ +[\d,]+) +[\d,]+$", r"\1 -", text, flags=re.MULTILINE)
    text = re.sub(r"[\d,]+ games/s", "- games/s", text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def pattern(answer: str) -> str:
    lines = comparable(answer).split("\n")
    return "".join(r"(?:.*\n)*?" if line == "..." else line_pattern(line) for line in lines)


def line_pattern(line: str) -> str:
    exact = re.sub(r"<\w+>", r"\\S+", re.escape(line))
    if "<" in line:  # a table whose columns are as wide as what the word stands for
        exact = re.sub(r"(\\ ){2,}", r" +", exact)
    return re.sub(r"\\\.\\\.\\\.$", ".*", exact) + r"\n"
