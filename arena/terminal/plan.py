"""Forecast before playing."""

from collections.abc import Iterator, Mapping, Sequence

from arena.planning.plan import Plan
from arena.planning.schedule import DrawnPlan
from arena.playing.bots import BotProbe
from arena.playing.pilot import PilotResult, TimeRange
from arena.stats.sample_size import (
    expected_elo_interval,
    mean_and_variance,
    pair_score_distribution,
    pairs_needed,
)
from arena.stats.sprt import SprtPlan, expected_lengths
from arena.stats.text import elo_text, percent_text
from games.base.errors import printable
from games.base.text import listed

QUESTION = SprtPlan(0.0, 10.0)  # what "+10 Elo" asks, with errors of 5 %
MOST_ROWS = 12
LONGEST_NAME = 24
HOUR, MINUTE = 3600.0, 60.0
Matches = Mapping[tuple[int, int], int]  # how many pairings of each match


def size_line(name: str, plan: Plan) -> str:
    """How many games a plan has, before its openings are drawn."""
    agents, matches = len(plan.agents), len(plan.matches)
    games = 2 * plan.pairs * matches
    if plan.rounds is not None:
        what = f"{agents} agents meet by rounds ({plan.rounds.way}), at most {games:,} games"
        return f"{name} on {plan.game}: {what}: it ends when its answer is sure"
    of = f"{plan.pairs:,} pairing{'s' * (plan.pairs != 1)}"
    what = f"a match of {of}" if matches == 1 else f"{matches:,} matches of {of} each"
    most = "at most " if plan.stop is not None else ""
    return f"{name} on {plan.game}: {most}{games:,} games, {agents} agents, {what}"


def openings_line(drawn: DrawnPlan) -> str:
    """How many openings there are, and what that means for the pairings."""
    openings, pairs = len(drawn.openings), drawn.plan.pairs
    line = f"openings: {openings:,}"
    if drawn.plan.rounds is None and pairs > openings:
        return f"{line}, each {pairs / openings:,.1f} times: intervals are those of {openings:,}"
    return f"{line}, all there are" if drawn.census else line


def answer_line(answer: BotProbe) -> str:
    """How a bot came through its first question."""
    name = printable(answer.name, LONGEST_NAME)
    if not answer.fault:
        return f"{name}: loads, and plays {answer.move} first, in {answer.seconds:.2g} s"
    state = "loads, but fails at its first move" if answer.loads else "does not load"
    reason = "\n  ".join(printable(line) for line in answer.fault.splitlines())
    return f"{name}: {state}: {reason}"


def pilot_line(pilot: PilotResult, workers: int) -> str:
    """What the pilot played."""
    what = f"{2 * pilot.pairings:,} games in {pilot.seconds:.1f} s by {workers} workers"
    if not pilot.pairings and pilot.answers:
        return f"pilot: {what}: no pairing came to its end"
    if not pilot.pairings:
        why = printable(pilot.fault) or "no pairing came to its end"
        return f"pilot: {what}: {why}; how long the run takes is not known"
    failing = pilot.failing.keys()
    unseen = sum(
        not each.pairings for match, each in pilot.samples.items() if not failing & set(match)
    )
    more = f"; {unseen} matches had no turn: their time follows from the moves" if unseen else ""
    fault = f"; {printable(pilot.fault)}" if pilot.fault else ""
    return f"pilot: {what}, none of which counts{more}{fault}"


def time_line(pilot: PilotResult, left: Matches, workers: int) -> str:
    """How long the games will take that are left to play."""
    games = 2 * sum(left.values())
    if unknown := [match for match in pilot.unfinished if left.get(match)]:
        where = "no game" if len(unknown) == len(left) else f"in {len(unknown)} matches no game"
        least = max(pilot.time_of(left, workers).low, pilot.seconds)
        return f"time: not known: {where} ended; at least {duration(least)} for {games:,} games"
    unplayed = pilot.unplayed(left)
    but = f", {unplayed:,} of them of bots that fail" if unplayed else ""
    return f"time: {range_text(pilot.time_of(left, workers))} for {games:,} games{but}"


def failing_line(plan: Plan, pilot: PilotResult) -> str:
    """Return what the run does with bots that fail; empty if none does."""
    names = listed([short_name(plan.names[place]) for place in sorted(pilot.failing)])
    if not names:
        return ""
    if plan.unloadable_stops:
        return f'the run will stop, as {names} failed; unloadable = "forfeit" plays without'
    return f"excluded after three failed games: {names}"


def start_line(answers: Sequence[BotProbe]) -> str:
    """How long it takes to start all bots, which each worker does; empty if that is no time."""
    seconds = sum(answer.start_seconds for answer in answers)
    return f"before them: {duration(seconds)} to start and compile the bots" if seconds >= 1 else ""


def range_text(time: TimeRange) -> str:
    """Between which times it should lie, in one unit if that is the same."""
    low, high = duration(time.low), duration(time.high)
    if low == high:
        return f"about {low}"
    number, _, unit = low.partition(" ")
    same = bool(unit) and high.endswith(f" {unit}") and number.replace(".", "").isdigit()
    return f"{number if same else low} to {high}"


def duration(seconds: float) -> str:
    """A time to come, in the unit that people would use."""
    if seconds < 1.5:
        return "a second"
    if seconds < 2 * MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / MINUTE:.0f} min" if seconds < 2 * HOUR else f"{seconds / HOUR:.1f} h"


def match_lines(drawn: DrawnPlan, pilot: PilotResult) -> Iterator[str]:
    """A row for each match: its score in the pilot, its interval to come, the pairs for +10 Elo."""
    plan, names = drawn.plan, drawn.plan.names
    exact = {frozenset(pair) for pair in drawn.census}
    head = ("match", "pilot", "Elo to come, if it goes on so", "+10 Elo: SPRT", "fixed")
    rows = [head]
    for match in list(pilot.samples)[:MOST_ROWS]:
        a, b = (names[place] for place in match)
        counts = pilot.samples[match].counts
        law = pair_score_distribution(counts)
        mean, variance = mean_and_variance(law)
        pairings = min(plan.pairs, len(drawn.openings))
        census = frozenset((a, b)) in exact
        come = "exact" if census else elo_text(expected_elo_interval(law, pairings))
        needed = pairs_needed(variance, QUESTION)
        seen = f"{percent_text(mean)} of {sum(counts):,}" if sum(counts) else "not played"
        if pilot.failing.keys() & set(match):
            rows.append((f"{short_name(a)} v {short_name(b)}", "forfeits", "-", "-", "-"))
            continue
        rows.append(
            (f"{short_name(a)} v {short_name(b)}", seen, come if plan.rounds is None else "-",
             f"{needed.at_elo1:,.0f}", f"{needed.fixed:,.0f}")
        )  # fmt: skip
    yield from align_columns(rows)
    if (more := len(pilot.samples) - MOST_ROWS) > 0:
        yield f"... and {more:,} more matches"
    yield "+10 Elo: pairings that tell it from 0 with errors of 5 %, by SPRT on average"


def sprt_line(test: SprtPlan, pilot: PilotResult, pairs: int) -> str:
    """How long a sequential test will take, at the variance of the pilot."""
    (sample,) = pilot.samples.values()
    return test_line(test, mean_and_variance(pair_score_distribution(sample.counts))[1], pairs)


def test_line(test: SprtPlan, variance: float, pairs: int) -> str:
    """The same for a variance that is known from elsewhere."""
    at0, half, at1 = (f"{each:,.0f}" for each in expected_lengths(test, variance))
    return (
        f"the test of [{test.elo0:g}, {test.elo1:g}] Elo stops after about {at0} pairings if "
        f"{test.elo0:g} is true, {at1} if {test.elo1:g} is, {half} half-way; {pairs:,} at most"
    )


def short_name(name: str) -> str:
    """A name as far as a row has room for it."""
    return printable(name, LONGEST_NAME)


def align_columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows of words as columns: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        yield "  ".join([first.ljust(widths[0]), *cells]).rstrip()
