"""What makes no sense in an experiment whose tables are well formed."""

from collections.abc import Sequence
from pathlib import Path

from arena.reading.file_tables import (
    OpeningsTable,
    ScheduleTable,
    Settings,
)
from arena.reading.problems import Problems, no_agent
from games import Game, GameError, Position, game
from games.names import quoted

Matches = Sequence[tuple[int, int]]


def known_game(settings: Settings, base: Path, problems: Problems) -> Game | None:
    """The game that is played, files seen from `base`; `None` if it is not known: it is said."""
    if "game" not in settings.model_fields_set:
        return None
    try:
        return game(settings.game, base)
    except GameError as error:
        problems.say(("game",), str(error))
        return None


def known_matches(
    schedule: ScheduleTable, names: Sequence[str], problems: Problems
) -> Matches | None:
    """Who meets whom; `None` if the schedule does not fit the agents, which is said."""
    before = len(problems.found)
    if len(names) < 2:
        problems.say(("agents",), f"at least two agents must play, got {len(names)}")
    elif schedule.gauntlet is not None and schedule.gauntlet not in names:
        problems.say(("schedule", "gauntlet"), no_agent(schedule.gauntlet, names))
    for item, name in enumerate(schedule.match):
        if name not in names:
            problems.say(("schedule", "match", item), no_agent(name, names), ("schedule",))
    if schedule.match and len(set(schedule.match)) == 1:
        told = f"match must name two different agents, got {quoted(schedule.match[0])} twice"
        problems.say(("schedule", "match"), told)
    if schedule.only_two and len(names) > 2:
        told = f'{len(names)} agents: name two, as in schedule = {{ match = ["a", "b"] }}'
        problems.say(("schedule",), f'schedule "match" is for a file of two agents, got {told}')
    return schedule.matches(names) if len(problems.found) == before else None


def stop_problems(settings: Settings, matches: Matches, problems: Problems) -> None:
    """A sequential test compares one pair of agents."""
    if settings.stop is not None and len(matches) != 1:
        problems.say(
            ("stop", "sprt"),
            f"sprt tests one pair of agents, got a schedule of {len(matches)} matches; "
            'say schedule = { match = ["a", "b"] }',
            ("stop",),
        )


def opening_problems(settings: Settings, of: Game | None, problems: Problems) -> None:
    """More pairs than openings; written openings that are no moves of the game."""
    openings, pairs = settings.openings, settings.pairs
    if pairs and openings.known is not None and pairs > openings.known and not openings.repeat:
        ways = "lower pairs, use { random_plies = 6 }, or repeat = true if an agent varies"
        told = f"{pairs} pairs need as many openings, got {openings.known}; {ways}"
        problems.say(("pairs",), told)
    if of is not None:
        line_problems(openings, of, problems)


def line_problems(openings: OpeningsTable, of: Game, problems: Problems) -> None:
    """Openings of a list that cannot be moves, or are there twice."""
    seen: dict[tuple[str, ...], int] = {}
    for item, line in enumerate(openings.lines):
        place = ("openings", "list", item)
        words = of.notation.split(line)
        for word in words:
            if not readable(of, word):
                told = f"opening {item + 1}: {quoted(word)} is no move of {of.name}"
                problems.say(place, told, ("openings",))
        first = seen.setdefault(tuple(words), item)
        if first != item and not openings.repeat:
            told = f"opening {item + 1} is the same as opening {first + 1}"
            problems.say(place, f"{told}, got {quoted(line)} twice", ("openings",))


def readable(of: Game, word: str) -> bool:
    """Whether either side could mean a move by the word; legality needs the position."""
    sides = (Position(None, 0), Position(None, 1))
    return any(of.notation.parse_move(side, word) is not None for side in sides)
