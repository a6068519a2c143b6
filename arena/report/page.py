"""Assemble a page with its content policy."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from arena.report.answer import make_answer
from arena.report.checks import checks_html
from arena.report.data import ReportData
from arena.report.figure import Figure, section_html
from arena.report.figures.registry import make_figures
from arena.report.games import MOST_LISTED, board_diff, board_rules, games_json, json_for_script
from arena.report.html import Html, isolate, join, name_of, tag
from arena.report.methods import facts, method_section, reproduce_section, run_date_text
from arena.report.palette import figure_style, page_style
from games import Game, Position
from games.base.files import write_text
from games.transcripts import replay_command_for_line

PAGE = "report.html"
SCRIPTS = ("sowing.js", "othello.js", "games_list.js", "replay.js", "page.js")
HERE = Path(__file__).parent


def write_page(report: ReportData, path: Path) -> None:
    """Write the page of a report."""
    write_text(path, page_of(report))


def page_of(report: ReportData, live: str = "", live_script: str = "") -> str:
    """Return the whole page; `live` stands above the page of a run that goes on."""
    made = make_figures(report)
    now = tag("p", live, id="live", class_="note", role="status") if live else None
    return document(
        title=f"{isolate(make_answer(report).headline)} \u00b7 {name_of_run(report)}",
        body=join([now, masthead(report), menu(made), sections(report, made)]),
        data=games_json(report),
        live_script=live_script,
    )


def document(title: str, body: Html, data: str, live_script: str = "") -> str:
    """Return a page of these parts; its policy allows nothing but itself, and a live one to ask."""
    style, script = Html(styles()), Html(live_script + scripts())
    connect = "'self'" if live_script else "'none'"
    policy = (
        f"default-src 'none'; style-src {csp_hash(style)}; script-src {csp_hash(script)}; "
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


def name_of_run(report: ReportData) -> str:
    """The experiment and its game."""
    return f"{report.summary['experiment']} on {report.game_name}"


def masthead(report: ReportData) -> Html:
    """What was asked, the answer, how sure it is; the checks; the facts."""
    answer = make_answer(report)
    line = tag(
        "p",
        tag("span", tag("b", report.summary["experiment"]), " on ", tag("b", report.game_name)),
        tag("span", run_date_text(report)),
        class_="masthead",
    )
    return tag(
        "header",
        line,
        tag("h1", answer.question),
        tag("p", answer.headline, class_="answer"),
        tag("p", answer.sure, class_="sure"),
        checks_html(report),
        facts(report),
    )


def menu(made: Mapping[str, Figure]) -> Html:
    """Links to the sections that are there."""
    links = [(name, figure.short or figure.heading) for name, figure in made.items()]
    links += [("games", "Games"), ("method", "Method"), ("again", "Make it again")]
    inside = (tag("a", heading, href=f"#{name}") for name, heading in links)
    return tag("nav", join(inside, " "), aria_label="Sections")


def sections(report: ReportData, made: Mapping[str, Figure]) -> Html:
    """Everything below the fold."""
    parts = [section_html(figure, name) for name, figure in made.items()]
    return join([*parts, games_section(report), method_section(report), reproduce_section(report)])


def games_section(report: ReportData) -> Html:
    """The place of the list and the replay, which the script fills."""
    total = report.games.size
    lead = f"All {total:,} games."
    if total > MOST_LISTED:
        lead = (
            f"Of {total:,} games those are listed that stand out, and every nth of the others. "
            "All of them are in games.parquet."
        )
    if not total:
        lead = "No games were played."
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


def csp_hash(text: str) -> str:
    """How a policy names a script or a style."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


@dataclass(frozen=True, slots=True)
class ShownGame:
    """A game as far as it was played; `ending` is its last sentence."""

    of: Game
    names: tuple[str, str]
    positions: Sequence[Position]
    moves: Sequence[int]
    ending: str


def game_page(shown: ShownGame) -> str:
    """The page, opened at the last move."""
    first, second = shown.names
    heading = f"{isolate(first)} against {isolate(second)} at {shown.of.name}"
    lead = tag("p", shown.ending, class_="answer")
    header = tag("header", tag("h1", name_of(first), " against ", name_of(second),
                               f" at {shown.of.name}"), lead)  # fmt: skip
    return document(heading, join([header, _replay()]), json_for_script(_content(shown)))


def _replay() -> Html:
    return tag(
        "section",
        tag("h2", "The game", id="games-h"),
        tag("div", id="replay"),
        tag("div", id="list", hidden=True),
        tag("noscript", tag("p", "The replay needs JavaScript.", class_="nothing")),
        id="games",
        aria_labelledby="games-h",
    )


def _content(shown: ShownGame) -> dict[str, object]:
    """What the script reads: a list of one game."""
    of, start = shown.of, shown.positions[0]
    from_start = start == of.start()
    board = board_rules(of) if from_start else {"kind": "text"}
    margin = of.margin(shown.positions[-1]) if of.over(shown.positions[-1]) else 0
    one: dict[str, object] = {
        "n": [0], "f": [0], "s": [1], "r": [1 + (margin > 0) - (margin < 0)], "m": [margin],
        "p": [len(shown.moves)], "o": [0], "e": [0],
    }  # fmt: skip
    if board["kind"] == "text":
        boards = [of.draw(position, shown.names) for position in shown.positions]
        movers = "".join(str(of.mover(position)) for position in shown.positions)
        one["drawn"] = {0: [movers, boards[0], *(board_diff(*each) for each in pairwise(boards))]}
    before, _, after = replay_command_for_line(of, "", start).partition('""')
    ending = "normal" if of.over(shown.positions[-1]) else "unfinished"
    nothing = dict.fromkeys(("values", "usual", "run", "explain"))
    return one | nothing | {
        "game": of.name, "board": board, "agents": list(shown.names), "elo": [None, None],
        "endings": [ending], "total": 1, "forfeits": [], "against": [], "openings": {},
        "moves": [of.write(shown.moves, start)], "command": f"{before.rstrip()}{after} ",
    }  # fmt: skip
