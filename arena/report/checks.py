"""The checks of a run as rows with a verdict."""

from typing import NamedTuple

from arena.analysis.checks.registry import FAILS, HOLDS
from arena.report.answer import BEATS, round_openings
from arena.report.data import ReportData
from arena.report.html import Html, join, name_of, tag, text
from arena.report.numbers import capitalize, confidence, elo, minus, score_of, share
from arena.report.svg import (
    Picture,
    Scale,
    anchor_at,
    dot,
    horizontal_line,
    inline_svg,
    rect,
    svg_text,
    vertical_line,
)
from arena.stats.elo import elo_from_score
from games.base.schema import KeyValues
from games.base.text import count_noun

MOST_OPEN = 5  # checks that are not folded
HEIGHT = 34
EDGE = 15  # per cent
ALL = "all"
SIGNS = {
    HOLDS: "M2 6.5L5 9.5L10 3",
    FAILS: "M3 3L9 9M9 3L3 9",
}
RING = "M6 2.2A3.8 3.8 0 1 1 5.99 2.2Z"


class ScoreEvidence(NamedTuple):
    """The numbers that decided a claim about a score, in the unit of the claim."""

    target: float
    value: float
    bound: float
    level: float
    openings: int
    elo: bool  # the unit is Elo, else a share

    def text(self, number: float) -> str:
        """Return a number in the unit of the claim."""
        return elo(number) if self.elo else share(number)


def checks_html(report: ReportData) -> Html:
    """Return all checks; of many, the failing ones come first and the last ones are folded."""
    checks = list(report.checks)
    if len(checks) <= MOST_OPEN:
        return tag("div", *(_row(report, check) for check in checks), class_="checks")
    ordered = sorted(checks, key=lambda check: check["status"] == HOLDS)
    first, rest = ordered[:MOST_OPEN], ordered[MOST_OPEN:]
    all_hold = all(check["status"] == HOLDS for check in rest)
    more = f"{len(rest)} more {'hold' if all_hold else 'checks'}"
    folded = tag("details", tag("summary", more), *(_row(report, check) for check in rest))
    return tag("div", *(_row(report, check) for check in first), folded, class_="checks")


def _row(report: ReportData, check: KeyValues) -> Html:
    evidence = score_evidence(check)
    return tag(
        "div",
        badge(check["status"]),
        tag("p", tag("b", subject_of(check)), tag("span", claim_of(check)), class_="claim"),
        tag("div", None if evidence is None else _strip(evidence), class_="strip"),
        tag("p", _reason(report, check, evidence), class_="why"),
        class_="check",
    )


def badge(status: str) -> Html:
    """Return a verdict as a word with a sign and a colour."""
    kind = status if status in SIGNS else "open"
    path = tag("path", d=SIGNS.get(status, RING))
    sign = tag("svg", path, width=12, height=12, aria_hidden="true")
    return tag("span", sign, status.upper(), class_=f"badge {kind}")


def subject_of(check: KeyValues) -> Html:
    """Return the agents that a check is about."""
    winner, beats, loser = str(check["that"]).partition(BEATS)
    if beats:
        return join([name_of(winner.strip()), BEATS, name_of(loser.strip())])
    if check["test"] == "no_forfeits":
        name = "no agent" if winner == ALL else name_of(winner)
        return join([name, " forfeits" if winner == ALL else " never forfeits"])
    return text("every agent") if winner == ALL else name_of(winner)


def claim_of(check: KeyValues) -> str:
    """Return the claim of a check."""
    test, values = check["test"], check.get("values", {})
    value = values.get(test)
    if test == "always":
        claims = {"proved": "against every reply", "winnable": "wins every game that can be won"}
        return claims.get(value, "wins every game, as first and second mover")
    if test == "score_at_least":
        return f"score at least {100 * value:g}\u00a0%"
    if test == "elo_at_least":
        return minus(f"by at least {value:g} Elo")
    if test == "no_forfeits":
        return "no illegal move, error or timeout"
    if test == "max_seconds":
        return f"at most {value:g} s a {values['per']}"
    return f"{test.replace('_', ' ')}: {value}"


def score_evidence(check: KeyValues) -> ScoreEvidence | None:
    """Return the numbers of a claim about a score; None if some are missing or not finite."""
    stored = check.get("measured")
    if stored is None or stored.get("score") is None or stored.get("bound") is None:
        return None
    ends = stored["wanted"], stored["score"], stored["bound"]
    in_elo = check["test"] == "elo_at_least"
    if in_elo:
        if not all(0.0 < end < 1.0 for end in ends):
            return None
        ends = elo_from_score(ends[0]), elo_from_score(ends[1]), elo_from_score(ends[2])
    return ScoreEvidence(*ends, stored["level"], stored["openings"], in_elo)


def _strip(evidence: ScoreEvidence) -> Html:
    low = min(evidence.target, evidence.bound)
    high = max(evidence.target, evidence.value)
    margin = max(high - low, 1e-3 if not evidence.elo else 1.0)
    scale = Scale(low - 0.4 * margin, high + 0.7 * margin)
    target = scale.at(evidence.target)
    words = elo(evidence.target) if evidence.elo else f"{100 * evidence.target:g}\u00a0%"
    marks = join([
        horizontal_line(0, 100, 13, "grid"),
        rect(scale.at(evidence.bound), 100, 8, 10, "band"),
        dot(scale.at(evidence.value), 13, 4),
        vertical_line(target, 4, 22, "claim"),
        svg_text(target, 32, f"claim {words}", anchor_at(target, EDGE), "small"),
    ])  # fmt: skip
    return inline_svg(Picture(HEIGHT, marks))


def _reason(report: ReportData, check: KeyValues, evidence: ScoreEvidence | None) -> Html:
    """Return the reason of a verdict."""
    if evidence is not None and check["status"] == HOLDS:
        bound = f"{confidence(evidence.level)} sure of at least {evidence.text(evidence.bound)}"
        value = evidence.text(evidence.value)
        lead = f"Found {value}" if evidence.elo else f"Scored {value}"
        return text(f"{lead}; {bound} (one-sided, K = {evidence.openings:,}).")
    if evidence is not None and check["status"] == FAILS:
        return text(_failure_text(report, check, evidence))
    return _detail(str(check["detail"]), check.get("game"))


def _detail(detail: str, game: int | None) -> Html:
    """Return a reason as the terminal prints it; a game in it becomes a link."""
    for name in () if game is None else (f"is game {game}: ", f"is {game}: "):
        before, found, after = detail.partition(name)
        if found:
            link = tag("a", f"game {game}", href=f"#game={game}")
            return join([f"{before}is ", link, f": {after}."])
    return text(f"{capitalize(detail) if detail.startswith('none in') else detail}.")


def _failure_text(report: ReportData, check: KeyValues, evidence: ScoreEvidence) -> str:
    """Return whether a claim that fails is refuted or only not shown."""
    sure, value = f"{confidence(evidence.level)} sure of", evidence.text(evidence.value)
    winner, _, loser = str(check["that"]).partition(BEATS)
    row = report.pairs.get((winner.strip(), loser.strip()))
    high = None if row is None else (row.elo_high if evidence.elo else score_of(row).high)
    if high is not None and high < evidence.target:
        return f"Refuted: found {value}, {sure} less than {evidence.text(high)}."
    lead = (
        f"Not shown, not refuted: found {value}, but {sure} {evidence.text(evidence.bound)} only."
    )
    if evidence.value <= evidence.target:
        return f"{lead} K = {evidence.openings:,}."
    ratio = (evidence.value - evidence.bound) / (evidence.value - evidence.target)
    openings = round_openings(evidence.openings * ratio * ratio)
    if openings is None:
        return f"{lead} If it is {value}, too many games would be needed to show it."
    return f"{lead} If it is {value}, about {count_noun(openings, 'opening')} would show it."
