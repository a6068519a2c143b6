"""Verdicts as rows."""

from typing import NamedTuple

from arena.analysis.checks.claims import FAILS, HOLDS
from arena.report.answer import BEATS, round_openings
from arena.report.data import ReportData
from arena.report.html import Html, join, name_of, tag, text
from arena.report.numbers import confidence, counted, elo, score_of, share
from arena.report.svg import Picture, Scale, dot, inline_svg, level_line, line, rect, words
from arena.stats.elo import elo_from_score
from games.base.schema import KeyValues

AT_ONCE = 5  # checks that are shown unfolded
HEIGHT = 34
ALL = "all"
SIGNS = {
    HOLDS: "M2 6.5L5 9.5L10 3",
    FAILS: "M3 3L9 9M9 3L3 9",
}
RING = "M6 2.2A3.8 3.8 0 1 1 5.99 2.2Z"


class Measured(NamedTuple):
    """What a claim about a score was decided by, in the unit of the claim."""

    asked: float
    found: float
    bound: float
    level: float
    openings: int
    elo: bool

    def text(self, number: float) -> str:
        """A number in the unit of the claim."""
        return elo(number) if self.elo else share(number)


def checks_html(report: ReportData) -> Html:
    """All checks, failing ones first where they are many."""
    checks = list(report.checks)
    if not checks:
        return tag(
            "p",
            "No check was asked for. Add one to the experiment, and this place shows whether it "
            "holds.",
            class_="nothing",
        )
    if len(checks) <= AT_ONCE:
        return tag("div", join(_row(report, check) for check in checks), class_="checks")
    ordered = sorted(checks, key=lambda check: check["status"] == HOLDS)
    first, rest = ordered[:AT_ONCE], ordered[AT_ONCE:]
    holding = sum(check["status"] == HOLDS for check in rest)
    more = f"{len(rest)} more {'hold' if holding == len(rest) else 'checks'}"
    return tag(
        "div",
        join(_row(report, check) for check in first),
        tag("details", tag("summary", more), join(_row(report, check) for check in rest)),
        class_="checks",
    )


def _row(report: ReportData, check: KeyValues) -> Html:
    measured = measured_score(check)
    return tag(
        "div",
        badge(check["status"]),
        tag("p", tag("b", subject_of(check)), tag("span", claim_of(check)), class_="claim"),
        tag("div", None if measured is None else _strip(measured), class_="strip"),
        tag("p", _words(report, check, measured), class_="why"),
        class_="check",
    )


def badge(status: str) -> Html:
    """A verdict as a word, a sign and a colour."""
    kind = status if status in SIGNS else "open"
    sign = tag("path", d=SIGNS.get(status, RING))
    drawn = tag("svg", sign, width=12, height=12, aria_hidden="true")
    return tag("span", drawn, status.upper(), class_=f"badge {kind}")


def subject_of(check: KeyValues) -> Html:
    """Of whom a check speaks."""
    winner, beats, loser = str(check["that"]).partition(BEATS)
    if beats:
        return join([name_of(winner.strip()), BEATS, name_of(loser.strip())])
    if check["test"] == "no_forfeits":
        return text("nobody forfeits") if winner == ALL else join([
            name_of(winner), " never forfeits"])  # fmt: skip
    return text("every agent") if winner == ALL else name_of(winner)


def claim_of(check: KeyValues) -> str:
    """What it claims."""
    value = check.get("values", {}).get(check["test"])
    if check["test"] == "always":
        return (
            "against every reply there is"
            if value == "proved"
            else "wins every game that can be won"
            if value == "winnable"
            else "wins every game, both seats"
        )
    if check["test"] == "score_at_least":
        return f"score at least {100 * value:g}\u00a0%"
    if check["test"] == "elo_at_least":
        return f"by at least {value:g} Elo".replace("-", "\u2212")
    if check["test"] == "no_forfeits":
        return "no illegal move, error or timeout"
    if check["test"] == "max_seconds":
        return f"at most {value:g} s a {check['values']['per']}"
    return f"{check['test'].replace('_', ' ')}: {value}"


def measured_score(check: KeyValues) -> Measured | None:
    """The numbers of a claim about a score; None if there are none in its unit."""
    stored = check.get("measured")
    if stored is None or stored.get("score") is None or stored.get("bound") is None:
        return None
    ends = stored["wanted"], stored["score"], stored["bound"]
    in_elo = check["test"] == "elo_at_least"
    if in_elo:
        if not all(0.0 < end < 1.0 for end in ends):
            return None
        ends = elo_from_score(ends[0]), elo_from_score(ends[1]), elo_from_score(ends[2])
    return Measured(*ends, stored["level"], stored["openings"], in_elo)


def _strip(measured: Measured) -> Html:
    low, high = min(measured.asked, measured.bound), max(measured.asked, measured.found)
    room = max(high - low, 1e-3 if not measured.elo else 1.0)
    scale = Scale(low - 0.4 * room, high + 0.7 * room)
    asked = scale.at(measured.asked)
    marks = join([
        level_line(0, 100, 13, "grid"),
        rect(scale.at(measured.bound), 100, 8, 10, "band"),
        dot(scale.at(measured.found), 13, 4),
        line(asked, 4, 22, "claim"),
        words(asked, 32, f"asked {_asked(measured)}", _anchor(asked), "small"),
    ])  # fmt: skip
    return inline_svg(Picture(HEIGHT, marks))


def _asked(measured: Measured) -> str:
    """The claim as the experiment states it."""
    return elo(measured.asked) if measured.elo else f"{100 * measured.asked:g}\u00a0%"


def _anchor(place: float) -> str:
    return "start" if place < 15 else "end" if place > 85 else "middle"


def _words(report: ReportData, check: KeyValues, measured: Measured | None) -> Html:
    """Why the verdict is what it is."""
    if measured is not None and check["status"] == HOLDS:
        sure = f"{confidence(measured.level)} sure of at least {measured.text(measured.bound)}"
        found = measured.text(measured.found)
        lead = f"Found {found}" if measured.elo else f"Scored {found}"
        return text(f"{lead}; {sure} (one-sided, K = {measured.openings:,}).")
    if measured is not None and check["status"] == FAILS:
        return text(_not_shown(report, check, measured))
    return _detail(str(check["detail"]), check.get("game"))


def _detail(words_of: str, game: int | None) -> Html:
    """A verdict in the terminal's words; the game that it names is a link."""
    named = (
        ""
        if game is None
        else next((each for each in (f"is game {game}: ", f"is {game}: ") if each in words_of), "")
    )
    before, found, after = words_of.partition(named) if named else (words_of, "", "")
    if not found:
        nobody = words_of.startswith("none in")
        return text(f"{words_of[:1].upper() if nobody else words_of[:1]}{words_of[1:]}.")
    link = tag("a", f"game {game}", href=f"#game={game}")
    return join([f"{before}is ", link, f": {after}."])


def _not_shown(report: ReportData, check: KeyValues, measured: Measured) -> str:
    """A failed bound is either refuted or only not shown."""
    sure = f"{confidence(measured.level)} sure of"
    winner, _, loser = str(check["that"]).partition(BEATS)
    row = report.pairs.get((winner.strip(), loser.strip()))
    above = None if row is None else (row.elo_high if measured.elo else score_of(row).high)
    if above is not None and above < measured.asked:
        return (
            f"Refuted: found {measured.text(measured.found)}, {sure} less than "
            f"{measured.text(above)}."
        )
    found = measured.text(measured.found)
    lead = (
        f"Not shown, not refuted: found {found}, but {sure} {measured.text(measured.bound)} only."
    )
    if measured.found <= measured.asked:
        return f"{lead} K = {measured.openings:,}."
    ratio = (measured.found - measured.bound) / (measured.found - measured.asked)
    needed = round_openings(measured.openings * ratio * ratio)
    if needed is None:
        return f"{lead} If it is {found}, no number of games you would wait for would show it."
    return f"{lead} If it is {found}, about {counted(needed, 'opening')} would show it."
