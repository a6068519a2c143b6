"""The page while games are played: the sections of the report, as far as they are known."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from arena.analysis.checks.claims import HOLDS, Check
from arena.planning.plan import Plan
from arena.playing.play import Tick
from arena.report.answer import question_of
from arena.report.checks import badge, claim_of, subject_of
from arena.report.html import Html, isolated, joined, name_of, tag
from arena.report.page import digest_of, scripts, styles
from arena.showing.live_checks import LATER, CheckNow, checks_now
from arena.showing.live_tables import rounds_table, score_matrix, standings_table
from arena.terminal.progress_line import (
    AgentNow,
    MatchNow,
    Pace,
    agents_now,
    first_line,
    interval_text,
    matches_now,
    sides_of,
)

HERE = Path(__file__).parents[1] / "report"
MORE = "The other figures, the games and their replay appear here at the end of the run."
SECTIONS = (
    ("rounds", "Rounds so far"), ("standings", "Standings so far"), ("matrix", "Who beat whom"),
)  # fmt: skip
TRUE = "All intervals are true at every moment you look, and wider for it."


Parts: TypeAlias = Mapping[str, str | float | None]


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
            for name, heading in SECTIONS
            if name != "rounds" or self.plan.rounds is not None
        )  # fmt: skip
        return joined([header, *sections, tag("p", MORE, class_="nothing")])

    def question(self) -> str:
        """What the run asks."""
        if self.plan.rounds is not None:
            return question_of(self.plan.rounds.way, self.plan.game, len(self.names))
        if len(self.names) == 2:
            first, second = (isolated(name) for name in self.names)
            return f"Is {first} stronger than {second} at {self.plan.game}?"
        return f"Which of {len(self.names)} agents is strongest at {self.plan.game}?"

    def line(self, tick: Tick, seconds: float, pace: Pace) -> Parts:
        """What is cheap enough to be made anew for every look."""
        over = tick.done == tick.total and (tick.tournament is None or tick.tournament.over)
        words = first_line(tick, seconds, pace).replace(", ", " \u00b7 ")
        return {
            "now": f"{words} \u00b7 summing up" if over else words,
            # Nobody knows how many rounds a tournament has: the bar says only that it goes on.
            "bar": None if tick.tournament and not over else tick.done / max(tick.total, 1),
        }

    def parts(self, tick: Tick) -> Parts:
        """What stands in the other places of the page now."""
        matches = matches_now(tick)
        rows = agents_now(tick, matches)
        checks = checks_now(self.checks, tick, self.names)
        answer, sure = self._answer(rows, matches)
        told = tick.tournament
        if told is not None:
            answer = (
                f"{told.answer[:1].upper()}{told.answer[1:]}."
                if told.over
                else f"So far {told.answer}."
            )
        return {
            "answer": answer,
            "sure": sure,
            "checks": joined(_check(check) for check in checks),
            "rounds": None if told is None else rounds_table(told, self.names),
            "standings": joined([
                standings_table(rows, self.names), tag("p", TRUE, class_="note"),
            ]),
            "matrix": score_matrix(rows, matches, self.names),
        }  # fmt: skip

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


def _check(now: CheckNow) -> Html:
    """A check so far: its colour only when it is settled."""
    if now.status == LATER:
        shown = badge("at the end")
    elif now.settled:
        shown = badge(now.status, "so far ")
    else:
        shown = badge(f"so far {'holds' if now.status == HOLDS else 'fails'}")
    asked = {"that": now.check.that, "test": now.check.test, "values": now.check.values}
    return tag(
        "div", shown,
        tag("p", tag("b", subject_of(asked)), tag("span", claim_of(asked)), class_="claim"),
        tag("p", now.words, class_="why"), class_="check",
    )  # fmt: skip
