"""The page of a run, and of one game that was played at a terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.report.answer import make_answer
from arena.report.checks import checks_html
from arena.report.data import ReportData
from arena.report.document import document
from arena.report.figure import Figure, section, section_html
from arena.report.figures.registry import make_figures
from arena.report.games import (
    MOST_LISTED,
    board_rules,
    board_texts,
    games_json,
    games_parts,
    json_for_script,
)
from arena.report.glossary import glossary_section
from arena.report.html import Html, isolate, join, name_of, tag
from arena.report.methods import facts, finish_date_text, method_section, reproduce_section
from games import Game, Position
from games.base.files import write_text
from games.transcripts import replay_command_for_line

PAGE = "report.html"


def write_page(report: ReportData, path: Path) -> None:
    """Write the page of a report."""
    write_text(path, page_html(report))


def page_html(report: ReportData, live: str = "", live_script: str = "") -> str:
    """Return the whole page; `live` is a sentence at the top of the page of an unfinished run."""
    figures = make_figures(report)
    status = tag("p", live, id="live", class_="note", role="status") if live else None
    sections = [section_html(figure, name) for name, figure in figures.items()]
    return document(
        f"{isolate(make_answer(report).headline)} \u00b7 {report.summary['experiment']} on "
        f"{report.game_name}",
        join([
            status, masthead(report), menu(figures), *sections, games_section(report),
            method_section(report), reproduce_section(report), glossary_section(),
        ]),
        data=games_json(report),
        live_script=live_script,
    )  # fmt: skip


def masthead(report: ReportData) -> Html:
    """Return the top of the page: question, answer, checks, facts."""
    answer = make_answer(report)
    line = tag(
        "p",
        tag("span", tag("b", report.summary["experiment"]), " on ", tag("b", report.game_name)),
        tag("span", finish_date_text(report)),
        class_="masthead",
    )
    return tag(
        "header",
        line,
        tag("h1", answer.question),
        tag("p", answer.headline, class_="answer"),
        tag("p", answer.certainty, class_="sure"),
        checks_html(report),
        facts(report),
    )


def menu(figures: Mapping[str, Figure]) -> Html:
    """Return links to the sections."""
    links = [(name, figure.menu_label or figure.heading) for name, figure in figures.items()]
    links += [("games", "Games"), ("method", "Methods"), ("again", "Repeat"), ("words", "Words")]
    inside = (tag("a", heading, href=f"#{name}") for name, heading in links)
    return tag("nav", join(inside, " "), aria_label="Sections")


def games_section(report: ReportData) -> Html:
    """Return the section of the list and the replay, which the script fills."""
    total = report.games.size
    lead = f"All {total:,} games." if total else "No games were played."
    if total > MOST_LISTED:
        lead = (
            f"The list has the notable ones of {total:,} games, and every nth of the others. "
            "All of them are in games.parquet."
        )
    return section(
        "Games",
        *games_parts(lead),
        name="games",
    )


# ------------------------------------------------------------------------- one game


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A game as far as it was played; `ending` is a sentence."""

    game: Game
    names: tuple[str, str]
    positions: Sequence[Position]
    moves: Sequence[int]
    ending: str


def game_page(played: PlayedGame) -> str:
    """Return the page of a game, which opens at the last move."""
    first, second = played.names
    title = f"{isolate(first)} against {isolate(second)} at {played.game.name}"
    heading = tag("h1", name_of(first), " against ", name_of(second), f" at {played.game.name}")
    header = tag("header", heading, tag("p", played.ending, class_="answer"))
    replay = section("The game", *games_parts("", hide_list=True), name="games")
    return document(title, join([header, replay]), json_for_script(_game_data(played)))


def _game_data(played: PlayedGame) -> dict[str, object]:
    """Return what the script reads: a list of one game."""
    game, start, end = played.game, played.positions[0], played.positions[-1]
    board = board_rules(game) if start == game.start() else {"kind": "text"}
    over = game.over(end)
    margin = game.margin(end) if over else 0
    before, _, after = replay_command_for_line(game, "", start).partition('""')
    data: dict[str, object] = {
        "n": [0], "f": [0], "s": [1], "r": [1 + (margin > 0) - (margin < 0)], "m": [margin],
        "p": [len(played.moves)], "o": [0], "e": [0],
        **dict.fromkeys(("values", "usual", "run", "explain")),
        "game": game.name, "board": board, "agents": list(played.names), "elo": [None, None],
        "endings": ["normal" if over else "unfinished"], "total": 1, "forfeits": [],
        "against": [], "openings": {}, "moves": [game.write(played.moves, start)],
        "command": f"{before.rstrip()}{after} ",
    }  # fmt: skip
    if board["kind"] == "text":
        data["drawn"] = {0: board_texts(game, played.positions, played.names)}
    return data
