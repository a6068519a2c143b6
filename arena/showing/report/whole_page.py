"""One self-contained file: the sections in their order, style and script allowed by their hash."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from arena.showing.figure import Figure, shown
from arena.showing.figures import figures
from arena.showing.html import Html, isolated, joined, tag
from arena.showing.palette import figure_style, page_style
from arena.showing.report.answer import answer_of
from arena.showing.report.check_rows import checks_of
from arena.showing.report.games_on_page import MOST_LISTED, games_json
from arena.showing.report.method import facts, make_again, played_when, rests_on
from arena.showing.report_contents import Report
from games.whole_files import write_text

PAGE = "report.html"
SCRIPTS = ("sowing.js", "othello.js", "games_list.js", "replay.js", "page.js")
HERE = Path(__file__).parent


def write_page(report: Report, path: Path) -> None:
    """Write the page of a report."""
    write_text(path, page_of(report))


def page_of(report: Report) -> str:
    """The whole page."""
    made = figures(report)
    return document(
        title=f"{isolated(answer_of(report).headline)} \u00b7 {name_of_run(report)}",
        body=joined([masthead(report), menu(made), sections(report, made)]),
        data=games_json(report),
    )


def document(title: str, body: Html, data: str, connect: str = "'none'") -> str:
    """A page of these parts, whose policy allows nothing but itself and what `connect` names."""
    style, script = Html(styles()), Html(scripts())
    policy = (
        f"default-src 'none'; style-src {digest_of(style)}; script-src {digest_of(script)}; "
        f"img-src data:; connect-src {connect}; base-uri 'none'; form-action 'none'"
    )
    head = (
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=Html(policy)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        tag("style", style),
    )
    inside = (
        tag("a", "Skip to the games", href="#games", class_="skip"),
        tag("main", body),
        tag("div", id="tip", role="tooltip", hidden=True),
        tag("script", Html(data), type="application/json", id="data"),
        tag("script", script),
    )
    whole = tag("html", tag("head", *head), "\n", tag("body", *inside), lang="en")
    return f"<!DOCTYPE html>\n{whole}\n"


def name_of_run(report: Report) -> str:
    """The experiment and its game."""
    return f"{report.summary['experiment']} on {report.game_name}"


def masthead(report: Report) -> Html:
    """What was asked, the answer, how sure it is; the checks; the facts."""
    answer = answer_of(report)
    line = tag(
        "p",
        tag("span", tag("b", report.summary["experiment"]), " on ", tag("b", report.game_name)),
        tag("span", played_when(report)),
        class_="masthead",
    )
    return tag(
        "header",
        line,
        tag("h1", answer.question),
        tag("p", answer.headline, class_="answer"),
        tag("p", answer.sure, class_="sure"),
        checks_of(report),
        facts(report),
    )


def menu(made: Mapping[str, Figure]) -> Html:
    """Links to the sections that are there."""
    links = [(name, figure.short or figure.heading) for name, figure in made.items()]
    links += [("games", "Games"), ("method", "Method"), ("again", "Make it again")]
    inside = (tag("a", heading, href=f"#{name}") for name, heading in links)
    return tag("nav", joined(inside, " "), aria_label="Sections")


def sections(report: Report, made: Mapping[str, Figure]) -> Html:
    """Everything below the fold."""
    parts = [shown(figure, name) for name, figure in made.items()]
    return joined([*parts, games_section(report), rests_on(report), make_again(report)])


def games_section(report: Report) -> Html:
    """The place of the list and the replay, which the script fills."""
    total = report.games.size
    lead = f"All {total:,} games."
    if total > MOST_LISTED:
        lead = (
            f"Of {total:,} games those are listed that stand out, and every nth of the others. "
            "All of them are in games.parquet."
        )
    if report.unlisted or not total:
        lead = report.unlisted or "No games were played."
    return tag(
        "section",
        tag("h2", "Games", id="games-h"),
        tag("p", lead, class_="lead"),
        tag("div", id="replay"),
        tag("div", id="list"),
        tag("noscript", tag("p", "The list and the replay need JavaScript.", class_="nothing")),
        id="games",
        aria_labelledby="games-h",
    )


@cache
def styles() -> str:
    """The style of the page."""
    return page_style() + figure_style() + (HERE / "page.css").read_text()


@cache
def scripts() -> str:
    """The script of the page."""
    return '"use strict";\n(() => {\n' + parts_of(SCRIPTS) + "})();\n"


def parts_of(names: Sequence[str]) -> str:
    """Some scripts, one after another."""
    return "".join((HERE / name).read_text() for name in names)


def digest_of(text: str) -> str:
    """How a policy names a script or a style."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
