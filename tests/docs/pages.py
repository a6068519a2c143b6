"""The blocks and commands of the docs."""

import re
import textwrap
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
AT_THE_TOP = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
PAGES = [*AT_THE_TOP, *sorted((ROOT / "docs").rglob("*.md"))]
FENCED = re.compile(r"^( *)```([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
# The first comment of a block names its file, or a place in a file.
NAMED = re.compile(r"# ([\w./-]+\.(?:py|toml))$")
PLACED = re.compile(r"# ([\w./-]+\.py): (one line in|first line in|before) (\w+)$")
OURS = ("games/", "agents/", "arena/", "benchmarks/", "tests/")


def in_table(source: str, table: str, line: str) -> str:
    """Return the source with one more line at the end of a table."""
    (head, body, close, tail) = re.fullmatch(
        rf"(.*^{table}\b[^\n]*?= [^\n]*?[{{(\[])(.*?)(\n?[}})\]]\n)(.*)",
        source,
        re.MULTILINE | re.DOTALL,
    ).groups()
    if body.startswith("\n"):
        return f"{head}{body}\n{line.rstrip()}{close}{tail}"
    return f"{head}{body}, {line.strip().rstrip(',')}{close}{tail}"


def first_in_table(source: str, table: str, line: str) -> str:
    """Return the source with one more line at the start of a table."""
    head, found, tail = re.split(rf"(^{table}\b[^\n]*?= {{\n)", source, maxsplit=1, flags=re.M)
    return f"{head}{found}{line.rstrip()}\n{tail}"


def before(source: str, word: str, lines: str) -> str:
    """Return the source with lines before the line that starts with `word`."""
    head, found, tail = source.partition(f"\n{word} ")
    assert found, f"no line begins with {word}"
    return f"{head}\n{lines.rstrip()}\n\n{found}{tail}"


CHANGES = {"one line in": in_table, "first line in": first_in_table, "before": before}


class Block(NamedTuple):
    """One fenced block of a page."""

    page: str
    line: int
    language: str
    text: str

    @property
    def file(self) -> str | None:
        """The file that the block contains, if it names one."""
        named = NAMED.match(self.text.partition("\n")[0])
        return named and named[1]

    @property
    def place(self) -> tuple[str, str, str] | None:
        """The file that the block changes, how, and the name at the place."""
        placed = PLACED.match(self.text.partition("\n")[0])
        return placed and (placed[1], placed[2], placed[3])

    def write(self, tree: Path) -> None:
        if self.file:
            path = tree / self.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.text)
        elif self.place:
            name, how, word = self.place
            addition = self.text.partition("\n")[2]
            path = tree / name
            path.write_text(CHANGES[how](path.read_text(), word, addition))


class Command(NamedTuple):
    """A command of a page; `answer` is None if the page shows none."""

    line: str
    answer: str | None


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[Block]:
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
    if block.language == "console":
        shown = [part.partition("\n") for part in block.text.split("$ ")[1:]]
        return [Command(line, answer) for line, _, answer in shown]
    lines = (line.partition(" #")[0].strip() for line in block.text.splitlines())
    return [Command(line, None) for line in lines if line and not line.startswith("#")]


def inline_commands(page: Path) -> list[str]:
    prose = FENCED.sub("", page.read_text())
    return re.findall(r"`((?:python -m|pitflip) (?!-|completion)[^`]+)`", prose)


def changes_ours(page: Path) -> bool:
    """Return whether a page is a recipe that changes our packages."""
    if page.parent.name != "contribute":
        return False
    names = [block.file or (block.place or ("",))[0] for block in blocks(page)]
    return any(name.startswith(OURS) for name in names)
