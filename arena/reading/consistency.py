"""Experiments whose tables are well formed, but which make no sense."""

from collections.abc import Sequence
from pathlib import Path

from arena.planning.openings import way
from arena.planning.openings_spec import OpeningsSpec
from arena.reading.anchors import AnchorError, anchor_in
from arena.reading.file_tables import Settings
from arena.reading.problems import Problems
from arena.reading.way_tables import Meets
from games import Game, GameError, game


def known_game(settings: Settings, base: Path, problems: Problems) -> Game | None:
    """The game that is played, files seen from `base`; `None` if it is not known: it is said."""
    if settings.game is None:
        return None
    try:
        return game(settings.game, base)
    except GameError as error:
        problems.say(("game",), str(error))
        return None


def stop_problems(settings: Settings, meets: Meets, problems: Problems) -> None:
    """A sequential test compares one pair of agents."""
    matches = meets.matches
    if settings.stop is not None and meets.rounds is not None:
        message = f"{meets.rounds.way} ends by itself, when its answer is sure; take [stop] out"
        problems.say(("stop", "sprt"), message, ("stop",))
    elif settings.stop is not None and len(matches) != 1:
        problems.say(
            ("stop", "sprt"),
            f"sprt tests one pair of agents, got a schedule of {len(matches)} matches; "
            'say schedule = { match = ["a", "b"] }',
            ("stop",),
        )


def anchor_problem(anchor: str | None, names: Sequence[str], problems: Problems) -> None:
    """An anchor that is none of the agents, or has no rating."""
    if anchor is not None:
        try:
            anchor_in(anchor, names)
        except AnchorError as error:
            problems.say(("anchor",), f"anchor {error}")


def pairs_problem(pairs: int | None, openings: OpeningsSpec, problems: Problems) -> None:
    """More pairs than openings."""
    known = way(openings.way).count(openings.values)
    if pairs and known is not None and pairs > known and not openings.repeat:
        ways = "lower pairs, use { random_plies = 6 }, or repeat = true if an agent varies"
        same = " (players without chance would play one game again and again)"
        message = f"{pairs} pairs need as many openings, got {known}{same}; {ways}"
        problems.say(("pairs",), message)
