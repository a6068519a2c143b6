"""What is known of checks before the first game: which ones no result could satisfy."""

from collections.abc import Iterator, Sequence

from arena.concluding.checks import hopeless
from arena.concluding.checks.bounds import THESE
from arena.concluding.checks.claims import Check
from arena.planning.drawing import DrawnPlan


def hopeless_lines(checks: Sequence[Check], drawn: DrawnPlan) -> Iterator[str]:
    """A line for each check that will be vacuous whatever is played."""
    if drawn.plan.rounds is not None:
        return  # how many pairings meet is not known beforehand
    # What is exact needs no openings but those there are: all of a finite set, or just these.
    census, steady = (
        {frozenset(pair) for pair in pairs} for pairs in (drawn.census, drawn.without_chance)
    )
    for check in checks:
        exact = steady if check.values.get("of") == THESE else census
        if check.parties is not None and frozenset(check.parties) in exact:
            continue
        if why := hopeless(check, len(drawn.openings), drawn.plan.pairs):
            yield f"{check.that} ({check.test}) will be VACUOUS: {why}"
