"""What was tried and what became of it, as a table of Markdown."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from tests.marked_page import put_between

BEGIN, END = "<!-- fuzz: begin -->", "<!-- fuzz: end -->"
SORTS = {
    "file": "files and words, in process",
    "command": "commands",
    "bot": "protocols, both ways",
}


class Line(Protocol):
    """What was tried of one target with one seed."""

    @property
    def sort(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def inputs(self) -> int: ...
    @property
    def lines(self) -> int: ...
    @property
    def finding(self) -> str: ...
    @property
    def code(self) -> str: ...


def printed(lines: Sequence[Line]) -> str:
    """A row for each target and for each sort, with how much was tried and what broke a law."""
    inputs, sent, findings = Counter[str](), Counter[str](), Counter[str]()
    sorts = {line.name: line.sort for line in lines}
    for line in lines:
        for name in (line.name, SORTS[line.sort]):
            inputs[name] += line.inputs
            sent[name] += line.lines if line.sort == "bot" else 0
            findings[name] += bool(line.finding)
    names = [
        name
        for sort, title in SORTS.items()
        if sort in sorts.values()
        for name in (f"**{title}**", *(each for each in sorts if sorts[each] == sort))
    ]
    rows = [["what reads", "inputs", "lines", "that broke the law"], ["---"] * 4]
    for name in names:
        key = name.strip("*")
        said = f"{sent[key]:,}" if sent[key] else ""
        rows.append([name, f"{inputs[key]:,}", said, f"{findings[key]:,}"])
    codes = ", ".join(sorted({f"`{line.code}`" for line in lines}))
    head = f"{sum(line.inputs for line in lines):,} inputs, of the code {codes}."
    return "\n".join([head, "", *(f"| {' | '.join(row)} |" for row in rows)])


def into(page: Path, text: str) -> None:
    """Put the table between the marks of a page."""
    put_between(page, BEGIN, END, text)
