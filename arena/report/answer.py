"""The answer of a run: the question of the experiment, a headline, and its certainty."""

import math
from typing import NamedTuple

from arena.analysis.checks.registry import FAILS, HOLDS
from arena.analysis.tables import WinRateRow, row_mirror_text
from arena.analysis.win_rates import ONLY_FORFEITS
from arena.report.data import ReportData
from arena.report.figure import join_names, strong
from arena.report.html import ISOLATE, ISOLATED, Html, isolate, join, name_of, tag
from arena.report.numbers import (
    capitalize,
    confidence,
    count,
    decisive_end,
    estimate_from_json,
    has_end,
    minus,
    points,
    score_of,
    share,
    share_ends,
    strength_of,
)
from arena.stats.estimate import FEW_OPENINGS, EstimateKind, Scope
from arena.stats.sprt import Decision, SprtPlan
from arena.stats.text import elo_text, first_mover_line
from games.base import text
from games.base.schema import KeyValues
from games.base.text import count_noun

BEATS = " beats "
QUESTIONS = {
    "best": "Which is best at {game}, of {agents} agents?",
    "rank": "What is the order of {agents} agents at {game}?",
    "scale": "How strong is the newcomer at {game}, on a fixed scale?",
    "place": "What is the rank of the newcomer at {game}, of {agents} agents?",
}
WINS = "Which wins at {game}, of {agents} agents?"
MOST_OPENINGS = 100_000  # more are not worth waiting for
PLACES_WITH_NAMES = 3  # places that the answer names with their neighbours
MOST_NAMED = 5  # agents of a group


class Answer(NamedTuple):
    """The top of the page."""

    question: str
    headline: str
    certainty: Html


def answer_line(report: ReportData) -> str:
    """Return the headline for a terminal."""
    return make_answer(report).headline.replace(ISOLATE, "").replace(ISOLATED, "")


def make_answer(report: ReportData) -> Answer:
    """Answer the question of the experiment."""
    if not report.games.size:
        return Answer(
            f"What is the result at {report.game_name}?", "No games were played.", Html("")
        )
    answer = _answer(report)
    parts = [answer.certainty, _scope_note(report), _forfeit_note(report), _identical_note(report)]
    return answer._replace(certainty=join(parts))


def _answer(report: ReportData) -> Answer:
    matches = report.matches()
    if report.summary.get("tournament"):
        return _tournament_answer(report)
    if report.sprt is not None:
        return _sprt_answer(report, report.sprt)
    if matches and (report.has_two_agents or (len(matches) == 1 and report.plan.rounds is None)):
        claim = always_claim(report)
        answer = _always_answer(report, *claim) if claim else _match_answer(report, matches[0])
        return _with_stop(answer, report.stopped)
    if matches and all(map(row_mirror_text, matches)):
        alike = "the same player twice: " if all(row.same_player for row in matches) else ""
        each = f"In each of {count(len(matches))} match{'es' * (len(matches) != 1)}"
        headline = f"{each}, {alike}both played identical games."
        return Answer(_strongest_question(report), headline, Html(""))
    groups = len({row.group for row in report.ratings})
    by_points = report.too_few_openings or report.points
    many = _points_answer if by_points else _groups_answer if groups > 1 else _rating_answer
    return many(report)


def _strongest_question(report: ReportData) -> str:
    return f"Which of {len(report.agents)} agents is strongest at {report.game_name}?"


# ------------------------------------------------------------------------- additions


def _identical_note(report: ReportData) -> str | None:
    lines = report.summary.get("same_players", [])
    return " " + " ".join(f"{line}." for line in map(str, lines)) if lines else None


def _scope_note(report: ReportData) -> str | None:
    if report.too_few_openings or {row.of for row in report.pairs.values()} != {Scope.THESE}:
        return None
    return " The answer is for exactly these openings."


def _forfeit_note(report: ReportData) -> Html | None:
    """Return which agents forfeited: without the forfeits the order could be another."""
    faulty = [row for row in report.ratings if row.forfeits]
    if not faulty:
        return None
    worst = max(faulty, key=lambda row: row.forfeits)
    more = f" (and {count_noun(len(faulty) - 1, 'other agent')} forfeited too)"
    of = f" forfeited {count(worst.forfeits)} of its {count_noun(worst.games, 'game')}"
    end = "; without its faults the order could be another."
    return join([" ", name_of(worst.agent), of, more if len(faulty) > 1 else None, end])


# ------------------------------------------------------------------------- two agents


def always_claim(report: ReportData) -> tuple[WinRateRow, KeyValues] | None:
    """Return the check that an agent wins every game, and the row of that agent."""
    for check in report.checks:
        winner, beats, loser = str(check["that"]).partition(BEATS)
        if check["test"] == "always" and check["status"] in (HOLDS, FAILS) and beats:
            row = report.pairs.get((winner.strip(), loser.strip()))
            return None if row is None else (row, check)
    return None


def _always_answer(report: ReportData, row: WinRateRow, check: KeyValues) -> Answer:
    wins, draws = row.first_wins + row.second_wins, row.first_draws + row.second_draws
    losses, holds = row.games - wins - draws, check["status"] == HOLDS
    name, way = isolate(row.agent), check.get("values", {}).get("always")
    games, score = count_noun(row.games, "game"), score_sentence(row)
    winnable = " that can be won" if way == "winnable" else ""
    question = (
        f"Does {name} win every game of {report.game_name} against {isolate(row.opponent)}"
        f"{winnable}?"
    )
    if way == "proved":
        proof = "Yes: it is" if holds else "No: it is not"
        return Answer(question, f"{proof} proved that {name} wins every game.", score)
    if wins == row.games:
        end = f", from {count_noun(row.openings, 'opening')} on both sides."
        return Answer(question, f"Yes: {name} won all {games}.", join([score, end]))
    parts = [f"drew {count(draws)}" if draws else "", f"lost {count(losses)}" if losses else ""]
    rest = " and ".join(part for part in parts if part)
    if holds:  # all games that could be won
        headline = f"Yes: {name} won {count(wins)} of {games}, all that could be won."
    else:
        rest = rest if draws and losses else f"and {rest}"
        headline = f"No: {name} won {count(wins)} of {games}, {rest}."
    others = "The other game is " if row.games - wins == 1 else "The other games are "
    link = tag("a", "shown below", href="#games=against")
    lead = None if score_of(row).value is None else join([score, ". "])
    return Answer(question, headline, join([lead, others, link, "."]))


def score_sentence(row: WinRateRow) -> Html:
    """Return the score with its interval."""
    known = score_of(row)
    if known.value is None:
        return join([capitalize(known.reason)])
    if known.kind == EstimateKind.CENSUS:
        return join([f"Its score is {share(known.value)}, exact for all openings there are"])
    if not has_end(known):
        reason = known.reason or "no interval exists"
        return join([f"Its score is {share(known.value)}; {reason}"])
    ends = f"{share_ends(known)} with {confidence(known.level)} confidence"
    return join([f"Its score is {share(known.value)}, {ends}"])


def _match_answer(report: ReportData, row: WinRateRow) -> Answer:
    known, end = score_of(row), decisive_end(score_of(row))
    one, other = isolate(row.agent), isolate(row.opponent)
    question = f"Which is stronger at {report.game_name}, {one} or {other}?"
    if mirror := row_mirror_text(row):
        line = first_mover_line(row.distinct_games, row.first_mover_score, row.first_mover_margin)
        return Answer(question, f"{one} and {other}: {mirror}.", join([f"{line}."]))
    if known.value is None or (not has_end(known) and known.kind != EstimateKind.CENSUS):
        scored = points(row.games * (known.value or 0.0))
        headline = f"{one} scored {scored} of {count_noun(row.games, 'game')}."
        return Answer(question, headline, _no_inference(report))
    if end is not None:
        better = row if end > 0.5 else report.pairs[row.opponent, row.agent]
        headline = f"{isolate(better.agent)} is stronger: {strength_of(better)}."
        return Answer(question, headline, _confidence_text(better))
    headline = f"{one} or {other}: these games do not separate them; {one} scored "
    headline += f"{strength_of(row)}."
    return Answer(question, headline, join([f"{capitalize(_to_settle(row))}."]))


def _confidence_text(row: WinRateRow) -> Html:
    """Return the certainty of a decisive match, below a headline with its interval."""
    known = score_of(row)
    if known.kind == EstimateKind.CENSUS:
        return join(["Exact: these are all openings there are."])
    whole = known.low is not None and known.high is not None
    lead = "The interval holds" if whole else f"{capitalize(share_ends(known))},"
    open_end = "" if known.high is not None else " There is no upper bound."
    return join([f"{lead} with {confidence(known.level)} confidence.{open_end}"])


def _to_settle(row: WinRateRow) -> str:
    openings = openings_to_settle(row)
    if openings is None:
        return "a difference of that size would need too many games to show"
    return f"about {openings:,} openings would show a difference of that size"


def openings_to_settle(row: WinRateRow) -> int | None:
    """Return how many openings would give an interval around this score that excludes 0.5."""
    known = score_of(row)
    if known.value is None or known.value == 0.5:
        return None
    near = known.low if known.value > 0.5 else known.high
    near = near if near is not None else float(known.value < 0.5)
    ratio = (known.value - near) / (known.value - 0.5)
    return round_openings(row.openings * ratio * ratio)


def round_openings(openings: float) -> int | None:
    """Round a number of openings up to two digits; None above MOST_OPENINGS."""
    if openings > MOST_OPENINGS:
        return None
    unit = 10 ** max(int(math.log10(max(openings, 1.0))) - 1, 0)
    return int(math.ceil(openings / unit) * unit)


def _with_stop(answer: Answer, stopped: KeyValues | None) -> Answer:
    """Add why the match stopped: to the headline if it gave up."""
    if stopped is None or not stopped.get("why"):
        return answer
    why = f" The run {stopped['why']}."
    if stopped["decision"] == Decision.GAVE_UP:
        return answer._replace(headline=answer.headline + why)
    return answer._replace(certainty=join([answer.certainty, why]))


def _sprt_answer(report: ReportData, sprt: KeyValues) -> Answer:
    plan, corrected = report.plan.stop, estimate_from_json(sprt["corrected"])
    assert isinstance(plan, SprtPlan)
    agent, opponent = (isolate(sprt[side]) for side in ("agent", "opponent"))
    question = f"Is {agent} stronger than {opponent} at {report.game_name}?"
    low, high = (f"{end:+g}" if end else "0" for end in (plan.elo0, plan.elo1))
    unit = "normalized Elo" if plan.model == "normalized" else "Elo"
    after = f"after {count_noun(report.games.size, 'game')}"
    headline = {
        Decision.ELO1: f"Yes: {after} the test chose {high} {unit} over {low}.",
        Decision.ELO0: f"No: {after} the test chose {low} {unit} over {high}.",
        Decision.GAVE_UP: f"Not decided: the run {sprt.get('why')}.",
    }.get(sprt["decision"], f"Not decided {after}: the test needs more.")
    value = minus(elo_text(corrected)).removesuffix(f" {corrected.kind}")
    level = f" ({confidence(corrected.level)})" if corrected.has_both_ends else ""
    certainty = f"Estimate corrected for stopping: {value}{level}."
    return Answer(question, minus(headline), join([certainty]))


# ------------------------------------------------------------------------- more agents


def schedule_question(schedule: str, game: str, agents: int) -> str:
    """Return the question that a schedule answers."""
    return QUESTIONS.get(schedule, WINS).format(game=game, agents=agents)


def _tournament_answer(report: ReportData) -> Answer:
    stored = report.summary["tournament"]
    agents = stored["agents"]
    question = schedule_question(stored["schedule"], report.game_name, len(agents))
    reasons = [
        f"{isolate(row['agent'])} is out{_since(row['round'])}: {row['why']}. "
        for row in agents
        if row["state"] == "out" and row["why"]
    ]
    notes = [f"{capitalize(str(note))}. " for note in stored["notes"]]
    headline = str(stored["answer"])
    if stored["schedule"] != "scale":  # it begins with the name of an agent
        headline = capitalize(headline)
    return Answer(question, f"{headline}.", join([*reasons, *notes]))


def _since(round_: int | None) -> str:
    return "" if round_ is None else f" since round {round_}"


def _points_answer(report: ReportData) -> Answer:
    rows = report.ratings
    best = rows[0]
    tied = [row for row in rows if row.rank == best.rank]
    equal = [row for row in rows[1:] if row.points * best.games == best.points * row.games]
    name, scored = isolate(best.agent), f"{points(best.points)} of {count(best.games)} points"
    if len(tied) > 1:
        names = " and ".join(isolate(row.agent) for row in tied)
        headline = f"{names} share the lead: {scored}."
    elif best.points == best.games:
        headline = f"{name} won all {count(best.games)} of its games."
    elif equal:
        others = text.join_names([isolate(row.agent) for row in equal])
        headline = f"{name} leads with {scored}, level with {others}: the tie-break decides."
    else:
        headline = f"{name} leads with {scored}."
    certainty = Html("Ranked by points; the ratings below say how certain the order is.")
    return Answer(
        WINS.format(game=report.game_name, agents=len(rows)),
        headline,
        _no_inference(report) if report.too_few_openings else certainty,
    )


def _no_inference(report: ReportData) -> Html:
    where = count_noun(report.openings, "opening")
    if report.plan.openings.method == "none":
        where = "One starting position"
    if report.has_intervals:
        return join([
            f"{where}: below {FEW_OPENINGS} openings a rating has no interval, so agents are ",
            strong("ordered by points"), "; single matches have their intervals below.",
        ])  # fmt: skip
    return join([
        f"{where}: this is a ", strong("standing, not a measurement"),
        "; results from other openings are unknown.",
    ])  # fmt: skip


def _groups_answer(report: ReportData) -> Answer:
    names, number = report.agents, len({row.group for row in report.ratings})
    top = [row.agent for row in report.ratings if row.group == 1]
    headline = f"{isolate(top[0])}, by an unknown difference."
    if len(top) > 1:
        headline = f"{isolate(top[0])} leads the strongest of {number} groups."
    group = {row.agent: row.group for row in report.ratings}
    met = any(group[agent] != group[opponent] for agent, opponent in report.pairs)
    reason = "and no group took a point from one above it" if met else "which never met"
    certainty = f"The {len(names)} agents fall into {number} groups, {reason}. "
    more = "Elo compares agents of one group only."
    return Answer(_strongest_question(report), headline, join([certainty, more]))


def _rating_answer(report: ReportData) -> Answer:
    names, question = report.agents, _strongest_question(report)
    top = next((group for group in inseparable_groups(report) if group.first == 0), None)
    row = report.pairs.get((names[0], names[1]))
    if top is not None:
        tied = group_names(report, top)
        few = [isolate(name) for name in tied[:PLACES_WITH_NAMES]]
        if len(tied) > PLACES_WITH_NAMES:
            few = [*few[:-1], f"one of {len(tied) - PLACES_WITH_NAMES + 1} others"]
        headline = f"{' or '.join(few)}: these games do not separate them."
        return Answer(question, headline, _top_score_text(report.pairs[tied[0], tied[1]]))
    if row is None:
        best = report.ratings[0]
        scored = f"It scored {points(best.points)} of {count(best.games)} points and did not meet "
        headline = f"{isolate(names[0])} has the highest rating."
        return Answer(question, headline, join([scored, name_of(names[1]), ", the next."]))
    if (decisive_end(score_of(row)) or 0.0) < 0.5:
        headline = f"{isolate(names[0])} has the highest rating, but lost to {isolate(names[1])}."
        return Answer(question, headline, join([score_sentence(row), "."]))
    headline = f"{isolate(names[0])} is the strongest: {strength_of(row)} against "
    headline += f"{isolate(names[1])}, the next."
    return Answer(question, headline, join([_confidence_text(row), " ", _ranking_text(report)]))


def _top_score_text(row: WinRateRow) -> Html:
    known = score_of(row)
    value = f"{share(known.value or 0.0)} ({share_ends(known)})"
    return join([name_of(row.agent), f" scored {value}; {_to_settle(row)}."])


def _ranking_text(report: ReportData) -> Html:
    """Return the places after the first, and the groups that the games do not separate."""
    names, groups = report.agents, inseparable_groups(report)
    parts: list[Html | str] = ["Second is ", strong(name_of(names[1]))]
    if len(names) >= PLACES_WITH_NAMES and all(
        group.first >= PLACES_WITH_NAMES - 1 for group in groups
    ):
        parts += [", third ", strong(name_of(names[2]))]
    if groups:
        openings = count_noun(report.openings, "opening")
        listed = join([group_html(report, group) for group in groups], ", nor ")
        parts += [f". {openings} do not separate ", listed]
    return join([*parts, "."])


# ------------------------------------------------------------------------- groups


class InseparableGroup(NamedTuple):
    """Neighbours in the ratings whose matches do not separate them, by first and last place."""

    first: int
    last: int


def match_separates(report: ReportData, one: str, other: str) -> bool:
    """Return whether the match of two agents separates them.

    So do matches that were not played or only forfeited, and the exclusion of a bot.
    """
    row = report.pairs.get((one, other))
    if row is None or row.why == ONLY_FORFEITS:
        return True
    excluded = not report.exclusion_names.isdisjoint((one, other))
    return excluded or decisive_end(score_of(row)) is not None


def inseparable_groups(report: ReportData) -> list[InseparableGroup]:
    """Return the largest groups of neighbours that no match separates, in order."""
    names, found = report.agents, list[InseparableGroup]()
    for first in range(len(names)):
        last = first
        while last + 1 < len(names) and not any(
            match_separates(report, names[last + 1], names[each]) for each in range(first, last + 1)
        ):
            last += 1
        if last > first and (not found or found[-1].last < last):
            found.append(InseparableGroup(first, last))
    return found


def group_names(report: ReportData, group: InseparableGroup) -> tuple[str, ...]:
    """Return the agents of a group."""
    return report.agents[group.first : group.last + 1]


def group_html(report: ReportData, group: InseparableGroup) -> Html:
    """Name the agents of a group; a large group is named by its places."""
    names = group_names(report, group)
    if len(names) > MOST_NAMED:
        first, last = (report.ratings[place].rank for place in group)
        return strong(f"places {first} to {last}")
    return join_names([strong(name_of(name)) for name in names])
