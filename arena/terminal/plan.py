"""The forecast of a run before it is played."""

from collections.abc import Iterator, Mapping, Sequence

from arena.planning.plan import Plan
from arena.planning.rounds import Participants
from arena.planning.schedule import Schedule
from arena.planning.schedules.registry import pair_total
from arena.playing.bots import BotProbe
from arena.playing.pilot import PilotResult, TimeRange
from arena.stats.sample_size import (
    forecast_elo,
    mean_and_variance,
    sample_sizes,
    score_shares,
    smooth_score_shares,
)
from arena.stats.sprt import SprtPlan, mean_test_lengths
from arena.stats.stopping import StopPlan, WidthPlan, pairs_for_width
from arena.stats.text import elo_text, percent_text
from games.base.errors import printable
from games.base.text import count_noun, join_names

QUESTION = SprtPlan(0.0, 10.0)  # +10 Elo against 0, with errors of 5 %
MOST_ROWS = 12
LONGEST_NAME = 24
HOUR, MINUTE = 3600.0, 60.0
Matches = Mapping[tuple[int, int], float]  # number of pairs of each match


def pairs_by_rounds(plan: Plan) -> int | None:
    """Return how many pairs the rounds have; None if the results decide it."""
    if plan.rounds is None:
        return None
    return pair_total(plan.rounds, Participants(plan.names, plan.pairs))


def size_line(name: str, plan: Plan) -> str:
    """Return the number of games of a plan, before its openings are drawn."""
    agents, matches = len(plan.agents), len(plan.matches)
    games = 2 * plan.pairs * matches
    if plan.rounds is not None:
        fixed = pairs_by_rounds(plan)
        size = f"at most {games:,} games: it ends when its answer is certain"
        if fixed is not None:
            size = f"{2 * fixed:,} games"
        meet = f"{agents} agents meet by rounds ({plan.rounds.method})"
        return f"{name} on {plan.game_name}: {meet}, {size}"
    pairs = count_noun(plan.pairs, "pair")
    what = f"a match of {pairs}" if matches == 1 else f"{matches:,} matches of {pairs} each"
    most = "at most " if plan.stop is not None else ""
    return f"{name} on {plan.game_name}: {most}{games:,} games, {agents} agents, {what}"


def openings_line(schedule: Schedule) -> str:
    """Return the number of openings, and how often each is played."""
    openings, pairs = len(schedule.openings), schedule.plan.pairs
    line = f"openings: {openings:,}"
    if schedule.plan.rounds is None and pairs > openings:
        times = f"{pairs / openings:,.1f}".removesuffix(".0")
        return f"{line}, each {times} times: intervals are those of {openings:,}"
    return f"{line}, all there are" if schedule.census else line


def bot_line(answer: BotProbe) -> str:
    """Return how a bot answered its first question."""
    name = printable(answer.name, LONGEST_NAME)
    if not answer.fault:
        return f"{name}: loads, and plays {answer.move} first, in {answer.seconds:.2g} s"
    state = "loads, but fails at its first move" if answer.loads else "does not load"
    reason = "\n  ".join(printable(line) for line in answer.fault.splitlines())
    return f"{name}: {state}: {reason}"


def pilot_line(pilot: PilotResult, workers: int) -> str:
    """Return what the pilot played."""
    what = f"{2 * pilot.pairs:,} games in {pilot.seconds:.1f} s by {workers} workers"
    if not pilot.pairs and pilot.answers:
        return f"pilot: {what}: no pair ended"
    if not pilot.pairs:
        reason = printable(pilot.fault) or "no pair ended"
        return f"pilot: {what}: {reason}; the time of the run is unknown"
    failing = pilot.failing.keys()
    unseen = sum(
        not each.pairs for match, each in pilot.samples.items() if not failing & set(match)
    )
    more = f"; {unseen} matches had no turn: their time follows from the moves" if unseen else ""
    fault = f"; {printable(pilot.fault)}" if pilot.fault else ""
    return f"pilot: {what}, none of which counts{more}{fault}"


def time_line(pilot: PilotResult, left: Matches, workers: int) -> str:
    """Return how long the remaining games will take."""
    games = round(2 * sum(left.values()))
    if unknown := [match for match in pilot.matches_without_time if left.get(match)]:
        where = "no game" if len(unknown) == len(left) else f"in {len(unknown)} matches no game"
        least = max(pilot.estimate_time(left, workers).low, pilot.seconds)
        return f"time: unknown: {where} ended; at least {duration_text(least)} for {games:,} games"
    unplayed = pilot.forfeit_count(left)
    but = f", {unplayed:,} of them of bots that fail" if unplayed else ""
    return f"time: {range_text(pilot.estimate_time(left, workers))} for {games:,} games{but}"


def exclusion_line(plan: Plan, pilot: PilotResult) -> str:
    """Return what the run does with bots that fail; empty if none does."""
    failing = [plan.names[place] for place in sorted(pilot.failing)]
    if required := [name for name in failing if name in plan.required_agents]:
        names = join_names(map(short_name, required))
        return f"the run will stop, because {names} failed; in a [roster] they are excluded"
    names = join_names(map(short_name, failing))
    return f"excluded after three failed games: {names}" if failing else ""


def failure_lines(plan: Plan, pilot: PilotResult) -> Iterator[str]:
    """Return the first fault of each agent that fails its first games in the pilot."""
    for place in sorted(pilot.failing.keys() & pilot.faults.keys()):
        yield f"{short_name(plan.names[place])}: fails its games: {printable(pilot.faults[place])}"


def start_time_line(answers: Sequence[BotProbe]) -> str:
    """Return how long each worker takes to start all bots; empty below a second."""
    seconds = sum(answer.start_seconds for answer in answers)
    if seconds < 1:
        return ""
    return f"before them: {duration_text(seconds)} to start and compile the bots"


def range_text(time: TimeRange) -> str:
    """Return a range of times, with one unit if both ends have the same."""
    low, high = duration_text(time.low), duration_text(time.high)
    if low == high:
        return f"about {low}"
    number, _, unit = low.partition(" ")
    same = bool(unit) and high.endswith(f" {unit}") and number.replace(".", "").isdigit()
    return f"{number if same else low} to {high}"


def duration_text(seconds: float) -> str:
    """Return a duration in the unit that fits."""
    if seconds < 1.5:
        return "a second"
    if seconds < 2 * MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / MINUTE:.0f} min" if seconds < 2 * HOUR else f"{seconds / HOUR:.1f} h"


def match_lines(schedule: Schedule, pilot: PilotResult) -> Iterator[str]:
    """Return a row for each match: pilot score, expected interval, pairs for +10 Elo."""
    plan, names = schedule.plan, schedule.plan.names
    exact = {frozenset(pair) for pair in schedule.census}
    head = ("match", "pilot", "expected Elo", "+10 Elo: SPRT", "fixed")
    rows = [head]
    for match in list(pilot.samples)[:MOST_ROWS]:
        a, b = (names[place] for place in match)
        counts = pilot.samples[match].counts
        if pilot.failing.keys() & set(match):
            rows.append((f"{short_name(a)} v {short_name(b)}", "forfeits", "-", "-", "-"))
            continue
        shares, pairs = score_shares(counts), min(plan.pairs, len(schedule.openings))
        census = frozenset((a, b)) in exact and pairs > 1
        elo = "exact" if census else elo_text(forecast_elo(shares, pairs))
        needed = sample_sizes(mean_and_variance(smooth_score_shares(counts))[1], QUESTION)
        score = percent_text(mean_and_variance(shares)[0])
        seen = f"{score} of {sum(counts):,}" if sum(counts) else "not played"
        rows.append(
            (f"{short_name(a)} v {short_name(b)}", seen, elo if plan.rounds is None else "-",
             f"{needed.at_elo1:,.0f}", f"{needed.fixed:,.0f}")
        )  # fmt: skip
    yield from align_columns(rows)
    if (more := len(pilot.samples) - MOST_ROWS) > 0:
        yield f"... and {more:,} more matches"
    yield "+10 Elo: pairs that separate it from 0 with errors of 5 %, with an SPRT on average"


def stop_line(rule: StopPlan, pilot: PilotResult, pairs: int) -> str:
    """Return when a stop rule ends the match, with the scores of the pilot."""
    (sample,) = pilot.samples.values()
    if isinstance(rule, WidthPlan):
        needed = f"{pairs_for_width(rule, sample.counts):,.0f}"
        return f"an interval of ± {rule.width:g} Elo takes about {needed} pairs; {pairs:,} at most"
    return sprt_length_line(rule, mean_and_variance(smooth_score_shares(sample.counts))[1], pairs)


def sprt_length_line(test: SprtPlan, variance: float, pairs: int) -> str:
    """Return the length of a sequential test at a variance."""
    at0, half, at1 = (f"{each:,.0f}" for each in mean_test_lengths(test, variance))
    return (
        f"the test of [{test.elo0:g}, {test.elo1:g}] Elo stops after about {at0} pairs if "
        f"{test.elo0:g} is true, {at1} if {test.elo1:g} is, {half} half-way; {pairs:,} at most"
    )


def short_name(name: str) -> str:
    """Return a name, shortened for a row."""
    return printable(name, LONGEST_NAME)


def align_columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Return rows as lines with aligned columns; only the first column is left-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        yield "  ".join([first.ljust(widths[0]), *cells]).rstrip()
