"""The page while games are played: the sections of the report, as far as they are known."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from arena.concluding.checks import HOLDS, Check
from arena.planning.plan import Plan
from arena.playing.tournament import Tick
from arena.showing.figures.matrix import CELL, scale_in_words
from arena.showing.html import Html, isolated, joined, name_of, tag
from arena.showing.live_checks import LATER, CheckNow, checks_now
from arena.showing.live_line import first_line, interval_text
from arena.showing.numbers import bare_share, count
from arena.showing.palette import step_of
from arena.showing.progress import AgentNow, MatchNow, Pace, agents_now, matches_now, sides_of
from arena.showing.report.check_rows import badge
from arena.showing.report.whole_page import digest_of, scripts, styles
from arena.stats.estimate import Estimate, EstimateKind

HERE = Path(__file__).parent / "report"
MOST_IN_MATRIX = 24
MORE = "The other figures, the games and their replay appear here at the end of the run."
TRUE = "All intervals are true at every moment you look, and wider for it."


class LivePage:
    """Makes the page of one run, whole at first and then what changes."""

    def __init__(self, experiment: str, plan: Plan, checks: Sequence[Check]) -> None:
        """Nothing is known but what is asked."""
        self.experiment, self.plan, self.checks = experiment, plan, checks
        self.names = plan.names

    def document(self) -> str:
        """The whole page; the script fills it from the events."""
        style = Html(styles() + (HERE / "live.css").read_text())
        script = Html((HERE / "live.js").read_text())
        # The report takes the place of this page at the end: its parts are allowed from the start.
        policy = (
            f"default-src 'none'; style-src {digest_of(style)} {digest_of(styles())}; "
            f"script-src {digest_of(script)} {digest_of(scripts())}; img-src data:; "
            "connect-src 'self'; base-uri 'none'; form-action 'none'"
        )
        head = (
            tag("meta", charset="utf-8"),
            tag("meta", http_equiv="Content-Security-Policy", content=Html(policy)),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name="color-scheme", content="light dark"),
            tag("meta", name="referrer", content="no-referrer"),
            tag("title", f"{self.experiment} on {self.plan.game}: live"),
            tag("style", style),
        )
        inside = tag("main", self._body()), tag("script", script)
        whole = tag("html", tag("head", *head), "\n", tag("body", *inside), lang="en")
        return f"<!DOCTYPE html>\n{whole}\n"

    def _body(self) -> Html:
        line = tag(
            "p", tag("span", tag("b", self.experiment), " on ", tag("b", self.plan.game)),
            class_="masthead",
        )  # fmt: skip
        now = tag(
            "div",
            tag("p", "Waiting for the first games.", id="now"),
            tag("progress", id="bar", max=1, value=0, aria_label="games played"),
            tag("p", id="spoken", class_="hidden", aria_live="polite"),
        )
        parts = ("answer", "answer"), ("sure", "sure"), ("checks", "checks")
        header = tag(
            "header", now, line, tag("h1", self.question()),
            *(tag("p" if name != "checks" else "div", id=name, class_=kind)
              for name, kind in parts),
        )  # fmt: skip
        sections = (
            tag(
                "section", tag("h2", heading, id=f"{name}-h"),
                tag("div", id=name), aria_labelledby=f"{name}-h",
            )
            for name, heading in (("standings", "Standings so far"), ("matrix", "Who beat whom"))
        )  # fmt: skip
        return joined([header, *sections, tag("p", MORE, class_="nothing")])

    def question(self) -> str:
        """What the run asks."""
        if len(self.names) == 2:
            first, second = (isolated(name) for name in self.names)
            return f"Is {first} stronger than {second} at {self.plan.game}?"
        return f"Which of {len(self.names)} agents is strongest at {self.plan.game}?"

    def parts(self, tick: Tick, seconds: float, pace: Pace) -> Mapping[str, str | float]:
        """What stands in each place of the page now."""
        matches = matches_now(tick)
        rows = agents_now(tick, matches)
        checks = checks_now(self.checks, tick, self.names)
        answer, sure = self._answer(rows, matches)
        return {
            "now": first_line(tick, seconds, pace).replace(", ", " \u00b7 "),
            "bar": tick.done / max(tick.total, 1),
            "answer": answer,
            "sure": sure,
            "checks": joined(_check(check) for check in checks),
            "standings": joined([_standings(rows, self.names), tag("p", TRUE, class_="note")]),
            "matrix": self._matrix(rows, matches),
        }

    def _answer(self, rows: Sequence[AgentNow], matches: Sequence[MatchNow]) -> tuple[str, Html]:
        """The answer so far with the direct match that it rests on."""
        if len(rows) < 2:
            return "No games yet.", Html("")
        best, other = rows[0].agent, rows[1].agent
        direct = next((each for each in matches if {each.a, each.b} == {best, other}), None)
        names = isolated(self.names[best]), isolated(self.names[other])
        if direct is None:
            return f"So far {names[0]} scores most.", Html("")
        score = direct.seen_by(best)
        sure = joined([
            name_of(self.names[best]), f" against {names[1]}: {interval_text(score)}.",
        ])  # fmt: skip
        if sides_of(score) == 0:
            return f"So far these games do not tell {names[0]} and {names[1]} apart.", sure
        ahead, behind = names if sides_of(score) > 0 else names[::-1]
        return f"So far {ahead} is ahead of {behind}.", sure

    def _matrix(self, rows: Sequence[AgentNow], matches: Sequence[MatchNow]) -> Html:
        if len(rows) > MOST_IN_MATRIX:
            return tag("p", f"More than {MOST_IN_MATRIX} agents: at the end.", class_="nothing")
        scores = {(one, other): match.seen_by(one)
                  for match in matches
                  for one, other in ((match.a, match.b), (match.b, match.a))}  # fmt: skip
        order = [row.agent for row in rows]
        tops = (tag("th", place, scope="col", width=CELL) for place in range(1, len(order) + 1))
        body = (
            tag(
                "tr",
                tag("th", tag("span", place, class_="place"), name_of(self.names[one]),
                    scope="row"),
                *(_cell(scores.get((one, other))) for other in order),
            )
            for place, one in enumerate(order, 1)
        )  # fmt: skip
        table = tag(
            "table", tag("thead", tag("tr", tag("td"), *tops)), tag("tbody", joined(body)),
            class_="matrix",
        )  # fmt: skip
        wide = tag(
            "div", table, class_="wide", tabindex=0, role="region", aria_label="Who beat whom"
        )
        return joined([scale_in_words(), wide])


def _check(now: CheckNow) -> Html:
    """A check so far: its colour only when it is settled."""
    if now.status == LATER:
        shown = badge("at the end")
    elif now.settled:
        shown = badge(now.status, "so far ")
    else:
        shown = badge(f"so far {'holds' if now.status == HOLDS else 'fails'}")
    value = now.check.values.get(now.check.test)
    claim = f"{now.check.test.replace('_', ' ')}: {value}"
    return tag(
        "div", shown,
        tag("p", tag("b", now.check.that), tag("span", claim), class_="claim"),
        tag("div", class_="strip"), tag("p", now.words, class_="why"), class_="check",
    )  # fmt: skip


def _standings(rows: Sequence[AgentNow], names: Sequence[str]) -> Html:
    head = ("", "agent", "score so far", "games", "matches above", "below", "open")
    body = (
        tag(
            "tr",
            tag("td", place),
            tag("th", name_of(names[row.agent]), scope="row"),
            tag("td", interval_text(row.score)),
            *(tag("td", count(number)) for number in (row.games, row.above, row.below, row.open)),
        )
        for place, row in enumerate(rows, 1)
    )
    top = tag("tr", *(tag("th", word, scope="col") if word else tag("td") for word in head))
    table = tag("table", tag("thead", top), tag("tbody", joined(body)), class_="numbers")
    return tag("div", table, class_="wide", tabindex=0, role="region", aria_label="Standings")


def _cell(score: Estimate | None) -> Html:
    """One score with its interval, in the colour of the end nearer to even."""
    if score is None or score.value is None:
        return tag("td", class_="none")
    if score.kind is EstimateKind.NONE:
        return tag("td", bare_share(score.value), tag("small", "no interval"), class_="even")
    low = 0.0 if score.low is None else score.low
    high = 1.0 if score.high is None else score.high
    side = sides_of(score)
    kind = "even" if side == 0 else step_of(low if side > 0 else high)
    ends = f"{int(100 * low)}\u2013{-int(-100 * high // 1)}"
    return tag("td", bare_share(score.value), tag("small", ends), class_=kind)
