"""The evidence of a run that was just played, with what lies around it."""

from collections.abc import Callable, Mapping
from pathlib import Path

from agents.sandbox.sandbox import Sandbox
from arena.analysis.earlier_looks import EarlierLooks
from arena.analysis.evidence import Evidence, evidence_of
from arena.analysis.exclusions import Exclusion
from arena.planning.games import GameParts
from arena.planning.schedule import DrawnPlan
from arena.playing.forfeits import ForfeitRule
from arena.playing.worker import make_move_replayer


def evidence_of_run(
    drawn: DrawnPlan,
    parts: GameParts,
    played: int,
    directory: Path,
    wall: Sandbox,
    progress: Callable[[str], None],
    unloadable: Mapping[int, str],
) -> Evidence:
    """So many `played` pairings, their census, agents without chance, exclusions and earlier looks.

    `unloadable` says of places why their agents did not load.
    """
    census = drawn.census if played == drawn.pairings.total else []
    return evidence_of(
        drawn.plan,
        parts,
        census,
        lambda: drawn.starts,
        make_move_replayer(drawn, wall),
        wall,
        progress,
        drawn.without_chance,
        EarlierLooks(directory).count,
        drawn.openings.plies,
        excluded_bots(drawn, parts, unloadable),
    )


def excluded_bots(
    drawn: DrawnPlan, parts: GameParts, unloadable: Mapping[int, str]
) -> tuple[Exclusion, ...]:
    """Return the bots that the rule of faults excludes, in the order of the experiment."""
    rule, at = ForfeitRule(drawn, unloadable), 0
    if not rule.counts.bots:
        return ()
    for games in parts():
        rule.take(games, at)
        at += len(games)
    names = drawn.plan.names
    return tuple(
        Exclusion(names[place], since, rule.unplayed[place], rule.reason(place))
        for place, since in sorted(rule.since.items())
    )
