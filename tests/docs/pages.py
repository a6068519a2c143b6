"""The pages as a test reads them: blocks in their order, commands with the answers shown."""

import re
import textwrap
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCED = re.compile(r"^( *)```([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
# The first comment of a block names the file that it is.
NAMED = re.compile(r"# ([\w./-]+\.(?:py|toml))$")


class Block(NamedTuple):
    """One fenced block of a page."""

    page: str
    line: int
    language: str
    text: str

    @property
    def file(self) -> str | None:
        """The file that it shows whole, if it names one."""
        named = NAMED.match(self.text.partition("\n")[0])
        return named and named[1]


class Command(NamedTuple):
    """A command of a page; `answer` is None where the page shows none."""

    line: str
    answer: str | None


def name_of(page: Path) -> str:
    """A page's name in a report."""
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    text = page.read_text()
    return [
        Block(
            name_of(page),
            text.count("\n", 0, found.start()) + 1,
            found[2],
            textwrap.dedent(found[3]),
        )
        for found in FENCED.finditer(text)
    ]


def commands(block: Block) -> list[Command]:
    """The commands of a block, without remarks."""
    if block.language == "console":
        shown = [part.partition("\n") for part in block.text.split("$ ")[1:]]
        return [Command(line, answer) for line, _, answer in shown]
    lines = (line.partition(" #")[0].strip() for line in block.text.splitlines())
    return [Command(line, None) for line in lines if line and not line.startswith("#")]


def inline_commands(page: Path) -> list[str]:
    """The commands in the running text and in tables."""
    prose = FENCED.sub("", page.read_text())
    return re.findall(r"`(python -m [^`]+)`", prose)
