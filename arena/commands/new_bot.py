"""Begin a bot that works, in a language of your choice: pitflip new-bot my_bot.py."""

import argparse
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from agents.languages import LANGUAGES
from games.base.cli import CommandParser, shell_command
from games.base.errors import OK, UserError, print_lines, run, status_of
from games.base.files import write_text
from games.base.text import listed, quote

HOME = Path(__file__).parents[2]
PLACES = (HOME / "experiments" / "bots", HOME / "arena" / "shipped_experiments" / "bots")
HEURISTIC = "heuristic"
# What a start is a copy of.
STARTS: Mapping[str, str] = {
    "python": "my_bot.py",
    "lines": "line_bot.py",
    "javascript": "line_bot.js",
    "c": "line_bot.c",
    "java": "LineBot.java",
    "shell": "line_bot.sh",
    HEURISTIC: "my_heuristic.py",
}


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandParser(
        prog="pitflip new-bot",
        description="Write a bot, or a heuristic, that plays at once: change it and check it.",
        epilog="lines: Python that speaks the line protocol, as every other language does; "
        "heuristic: an evaluation for our search",
    )
    parser.add_argument("file", type=Path, help="of the new bot, such as my_bot.py or my_bot.js")
    parser.add_argument("--language", choices=STARTS, help="else that of the file's ending")
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command; 2 if there is such a file already."""
    chosen = arguments().parse_args(words)
    return status_of("pitflip new-bot", lambda: begun(chosen.file, chosen.language))


def begun(path: Path, language: str | None) -> int:
    """Write the start, and say what to do with it; the exit status."""
    start = template_for(path, language)
    if path.exists():
        raise UserError(f"{quote(str(path))} is there already; nothing was written")
    if not path.parent.is_dir():
        raise UserError(f"there is no directory {quote(str(path.parent))}")
    write_text(path, rename_identifier(start.read_text(), start.stem, path.stem))
    word = path if path.parent.name else f"./{path}"
    second = f"{word}:evaluate" if start.name == STARTS[HEURISTIC] else word
    play = f'pitflip play "kalah(6,4)" --second {shlex.quote(str(second))}'
    print_lines(
        f"wrote {path}",
        f"to check it: {shell_command(f'pitflip check {shlex.quote(str(path))}')}",
        f"to play it:  {shell_command(play)}",
    )
    return OK


def template_for(path: Path, language: str | None) -> Path:
    """The file that a new one is a copy of."""
    if language is None:
        of_ending = LANGUAGES.get(path.suffix.lower())
        language = of_ending.name if of_ending else ""
    if language not in STARTS:
        raise UserError(
            f"no start is written in the language of {quote(path.name)}: say --language "
            f"({listed(STARTS)})"
        )
    start = STARTS[language]
    if path.suffix.lower() != Path(start).suffix:
        raise UserError(
            f"a file of {language} ends in {Path(start).suffix}, got {quote(path.name)}"
        )
    return next(place for place in PLACES if place.is_dir()) / start


def rename_identifier(text: str, old: str, new: str) -> str:
    """The text with the new name in place of the old one, where that is a name of its own."""
    name = re.sub(r"\W", "_", new)
    return re.sub(rf"\b{old}\b", f"_{name}" if name[0].isdigit() else name, text)


if __name__ == "__main__":
    run(main)
