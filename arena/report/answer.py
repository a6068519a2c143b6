"""The headline of a run."""

import math
from typing import NamedTuple

from arena.analysis.checks.claims import FAILS, HOLDS
from arena.analysis.tables import WinRateRow, mirror_of
from arena.report.data import ReportData
from arena.report.figure import strong
from arena.report.html import ISOLATE, ISOLATED, Html, isolate, join, name_of, tag
from arena.report.numbers import (
    CENSUS,
    confidence,
    count,
    counted,
    difference_of,
    elo_ends,
    points,
    score_of,
    share,
    share_ends,
    stored_estimate,
    strength_of,
)
from arena.report.unsettled import group_html, names_of, unsettled_groups
from arena.stats.elo import FEW_OPENINGS
from arena.stats.estimate import Scope
from arena.stats.sprt import Decision
from arena.stats.text import first_mover_line
from games.base.schema import KeyValues
from games.base.text import listed

BEATS = " beats "
QUESTIONS = {
    "best": "Who is best at {game}, of {agents} agents?",
    "rank": "In which order do {agents} agents stand at {game}?",
    "place": "Where does a newcomer stand at {game}, of {agents} agents?",
}
WINS = "Who wins at {game}, of {agents} agents?"
PATIENCE = 100_000  # openings that nobody waits for
NAMED = 3  # places that are named with their neighbours
CROWNED = Html("Ranked by points; the ratings below say how sure the order is.")


def always_claim(report: ReportData) -> tuple[WinRateRow, KeyValues] | None:
    """The row of the only check of two agents that every game is won, seen by its winner."""
    for check in report.checks:
        winner, beats, loser = str(check["that"]).partition(BEATS)
        if check["test"] == "always" and check["status"] in (HOLDS, FAILS) and beats:
            row = report.pairs.get((winner.strip(), loser.strip()))
            return None if row is None else (row, check)
    return None


def always_answer(report: ReportData, row: WinRateRow, check: KeyValues) -> tuple[str, str, Html]:
    """Question, answer and how sure it is, where every game was to be won."""
    wins, draws = row.first_wins + row.second_wins, row.first_draws + row.second_draws
    losses, known = row.games - wins - draws, score_of(row)
    game, name = report.game_name, isolate(row.agent)
    question = f"Does {name} win every game of {game} against "
    winnable = check.get("values", {}).get("always") == "winnable"
    question += f"{isolate(row.opponent)}{' that can be won' if winnable else ''}?"
    if check.get("values", {}).get("always") == "proved":
        proved = "Yes: it is" if check["status"] == HOLDS else "No: it is not"
        return question, f"{proved} proved that {name} wins every game.", score_sentence(row)
    if wins == row.games:
        headline = f"Yes: {name} won all {counted(row.games, 'game')}."
        end = f", from {counted(row.openings, 'opening')} on both sides."
        return (question, headline, join([score_sentence(row), end]))
    parts = [f"drew {count(draws)}" if draws else "", f"lost {count(losses)}" if losses else ""]
    rest = " and ".join(part for part in parts if part)
    if check["status"] == HOLDS:  # of what could be won, all was
        headline = f"Yes: {name} won {count(wins)} of {counted(row.games, 'game')}, all that could "
        headline += "be won"
    else:
        headline = f"No: {name} won {count(wins)} of {counted(row.games, 'game')}, "
        headline += rest if draws and losses else f"and {rest}"
    shown = tag("a", "shown below", href="#games=against")
    number = "The other game is" if row.games - wins == 1 else "The other games are"
    if known.value is None:
        return (question, f"{headline}.", join([f"{number} ", shown, "."]))
    return (question, f"{headline}.", join([score_sentence(row), f". {number} ", shown, "."]))


def score_sentence(row: WinRateRow) -> Html:
    """The score with its interval."""
    known = score_of(row)
    if known.value is None:
        return join([f"{known.why[:1].upper()}{known.why[1:]}"])
    if known.kind == CENSUS:
        return join([f"Its score is {share(known.value)}, exact for all openings there are"])
    if not known.bounded:
        return join([f"Its score is {share(known.value)}; {known.why or 'no interval exists'}"])
    sure = f"{share_ends(known)} with {confidence(known.level)} confidence"
    return join([f"Its score is {share(known.value)}, ", sure])


def schedule_question(schedule: str, game: str, agents: int) -> str:
    """What a schedule asks."""
    return QUESTIONS.get(schedule, WINS).format(game=game, agents=agents)


def tournament_answer(report: ReportData) -> tuple[str, str, Html]:
    """The question, the answer, and why the others are out."""
    told = report.summary["tournament"]
    agents = told["agents"]
    question = schedule_question(told["schedule"], report.game_name, len(agents))
    answer = str(told["answer"])
    headline = f"{answer[:1].upper()}{answer[1:]}."
    out = [row for row in agents if row["state"] == "out" and row["why"]]
    reasons = [
        f"{isolate(row['agent'])} is out{_when(row['round'])}: {row['why']}. " for row in out
    ]
    notes = [f"{note[:1].upper()}{note[1:]}. " for note in map(str, told["notes"])]
    return question, headline, join([*reasons, *notes])


def _when(round_: int | None) -> str:
    return "" if round_ is None else f" since round {round_}"


class Answer(NamedTuple):
    """What stands on top of the page."""

    question: str
    headline: str
    sure: Html


def answer_line(report: ReportData) -> str:
    """Return the headline for a terminal."""
    return make_answer(report).headline.replace(ISOLATE, "").replace(ISOLATED, "")


def make_answer(report: ReportData) -> Answer:
    """The answer to what the experiment asks."""
    if not report.games.size:
        return Answer(f"What happens at {report.game_name}?", "No games were played.", Html(""))
    made = _answer(report)
    return made._replace(sure=join([made.sure, _scope(report), _faults(report), _same(report)]))


def _same(report: ReportData) -> str | None:
    """The agents that play identically."""
    lines = report.summary.get("same_players", [])
    return " " + " ".join(f"{line}." for line in map(str, lines)) if lines else None


def _scope(report: ReportData) -> str | None:
    """The question that is answered, where it is not the usual one."""
    if report.standing or {row.of for row in report.pairs.values()} != {Scope.THESE}:
        return None
    return " The answer is for exactly these openings."


def _answer(report: ReportData) -> Answer:
    if report.summary.get("tournament"):
        return Answer(*tournament_answer(report))
    if report.stopped is not None:
        return _tested(report)
    if report.two and report.met():
        row = report.met()[0]
        claim = always_claim(report)
        return Answer(*always_answer(report, *claim)) if claim else _match(report, row)
    return _of_many(report)


def _of_many(report: ReportData) -> Answer:
    met = report.met()
    if met and all(mirror_of(row) for row in met):
        question = f"Which of {len(report.agents)} agents is strongest at {report.game_name}?"
        alike = "the same player twice: " if all(row.same_player for row in met) else ""
        many = f"In each of {count(len(met))} match{'es' * (len(met) != 1)}"
        return Answer(question, f"{many}, {alike}both played identical games.", Html(""))
    if report.standing or report.points:
        return _by_points(report)
    if len({row.group for row in report.ratings}) > 1:
        return _groups(report)
    return _strongest(report)


def _match(report: ReportData, row: WinRateRow) -> Answer:
    known, game = score_of(row), report.game_name
    names = isolate(row.agent), isolate(row.opponent)
    if mirror := mirror_of(row):
        question = f"Which is stronger at {game}, {names[0]} or {names[1]}?"
        line = first_mover_line(row.distinct_games, row.first_mover_score, row.first_mover_margin)
        return Answer(question, f"{names[0]} and {names[1]}: {mirror}.", join([f"{line}."]))
    question = f"Which is stronger at {game}, {names[0]} or {names[1]}?"
    if known.value is None or (not known.bounded and known.kind != CENSUS):
        headline = f"{names[0]} scored {points(row.games * (known.value or 0.0))} of "
        headline += f"{counted(row.games, 'game')}."
        return Answer(question, headline, _no_inference(report))
    if known.settled is not None:
        better = row if known.settled > 0.5 else report.pairs[row.opponent, row.agent]
        headline = f"{isolate(better.agent)} is stronger: {strength_of(better)}."
        return Answer(question, headline, _between(better))
    headline = f"{names[0]} or {names[1]}: these games do not tell them apart; "
    headline += f"{names[0]} scored {strength_of(row)}."
    more = _to_settle(row)
    return Answer(question, headline, join([f"{more[:1].upper()}{more[1:]}."]))


def _between(row: WinRateRow) -> Html:
    """How sure a settled match is, below a headline that has its interval."""
    known, difference = score_of(row), difference_of(row)
    if known.kind == CENSUS:
        return join(["Exact: these are all openings there are."])
    whole = known.low is not None and known.high is not None
    lead = "The interval holds" if whole else f"{share_ends(known)},"
    sure = f"{lead} with {confidence(known.level)} confidence"
    elos = f": {elo_ends(difference)} Elo." if difference.bounded else "."
    open_end = "" if known.high is not None else " There is no upper bound."
    return join([f"{sure[:1].upper()}{sure[1:]}{elos}{open_end}"])


def _undecided(row: WinRateRow) -> Html:
    known = score_of(row)
    value = f"{share(known.value or 0.0)} ({share_ends(known)})"
    return join([name_of(row.agent), f" scored {value}; {_to_settle(row)}."])


def _to_settle(row: WinRateRow) -> str:
    needed = openings_needed(row)
    if needed is None:
        return "no number of games you would wait for would show a difference of that size"
    return f"about {needed:,} openings would show a difference of that size"


def openings_needed(row: WinRateRow) -> int | None:
    """Openings after which an interval around this score would leave out an even one."""
    known = score_of(row)
    if known.value is None or known.value == 0.5:
        return None
    near = known.low if known.value > 0.5 else known.high
    near = near if near is not None else float(known.value < 0.5)
    ratio = (known.value - near) / (known.value - 0.5)
    return round_openings(row.openings * ratio * ratio)


def round_openings(openings: float) -> int | None:
    """A number of openings with two digits; None if nobody waits for so many."""
    if openings > PATIENCE:
        return None
    unit = 10 ** max(int(math.log10(max(openings, 1.0))) - 1, 0)
    return int(math.ceil(openings / unit) * unit)


def _tested(report: ReportData) -> Answer:
    stopped, stop = report.stopped or {}, report.plan.stop
    corrected = stored_estimate(stopped["corrected"])
    agent, opponent = (isolate(stopped[side]) for side in ("agent", "opponent"))
    question = f"Is {agent} stronger than {opponent} at {report.game_name}?"
    low, high = (f"{end:+g}" if end else "0" for end in (stop.elo0, stop.elo1)) if stop else "01"
    unit, played = (
        ("normalized Elo" if stop and stop.model == "normalized" else "Elo"),
        (f"after {counted(report.games.size, 'game')}"),
    )
    headline = {
        Decision.ELO1: f"Yes: {played} the test chose {high} {unit} over {low}.",
        Decision.ELO0: f"No: {played} the test chose {low} {unit} over {high}.",
    }.get(stopped["decision"], f"Not decided {played}: the test needs more.")
    headline = headline.replace("-", "\u2212")
    value = "" if corrected.value is None else f"{corrected.value:+.0f} Elo, "
    value = value.replace("-", "\u2212")
    ends = elo_ends(corrected)
    sure = f"Estimate corrected for stopping: {value}{confidence(corrected.level)}: {ends}."
    return Answer(question, headline, join([sure]))


# ------------------------------------------------------------------------- three and more


def _by_points(report: ReportData) -> Answer:
    rows = report.ratings
    best = rows[0]
    question = f"Who wins at {report.game_name}, of {len(rows)} agents?"
    tied = [row for row in rows if row.rank == best.rank]
    as_many = [row for row in rows[1:] if row.points * best.games == best.points * row.games]
    name = isolate(best.agent)
    if len(tied) > 1:
        names = " and ".join(isolate(row.agent) for row in tied)
        headline = f"{names} share the lead: {points(best.points)} of {count(best.games)} points."
    elif best.points == best.games:
        headline = f"{name} won all {count(best.games)} of its games."
    else:
        headline = f"{name} leads with {points(best.points)} of {count(best.games)} points"
        equal = listed([isolate(row.agent) for row in as_many])
        headline += f", level with {equal}: the tie-break decides." if as_many else "."
    return Answer(question, headline, _no_inference(report) if report.standing else CROWNED)


def _no_inference(report: ReportData) -> Html:
    where = counted(report.openings, "opening")
    if report.plan.openings.way == "none":
        where = "One starting position"
    if report.measured:
        return join([
            f"{where}: below {FEW_OPENINGS} openings a rating has no interval, so agents are ",
            strong("ordered by points"), "; single matches have their intervals below.",
        ])  # fmt: skip
    return join([
        f"{where}: this is a ", strong("standing, not a measurement"),
        "; what other openings would bring is not known.",
    ])  # fmt: skip


def _groups(report: ReportData) -> Answer:
    names, number = report.agents, len({row.group for row in report.ratings})
    question = f"Which of {len(names)} agents is strongest at {report.game_name}?"
    top = [row.agent for row in report.ratings if row.group == 1]
    headline = f"{isolate(top[0])}, and by how much cannot be said."
    if len(top) > 1:
        headline = f"{isolate(top[0])} leads the strongest of {number} groups."
    group = {row.agent: row.group for row in report.ratings}
    met = any(group[agent] != group[opponent] for agent, opponent in report.pairs)
    why = "and no group took a point from one above it" if met else "which never met"
    sure = f"The {len(names)} agents fall into {number} groups, {why}. "
    return Answer(question, headline, join([sure, "Elo compares agents of one group only."]))


def _strongest(report: ReportData) -> Answer:
    names = report.agents
    question = f"Which of {len(names)} agents is strongest at {report.game_name}?"
    top = next((run for run in unsettled_groups(report) if run.first == 0), None)
    row = report.pairs.get((names[0], names[1]))
    if top is not None:
        tied = names_of(report, top)
        few = [isolate(name) for name in tied[:NAMED]]
        if len(tied) > NAMED:
            few = [*few[:-1], f"one of {len(tied) - NAMED + 1} others"]
        headline = f"{' or '.join(few)}: these games do not tell them apart."
        first = report.pairs[tied[0], tied[1]]
        return Answer(question, headline, _undecided(first))
    if row is None:
        best = report.ratings[0]
        headline = f"{isolate(names[0])} has the highest rating."
        met = f"It scored {points(best.points)} of {count(best.games)} points and did not "
        return Answer(question, headline, join([met, "meet ", name_of(names[1]), ", the next."]))
    if (score_of(row).settled or 0.0) < 0.5:
        headline = f"{isolate(names[0])} has the highest rating, but lost to {isolate(names[1])}."
        return Answer(question, headline, join([score_sentence(row), "."]))
    headline = f"{isolate(names[0])} is the strongest: {strength_of(row)} against "
    headline += f"{isolate(names[1])}, the next."
    return Answer(question, headline, join([_between(row), " ", _order(report)]))


def _order(report: ReportData) -> Html:
    """The places behind the first, and which of them are not told apart."""
    names, unclear = report.agents, unsettled_groups(report)
    parts: list[Html | str] = [join(["Second is ", strong(name_of(names[1]))])]
    if len(names) >= NAMED and not any(run.first < NAMED - 1 for run in unclear):
        parts = [join([*parts, ", third ", strong(name_of(names[2]))])]
    groups = [group_html(report, run) for run in unclear]
    if groups:
        openings = counted(report.openings, "opening")
        parts.append(join([f". {openings} do not tell ", join(groups, ", nor "), " apart"]))
    return join([*parts, "."])


def _faults(report: ReportData) -> Html | None:
    """Agents that forfeited, for without their faults the order could be another."""
    faulty = [row for row in report.ratings if row.forfeits]
    if not faulty:
        return None
    worst = max(faulty, key=lambda row: row.forfeits)
    more = f" (and {counted(len(faulty) - 1, 'other agent')} forfeited too)"
    of = f" forfeited {count(worst.forfeits)} of its {counted(worst.games, 'game')}"
    end = "; without its faults the order could be another."
    return join([" ", name_of(worst.agent), of, more if len(faulty) > 1 else None, end])
