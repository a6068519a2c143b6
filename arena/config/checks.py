"""Read the `[[checks]]` tables of an experiment."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from agents.core import AgentSpec
from arena.analysis.checks.registry import ALL, BEATS, CHECKS, Check, check_kind
from arena.config.keys import top_level_hint
from arena.config.toml_file import Problems
from arena.planning.schedules.registry import unknown_agent_message
from games.base.schema import Key, Place, read_table
from games.base.text import format_value, join_names, quote

Matches = Sequence[tuple[int, int]]
CLAIM_KEY = Key(
    "that",
    "text",
    'the agents of the claim: "A beats B", "A" or "all"',
    required=True,
    example=', as in that = "smart beats bad"',
)


class CheckContext(NamedTuple):
    """The agents and matches of an experiment; `matches` is None if the schedule is wrong."""

    names: Sequence[str]
    specs: Mapping[str, AgentSpec]
    matches: Matches | None


def read_checks(written: object, context: CheckContext, problems: Problems) -> tuple[Check, ...]:
    """Return the valid checks; report the others."""
    if not isinstance(written, list | tuple):
        hint = "; write [[checks]] with two brackets" if isinstance(written, dict) else ""
        problems.add(
            ("checks",), f"checks must be a list in [ ], got {format_value(written)}{hint}"
        )
        return ()
    checks = []
    for item, table in enumerate(written):
        place: Place = ("checks", item)
        if not isinstance(table, dict):
            message = f"item {item + 1} of checks must be a table, got {format_value(table)}"
            problems.add(place, message)
        elif check := _read_check(table, place, context, problems):
            checks.append(check)
    return tuple(checks)


def _read_check(
    table: dict[str, object],
    place: Place,
    context: CheckContext,
    problems: Problems,
) -> Check | None:
    """Return one check; report a wrong one and return None."""
    tests, count = [name for name in CHECKS if name in table], len(problems.found)
    every = {key.name: key for name in CHECKS for key in check_kind(name).keys}
    if len(tests) != 1:
        read_table(table, place, [CLAIM_KEY, *every.values()], problems.add, top_level_hint)
        if len(problems.found) == count:
            got = join_names(tests) or "none of them"
            message = f"exactly one of {join_names(CHECKS)} must be given, got {got}"
            problems.add(place, message, place)
        return None
    (test,) = tests
    keys = {key.name: key for key in (CLAIM_KEY, *check_kind(test).keys)}
    for name in table:
        if name in every and name not in keys:
            having = [other for other in CHECKS if every[name] in check_kind(other).keys]
            message = f"{test} has no {name} (it belongs to {join_names(having)})"
            problems.add((*place, name), message)
    own = {name: value for name, value in table.items() if name in keys or name not in every}
    values = read_table(own, place, list(keys.values()), problems.add, top_level_hint)
    if "that" not in values:
        return None
    check = Check(values.pop("that"), test, values)
    if message := claim_form_problem(check):
        problems.add(place, message, place)
    elif message := claim_agents_problem(check, context):
        problems.add((*place, "that"), message)
    elif len(values) == len(keys) - 1:
        for inside, message in check_kind(test).problems(check, context.specs):
            problems.add((*place, *inside), message)
    return check


def claim_form_problem(check: Check) -> str:
    """Return the problem with the form of `that`; empty if there is none."""
    words = [word.strip() for word in check.that.split(BEATS)]
    if check_kind(check.test).compares:
        fits, form = len(words) == 2 and all(words), '"A beats B"'
    else:
        fits, form = len(words) == 1, '"A" or "all"'
    return "" if fits else f"{check.test} needs that = {form}, got {quote(check.that)}"


def claim_agents_problem(check: Check, context: CheckContext) -> str:
    """Return the problem with the agents or the match in `that`; empty if there is none."""
    if check.subject == ALL:
        return ""
    parties = check.parties or (check.subject or "",)
    for name in parties:
        if name not in context.names:
            return unknown_agent_message(name, context.names)
    if len(parties) > len(set(parties)):
        return f"an agent does not play itself, got {quote(check.that)}"
    places = {context.names.index(name) for name in parties}
    if context.matches is not None and not any(places <= set(m) for m in context.matches):
        met = "meet" if check.parties else "play"
        return f"{' and '.join(parties)} never {met} in this schedule, got {quote(check.that)}"
    return ""
