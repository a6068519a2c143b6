"""The reference pages as Markdown."""

import argparse
import importlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from agents.registry import AGENTS, kind_of, kinds_for
from arena.analysis.checks.registry import CHECKS, check_kind
from arena.commands.registry import COMMANDS, load_command
from arena.config.checks import CLAIM_KEY
from arena.config.keys import EXPERIMENT_KEYS, ROSTER_KEYS, SPRT_KEYS, STOP_KEYS
from arena.config.run_options import SETTINGS_KEYS
from arena.learning.config import LEARN
from arena.planning.openings.registry import (
    COMMON_KEYS,
    OPENINGS,
    OpeningMethod,
    opening_method,
)
from arena.planning.schedules.registry import SCHEDULES, ScheduleMethod, schedule_method
from arena.report.glossary import GLOSSARY
from arena.tuning.ranges import RANGE
from arena.tuning.table import TUNE
from games import game
from games.base.errors import CHECK_FAILED, OK, UNFINISHED, USER_ERROR
from games.base.schema import Key
from games.base.text import format_value
from pitflip.__main__ import all_parsers

GENERATED = "<!-- Written by `python -m tools.reference`: change the code, not this page. -->"
STATUSES = {
    OK: "done; for a command with checks: all hold",
    CHECK_FAILED: "done, and the answer is no: a check failed, a bot has faults, a result differs",
    USER_ERROR: "a mistake in the command, a file or a bot; one line per mistake, and nothing was "
    "played",
    UNFINISHED: "not finished; finished work is stored, and the same command continues",
}
# The meaning of each example of a schedule and of openings, if its first key does not say it.
FORMS = {
    '"round_robin"': "each agent meets each other agent",
    '{ gauntlet = "a" }': "`a` meets each of the others",
    '"match"': "the two agents of a file with two agents",
    '{ match = ["a", "b"] }': "these two; other agents of the file do not play",
    '{ match = [["a", "b"], ["c", "d"]] }': "the two of each pair, in this order",
    "{ best = 1 }": "a race that finds the best agent (`best = 3`: the best three)",
    "{ rank = true }": "a race that finds the order of all agents",
    '{ place = "a" }': "a race that finds the place of `a` among the others",
    '"swiss"': "rounds of agents with about equal points",
    '"none"': "only the start of the game",
    "{ random_plies = 6 }": "distinct positions after 6 random moves (1 to 60)",
    "{ random_plies = [4, 10] }": "distinct positions after 4, 5, ... 10 random moves in turn",
    "{ enumerate = 2 }": "every position that 2 moves can reach (1 to 12)",
    '{ list = ["3 1", "2"] }': 'these, in the notation of the game (Othello: `["d3 c5"]`)',
    '{ exact = "draw" }': "random openings that are drawn under perfect play; "
    '`"win"`, `"loss"`: won or lost for side 0',
    "{ exact = 2 }": "random openings with a margin of at most 2 under perfect play",
}
SHARED_BY = 3  # commands that have an option before it is listed once
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
            _forms(("schedule", "agents that meet"), map(schedule_method, SCHEDULES)),
            _distinct(key for name in SCHEDULES for key in schedule_method(name).keys),
        ),
        KeyTable(
            "`openings`",
            "All matches play the same openings in the same order; two agents never play one "
            "twice.\n\n" + _forms(("openings", "list of openings"), map(opening_method, OPENINGS)),
            _distinct(
                [*(key for name in OPENINGS for key in opening_method(name).keys), *COMMON_KEYS]
            ),
        ),
        KeyTable("`[stop]`", "One of `sprt` and `width`.", STOP_KEYS),
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
        "An experiment is a TOML file. [Run an experiment](../how-to/run-an-experiment.md) shows "
        "how to write one. Options of agents are on [their page](agents.md), checks on "
        "[theirs](checks.md). [The JSON Schema](../experiment.schema.json) gives editors "
        "completion and errors."
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
    parts = [
        "# Kinds of agents",
        GENERATED,
        "The `kind` of an agent decides how it chooses moves. [How agents "
        "search](../explanation/search.md) explains depth, ties and values.",
    ]
    parts.append(markdown_table(("kind", "description", "games", "options"), rows))
    parts += ["## Options", _option_rows()]
    parts.append(
        "The default of a limit (`depth`, `nodes`, `seconds`) holds if none of the three is set."
    )
    return markdown_page(parts)


def checks_page() -> str:
    """Return the page of checks."""
    parts = [
        "# Checks",
        GENERATED,
        "[Check a claim](../how-to/check-a-claim.md) shows how to use them.",
    ]
    parts += ["Every check is a `[[checks]]` table. It has the key `that` and the keys of one "
    "section below.",
              _key_rows([CLAIM_KEY])]  # fmt: skip
    for name in CHECKS:
        module = importlib.import_module(CHECKS[name].partition(":")[0])
        form = '"A beats B"' if check_kind(name).compares else '"A" or "all"'
        about = (module.__doc__ or "").partition("\n")[0]
        parts += [f"## `{name}`", f"{about} `that = {form}`.".replace('`that = "A" or "all"`',
                  '`that = "A"` or `that = "all"`'), _key_rows(check_kind(name).keys)]  # fmt: skip
    return markdown_page(parts)


class CommandSection(NamedTuple):
    """The arguments of a command, or of one of its verbs, as (argument, meaning)."""

    heading: str
    about: str
    rows: Sequence[tuple[str, str]]


def commands_page() -> str:
    """Return the page of commands; options of several commands are listed once."""
    sections = [each for command in command_parsers() for each in _command_sections(*command)]
    common = Counter(row for each in sections for row in each.rows if "--" in row[0])
    shared = {row: _option_name(row) for row, times in common.items() if times >= SHARED_BY}
    parts = [
        "# Commands",
        GENERATED,
        "`pitflip COMMAND --help` prints the same with examples. [Exit "
        "statuses](exit-statuses.md) are on their own page.",
        "## Shared options",
        "These options have the same meaning in all commands that list them.",
        markdown_table(("argument", "meaning"), sorted(shared)),
    ]
    for heading, about, rows in sections:
        parts += [heading, about] if about else [heading]
        own = [row for row in rows if row not in shared]
        if own:
            parts.append(markdown_table(("argument", "meaning"), own))
        if also := [f"`{shared[row]}`" for row in rows if row in shared]:
            parts.append(f"Shared options: {', '.join(also)}.")
    return markdown_page(parts)


def _option_name(row: tuple[str, str]) -> str:
    return row[0].strip("`").split(",")[0].split()[0]


def command_parsers() -> Iterable[tuple[str, str, argparse.ArgumentParser]]:
    """Yield every command with its summary and its parser."""
    parser = all_parsers()
    (verbs,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    for name, own in verbs.choices.items():
        yield name, COMMANDS[name].summary, own


def _command_sections(
    name: str, about: str, parser: argparse.ArgumentParser, level: str = "##"
) -> Iterable[CommandSection]:
    """Yield the section of a command and those of its verbs."""
    rows, verbs = [], []
    for action in parser._actions:  # argparse has no public list of them
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            verbs += [(f"{name} {word}", helps[word], own) for word, own in action.choices.items()]
        elif not isinstance(action, argparse._HelpAction) and action.help != argparse.SUPPRESS:
            rows.append((_words_of(action), _meaning(action)))
    sentence = f"{about[:1].upper()}{about[1:]}." if about else ""
    yield CommandSection(f"{level} {name}", sentence, rows)
    for verb in verbs:
        yield from _command_sections(*verb, level="###")


def _meaning(action: argparse.Action) -> str:
    """Return the help of an argument, with its default."""
    text, default = action.help or "", action.default
    hidden = isinstance(default, bool) or default in (None, "", [], argparse.SUPPRESS)
    return text if hidden or "(default" in text else f"{text} (default: {default})"


def _words_of(action: argparse.Action) -> str:
    if action.choices is not None:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    else:
        named = action.metavar or action.dest
        value = " ".join(named) if isinstance(named, tuple) else str(named)
        value = value if action.metavar else value.upper()
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


def exit_statuses_page() -> str:
    """Return the page of exit statuses, from the texts below --help."""
    rows = []
    for name in COMMANDS:
        epilog = " ".join(load_command(name).EPILOG.split("\n\n")[0].split())
        _, found, text = epilog.partition("exit status: ")
        if found:
            statuses = dict(re.findall(r"(\d) (.*?)(?=; \d |$)", text))
            rows.append([f"`{name}`", *(statuses.get(status, "") for status in "0123")])
    parts = ["# Exit statuses", GENERATED]
    parts.append("Every command ends with one of four statuses.")
    general = ("status", "meaning"), [(f"{status}", text) for status, text in STATUSES.items()]
    parts += [markdown_table(*general), "## By command"]
    return markdown_page([*parts, markdown_table(("command", *"0123"), rows)])


def glossary_page() -> str:
    """Return the page of words, which every page of a run shows too."""
    parts = ["# Glossary", GENERATED]
    parts.append(
        "Every word that the terminal, the page of a run and the tables use in a special sense. "
        "[Statistics](../explanation/statistics.md) explains the statistical words with examples, "
        "[the rules](rules.md) those of the games."
    )
    for title, words in GLOSSARY.items():
        parts += [f"## {title}", markdown_table(("word", "meaning"), words.items())]
    return markdown_page(parts)


def _forms(head: Sequence[str], methods: Iterable[ScheduleMethod | OpeningMethod]) -> str:
    """Return a table of the forms of a key, with their meanings."""
    rows = [
        (f"`{text}`", FORMS.get(text) or method.keys[0].description)
        for method in methods
        for text in method.examples
    ]
    return markdown_table(head, rows)


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
