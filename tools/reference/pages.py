"""The reference pages as Markdown."""

import argparse
import importlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from agents.registry import AGENTS, kind_of, kinds_for
from arena.analysis.checks.registry import CHECKS, check_kind
from arena.commands.registry import COMMANDS
from arena.config.checks import CLAIM_KEY
from arena.config.keys import EXPERIMENT_KEYS, ROSTER_KEYS, SPRT_KEYS
from arena.config.run_options import SETTINGS_KEYS
from arena.learning.config import LEARN
from arena.planning.openings.registry import COMMON_KEYS, OPENINGS, opening_method
from arena.planning.schedules.registry import SCHEDULES, schedule_method
from arena.tuning.ranges import RANGE
from arena.tuning.table import TUNE
from games import game
from games.base.schema import Key
from games.base.text import format_value
from pitflip.__main__ import all_parsers

GENERATED = "<!-- Written by `python -m tools.reference`: change the code, not this page. -->"
GAMES = ("kalah(6,4)", "owari(6,4)", "othello(8)", "othello(6)")


class KeyTable(NamedTuple):
    """The keys of one table of a file, under a heading."""

    heading: str
    about: str
    keys: Sequence[Key]


def key_tables() -> list[KeyTable]:
    """Return all tables of keys but those of agents and checks."""
    return [
        KeyTable("Top level", "Keys above the first `[table]` of a file.", EXPERIMENT_KEYS),
        KeyTable(
            "`schedule`",
            f"One of {_forms(schedule_method(name).examples for name in SCHEDULES)}.",
            _distinct(key for name in SCHEDULES for key in schedule_method(name).keys),
        ),
        KeyTable(
            "`openings`",
            f"One of {_forms(opening_method(name).examples for name in OPENINGS)}.",
            _distinct(
                [*(key for name in OPENINGS for key in opening_method(name).keys), *COMMON_KEYS]
            ),
        ),
        KeyTable("`[stop.sprt]`", "A sequential test of two agents.", SPRT_KEYS),
        KeyTable("`[roster]`", "A directory of bots, each an agent.", ROSTER_KEYS),
        KeyTable("`[tune]`", "Read by `pitflip tune`.", TUNE),
        KeyTable("`[tune.validation]`", "", _inside(TUNE, "validation")),
        KeyTable("Ranges", "The values of `[tune.weights]` and `[tune.options]` as tables.", RANGE),
        KeyTable("`[learn]`", "Read by `pitflip learn`.", LEARN),
        KeyTable("`[learn.match]`", "", _inside(LEARN, "match")),
        KeyTable(
            "`[cluster]`",
            "In `~/.config/pitflip/settings.toml`, the settings of a user.",
            _inside(SETTINGS_KEYS, "cluster"),
        ),
    ]


def experiment_page() -> str:
    """Return the page of experiment files."""
    parts = ["# Keys of an experiment file", GENERATED]
    parts.append(
        "[The experiment file](../experiment-file.md) explains them. Options of agents are on "
        "[their page](agents.md), checks on [theirs](checks.md)."
    )
    for table in key_tables():
        parts += [f"## {table.heading}", *filter(None, [table.about]), _key_rows(table.keys)]
    return markdown_page(parts)


def agents_page() -> str:
    """Return the page of agent kinds and their options."""
    games = [game(name) for name in GAMES]
    players = {of.name: kinds_for(of) for of in games}
    rows = []
    for name in AGENTS:
        plays = [of for of, kinds in players.items() if name in kinds]
        text = "all" if len(plays) == len(games) else ", ".join(plays)
        docstring = (kind_of(name).build.__doc__ or "").partition("\n")[0].rstrip(".")
        about = kind_of(name).summary or docstring[:1].lower() + docstring[1:]
        options = ", ".join(f"`{key.name}`" for key in kind_of(name).options)
        rows.append((f"`{name}`", about, text, options))
    parts = ["# Kinds of agents", GENERATED, "[Agents](../agents.md) explains them."]
    parts.append(markdown_table(("kind", "description", "games", "options"), rows))
    parts += ["## Options", _option_rows()]
    parts.append(
        "The default of a limit (`depth`, `nodes`, `seconds`) holds where none of the three is set."
    )
    return markdown_page(parts)


def checks_page() -> str:
    """Return the page of checks."""
    parts = ["# Checks", GENERATED, "[Checks](../checks.md) explains them."]
    parts += ["Every check is a table below `[[checks]]` with these keys and one of the next.",
              _key_rows([CLAIM_KEY])]  # fmt: skip
    for name in CHECKS:
        module = importlib.import_module(CHECKS[name].partition(":")[0])
        form = '"A beats B"' if check_kind(name).compares else '"A" or "all"'
        about = (module.__doc__ or "").partition("\n")[0]
        parts += [f"## `{name}`", f"{about} `that = {form}`.".replace('`that = "A" or "all"`',
                  '`that = "A"` or `that = "all"`'), _key_rows(check_kind(name).keys)]  # fmt: skip
    return markdown_page(parts)


def commands_page() -> str:
    """Return the page of commands, from their parsers."""
    parts = [
        "# Commands",
        GENERATED,
        "The option `--help` of a command prints the same with examples.",
    ]
    for name, about, parser in command_parsers():
        parts += [f"## {name}", f"{about[:1].upper()}{about[1:]}."]
        parts += list(_parser_parts(parser, name))
    return markdown_page(parts)


def command_parsers() -> Iterable[tuple[str, str, argparse.ArgumentParser]]:
    """Yield every command with its summary and its parser."""
    parser = all_parsers()
    (verbs,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    for name, own in verbs.choices.items():
        yield name, COMMANDS[name].summary, own


def _parser_parts(parser: argparse.ArgumentParser, name: str) -> Iterable[str]:
    rows = []
    for action in parser._actions:  # argparse has no public list of them
        if isinstance(action, argparse._SubParsersAction):
            for word, own in action.choices.items():
                yield f"### {name} {word}"
                yield from _parser_parts(own, f"{name} {word}")
        elif not isinstance(action, argparse._HelpAction) and action.help != argparse.SUPPRESS:
            default = action.default
            shown = (
                ""
                if isinstance(default, bool) or default in (None, [], argparse.SUPPRESS)
                else f"`{default}`"
            )
            rows.append((_words_of(action), shown, action.help or ""))
    if rows:
        yield markdown_table(("argument", "default", "meaning"), rows)


def _words_of(action: argparse.Action) -> str:
    if action.choices is not None:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    else:
        named = action.metavar or action.dest
        value = " ".join(named) if isinstance(named, tuple) else str(named)
        value = value if action.option_strings or action.metavar else value.upper()
    if not action.option_strings:
        return f"`{value}`"
    takes = "" if action.nargs == 0 else f" {value}"
    return f"`{', '.join(action.option_strings)}{takes}`"


def _option_rows() -> str:
    """Return a row for each option and default, with the kinds that have them."""
    kinds: dict[tuple[str, str, str, str], list[str]] = {}
    names: list[str] = []
    for kind in AGENTS:
        for key in kind_of(kind).options:
            kinds.setdefault(_cells(key), []).append(f"`{kind}`")
            names.append(f"`{key.name}`")
    order = {name: at for at, name in reversed(list(enumerate(names)))}
    rows = sorted(kinds.items(), key=lambda row: order[row[0][0]])
    return markdown_table(
        ("option", "type", "default", "meaning", "kinds"),
        [(*cells, ", ".join(having)) for cells, having in rows],
    )


def _key_rows(keys: Iterable[Key]) -> str:
    return markdown_table(("key", "type", "default", "meaning"), [_cells(key) for key in keys])


def _cells(key: Key) -> tuple[str, str, str, str]:
    """Return name, type, default and meaning of a key."""
    if key.required:
        default = "required"
    elif callable(key.default):
        default = "depends on the game"
    elif key.default is None or key.default == ():
        default = ""
    else:
        default = f"`{format_value(key.default)}`"
    kind = "" if key.type == "any" and not key.choices else key.describe_allowed().rstrip(",")
    return f"`{key.name}`", kind, default, key.description


def _forms(examples: Iterable[Sequence[str]]) -> str:
    return ", ".join(f"`{text}`" for several in examples for text in several)


def _distinct(keys: Iterable[Key]) -> list[Key]:
    """Return the keys that differ in name or meaning."""
    return list({(key.name, key.describe_allowed(), key.description): key for key in keys}.values())


def _inside(keys: Iterable[Key], name: str) -> Sequence[Key]:
    return next(key.keys for key in keys if key.name == name)


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in r] for r in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def markdown_page(parts: Iterable[str]) -> str:
    """Return a page of these paragraphs."""
    return "\n\n".join(parts) + "\n"
