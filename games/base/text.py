"""Safe text for messages: escaped, quoted, shortened, with suggestions."""

import difflib
import itertools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from games.base.errors import UserError, printable

# Words of other programs -> our names, the best first. At most 40 entries: similar spellings do
# not need one.
SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "games": ("pairs",),
    "rounds": ("pairs",),
    "matches": ("pairs", "schedule"),
    "n_games": ("pairs",),
    "random_state": ("seed",),
    "board": ("game", "hole", "disc_at"),
    "size": ("game", "hole", "disc_at"),
    "variant": ("game",),
    "players": ("agents",),
    "player1": ("agents",),
    "player2": ("agents",),
    "bots": ("agents",),
    "start_position": ("openings",),
    "book": ("openings",),
    "format": ("schedule",),
    "sprt": ("stop",),
    "tests": ("checks",),
    "timeout": ("move_seconds", "seconds"),
    "time": ("seconds", "move_seconds"),
    "tc": ("game_time",),
    "type": ("kind",),
    "engine": ("kind",),
    "plies": ("depth",),
    "lookahead": ("depth",),
    "simulations": ("nodes",),
    "heuristic": ("evaluate",),
    "program": ("command",),
    "path": ("file", "command"),
    "params": ("options", "weights"),
    "hash": ("table_bits",),
    "ram": ("memory",),
    "noise": ("epsilon",),
    "badplayer": ("random",),
    "smartplayer": ("smart",),
    "mcts": ("python",),
    "cpp": ("lines",),
    "uci": ("lines",),
    "solver": ("perfect",),
    "beans": ("hole",),
    "own": ("hole", "disc_at"),
}
MAX_QUOTE = 80  # characters of a user's text in a message
NEAR = 0.5  # minimal similarity of two words, from 0 to 1
MISTYPED = 0.7  # the same, for places where a wrong suggestion would mislead
FEW = 4  # items of a list in a message
# A quoted path may contain blanks; any other path ends at the first delimiter.
QUOTED = re.compile(r"""(["'`])(/[^"'`\n]*/[^"'`\n]*)\1""")
END = r"\s/\"'`<>|;:,()\[\]{}&"
PLAIN = re.compile(rf"(?<![\w./<~-])/(?:[^{END}]+/)+[^{END}]*")


def synonym_of(word: str, names: Collection[str]) -> str | None:
    """Return the name for which the word is a known synonym; None if there is none."""
    ours = SYNONYMS.get(word.strip().lower().replace(" ", "_"), ())
    return next((name for name in ours if name in names), None)


class GameError(UserError, ValueError):
    """A game, parameter or position that does not exist."""


def join_names(names: Iterable[object]) -> str:
    """Return the names separated by commas."""
    return ", ".join(str(name) for name in names)


def quote(text: str) -> str:
    """Return a user's text for a message: quoted, on one line, shortened."""
    short = text if len(text) <= MAX_QUOTE else f"{text[: MAX_QUOTE - 3]}..."
    return f'"{repr(short)[1:-1]}"'


def format_value(value: object) -> str:
    """Return a value for a message: as TOML, on one line, shortened."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, dict):
        return f"a table of {_first_items(map(printable, value))}" if value else "an empty table"
    if isinstance(value, list | tuple):
        return f"[{_first_items(map(format_value, value))}]"
    return printable(str(value), MAX_QUOTE)


def _first_items(words: Iterable[str]) -> str:
    """Return the first items of a list on one line."""
    first = list(itertools.islice(words, FEW + 1))
    return ", ".join([word[:MAX_QUOTE] for word in first[:FEW]] + ["..."] * (len(first) > FEW))


def nearest_name(word: str, names: Iterable[str], near: float = NEAR) -> str:
    """Return the name that is a synonym of `word` or similar to it; empty if there is none."""
    known = list(names)
    typed = word[:MAX_QUOTE]
    close = (difflib.get_close_matches(form, known, 1, near) for form in (typed, typed.lower()))
    return synonym_of(word, known) or next((matches[0] for matches in close if matches), "")


def did_you_mean_file(path: Path, pattern: str = "*") -> str:
    """Return `; did you mean "…"?` with the file in the same directory whose name is most similar.

    Suffixes do not count: they make all names alike.
    """
    files = [file for file in path.parent.glob(pattern) if file.is_file()]
    files.sort(key=lambda file: (file.suffix == path.suffix, file.name))
    names = {file.stem: file.name for file in files}
    nearest = names.get(nearest_name(path.stem, names, MISTYPED))
    return f"; did you mean {quote(nearest)}?" if nearest else ""


def did_you_mean(word: object, names: Iterable[str], near: float = NEAR) -> str:
    """Return `; did you mean "…"?` with the most similar name; empty if there is none."""
    nearest = nearest_name(word, names, near) if isinstance(word, str) else ""
    return f"; did you mean {quote(nearest)}?" if nearest else ""


def parse_game_name(text: str) -> tuple[str, list[str]]:
    """Split `kalah(6,4,swap=yes)` into its name and its arguments, in lower case."""
    found = re.fullmatch(r"\s*([^()\s]+)\s*(?:\(([^()]*)\))?\s*", text.lower())
    if not found:
        raise GameError(f'a game is written like "kalah(6,4)", got {quote(text)}')
    name, inside = found.groups()
    arguments = [word.strip() for word in inside.split(",")] if inside and inside.strip() else []
    return name, arguments


def parse_arguments(
    name: str, arguments: Sequence[str], positional: Sequence[str], known: Sequence[str]
) -> dict[str, str]:
    """Return arguments by parameter name: first `positional` ones, then `key=value`."""
    given: dict[str, str] = {}
    for place, word in enumerate(arguments):
        key, equals, value = (part.strip() for part in word.partition("="))
        if not equals:
            if place >= len(positional):
                raise GameError(
                    f"{name} takes {join_names(positional)} and then key=value, got "
                    f"{quote(word)} in place {place + 1}"
                )
            key, value = positional[place], key
        if key not in known:
            raise GameError(
                f"{name} has no parameter {quote(key)} (there are {join_names(known)})"
                f"{did_you_mean(key, known)}"
            )
        if key in given:
            twice = f"{quote(given[key])} and {quote(value)}"
            raise GameError(f"{name}: {key} is given twice, {twice}")
        given[key] = value
    return given


def parse_whole_number(name: str, key: str, text: str, allowed: Sequence[int]) -> int:
    """Parse a number in `allowed`, which ascends in equal steps."""
    number = int(text) if re.fullmatch(r"[+-]?[0-9]{1,60}", text) else None
    if number is None or number not in allowed:
        step = allowed[1] - allowed[0] if len(allowed) > 1 else 1
        kind = "a whole number" if step == 1 else "an even number"
        nearest = "" if number is None else f"; the nearest is {_nearest(number, allowed)}"
        span = f"{kind} from {allowed[0]} to {allowed[-1]}"
        raise GameError(f"{name}: {key} must be {span}, got {quote(text)}{nearest}")
    return number


def _nearest(number: int, allowed: Sequence[int]) -> int:
    """Return the nearest allowed number without a search, because there may be millions."""
    step = allowed[1] - allowed[0] if len(allowed) > 1 else 1
    place = (2 * (number - allowed[0]) + step - 1) // (2 * step)
    return allowed[max(0, min(place, len(allowed) - 1))]


def parse_choice(name: str, key: str, text: str, allowed: Mapping[str, object]) -> str:
    """Return `text` if it is one of the `allowed` words."""
    if text not in allowed:
        raise GameError(
            f"{name}: {key} must be one of {join_names(allowed)}, got {quote(text)}"
            f"{did_you_mean(text, allowed)}"
        )
    return text


def count_noun(number: int, noun: str) -> str:
    """Return a count with its noun: `1 game`, `2,000 games`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def without_machine_paths(text: str, base: Path) -> str:
    """Return the text with paths relative to `base`, and other paths as their last name only."""
    bases = [path.as_posix().rstrip("/") for path in dict.fromkeys((base, base.resolve()))]
    for prefix in bases:
        if prefix.startswith("/"):
            text = re.sub(
                rf"{re.escape(prefix)}(/|(?![\w.-]))", lambda at: "" if at[1] else ".", text
            )
    text = QUOTED.sub(lambda found: found[1] + PurePosixPath(found[2]).name + found[1], text)
    return PLAIN.sub(lambda found: PurePosixPath(found[0]).name, text)
