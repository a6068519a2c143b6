"""The Kalah Game Protocol as text: commands with ids and references, and boards."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from games import Position

COMMAND = re.compile(
    r"\s*(?P<id>[0-9]{1,15})?(?:@(?P<ref>[0-9]{1,15}))?\s*(?P<name>[A-Za-z][\w:-]*)(?P<rest>.*)",
    re.DOTALL,
)
ARGUMENT = re.compile(r'\s*(?:"(?P<text>(?:[^"\\]|\\.)*)"|(?P<board><[0-9,]*>)|(?P<word>[^\s"<]+))')
ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class KgpCommand(NamedTuple):
    """One line; `id` and `ref` are 0 where there is none."""

    id: int
    ref: int
    name: str
    arguments: tuple[str, ...]


def command_of(line: str) -> KgpCommand | None:
    """The command in a line, words with or without quotes; None if it does not parse."""
    found = COMMAND.fullmatch(line)
    if not found:
        return None
    arguments, rest = [], found["rest"].rstrip()
    while rest:
        argument = ARGUMENT.match(rest)
        if not argument:
            return None
        text = argument["text"]
        plain = text is None
        arguments.append(argument[0].strip() if plain else ESCAPED.sub(_unescaped, text))
        rest = rest[argument.end() :]
    return KgpCommand(
        int(found["id"] or 0), int(found["ref"] or 0), found["name"], tuple(arguments)
    )


def _unescaped(found: re.Match[str]) -> str:
    return "\n" if found[1] == "n" else found[1]


def line_of_command(number: int, name: str, *arguments: str, ref: int = 0) -> str:
    """A line with its id, its reference if it answers something, and its end."""
    place = f"{number}@{ref}" if ref else str(number)
    return " ".join([place, name, *arguments]) + "\r\n"


def in_quotes(text: str) -> str:
    """A string argument."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def board_text(rows: Any, south_moves: bool = True) -> str:
    """A board as the protocol writes it; the mover is South unless it says otherwise."""
    south, north = (rows.own_pot, rows.own), (rows.other_pot, rows.other)
    if not south_moves:
        south, north = north, south
    numbers = (len(rows.own), south[0], north[0], *south[1], *north[1])
    return f"<{','.join(map(str, numbers))}>"


def board_numbers(text: str) -> Sequence[int] | None:
    """Size, both pots and both rows, South's first; None if it is no board."""
    if not re.fullmatch(r"<[0-9]{1,9}(?:,[0-9]{1,9})*>", text):
        return None
    numbers = [int(word) for word in text[1:-1].split(",")]
    return numbers if len(numbers) == 2 * numbers[0] + 3 else None


def position_text(numbers: Sequence[int]) -> str:
    """The board with South to move, as our games write it."""
    size, south_pot, north_pot, *holes = numbers
    south, north = holes[:size], holes[size:]
    rows = [" ".join(map(str, row)) for row in (south, north[::-1])]
    return f"S {rows[0]}, N {rows[1]}, pots {south_pot}-{north_pot}, South to move"


def rows_by_side(rows: Any, position: Position) -> str:
    """The board of a position, with South where South is."""
    return board_text(rows, south_moves=position.side == 0)
