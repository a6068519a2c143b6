"""Games that were lost by a fault: whose, how often, and why."""

from collections import Counter

import numpy as np

from agents.fault_text import fault_text
from arena.report.data import GameTable, ReportData
from arena.report.figure import (
    Figure,
    FigureTable,
    empty_section,
    lead_paragraph,
    strong,
    table_html,
)
from arena.report.html import Html, Inside, join, name_of, tag
from arena.report.numbers import count, counted, share
from arena.report.svg import Picture, inline_svg, rect
from games.base.errors import printable
from games.base.machine_paths import without_machine_paths

MOST_TOLD, LONGEST = 12, 400  # different faults, characters of each


def figure(report: ReportData) -> Figure | None:
    """A table, an agent and a reason a row; the bar shows the share of its games."""
    games = report.games
    faults = forfeit_counts(games)
    unplayed = sum(each.unplayed for each in report.excluded)
    heading, number = "Forfeits", sum(faults.values()) + unplayed
    if not number:
        every = counted(games.size, "game")
        return Figure(heading, empty_section(f"None. All {every} were played to their end."))
    played = games_per_agent(games)
    rows = [
        _row(games.names[agent], games.endings[ending], times, played[agent])
        for (agent, ending), times in sorted(faults.items(), key=lambda each: (-each[1], each[0]))
    ]
    rows += [
        _row(each.agent, None, each.unplayed, played[games.names.index(each.agent)])
        for each in report.excluded
        if each.unplayed
    ]
    head = ("agent", "reason", "stored as", "games", "of its games", "", "look")
    table = FigureTable(head, tuple(rows), words=3)
    lead = lead_paragraph(
        strong(f"{counted(number, 'game')} of {games.size:,}"),
        " were forfeited by the side that lost",
        f", {count(unplayed)} of them unplayed after its exclusion" if unplayed else "",
        ". Nothing was taken out: a forfeit is a loss in every number of this page.",
    )
    body = join([table_html(table, "Forfeits by agent and reason", "forfeits"), _told(report)])
    return Figure(heading, lead, None, table, body)


def forfeit_counts(games: GameTable) -> Counter[tuple[int, int]]:
    """How many of the games that were played each agent lost by each sort of fault."""
    found = Counter[tuple[int, int]]()
    for start, piece in games.numbered():
        unplayed = games.unplayed(piece, start + np.arange(len(piece.result)))
        faulty = piece.at(np.flatnonzero(games.forfeited(piece) & ~unplayed))
        loser = np.where(faulty.result == 0.0, faulty.first, faulty.second)
        found.update(zip(loser.tolist(), faulty.ending.tolist(), strict=True))
    return found


def games_per_agent(games: GameTable) -> list[int]:
    """How many games each agent played."""
    sizes = np.zeros(len(games.names), np.int64)
    for piece in games.pieces():
        for seat in (piece.first, piece.second):
            sizes += np.bincount(seat, minlength=len(sizes))
    return sizes.tolist()


def _told(report: ReportData) -> Html | None:
    """The excluded bots, then the first different faults, as run.json keeps them."""
    excluded = [each.line for each in report.excluded]
    faults = [str(line) for line in report.run.get("forfeits", []) if line]
    if not excluded and not faults:
        return None
    shown = [*excluded, *faults[:MOST_TOLD]]
    lines = [printable(without_machine_paths(line, report.base), LONGEST) for line in shown]
    rows: list[tuple[Inside, ...]] = [(tag("code", line),) for line in lines]
    known = int(report.run.get("different_faults") or len(faults))
    if (left := known - min(MOST_TOLD, len(faults))) > 0:
        rows.append((f"... and {count(left)} more: see run.json",))
    caption = "What happened"
    table = FigureTable(("fault",), tuple(rows))
    return join([tag("h3", caption), table_html(table, caption)])


def _row(name: str, word: str | None, number: int, played: int) -> tuple[Inside, ...]:
    """One reason for an agent's forfeits; None: it was excluded, and its games were not played."""
    return (
        name_of(name),
        "forfeited unplayed after its exclusion" if word is None else fault_text(word, ""),
        "" if word is None else tag("code", word),
        count(number),
        share(number / played),
        _bar(number / played),
        tag("a", "games", href=f"#games=forfeits&agent={_quoted(name)}"),
    )


def _bar(part: float) -> Html:
    marks = Html(rect(0, 100, 9, 10, "track") + rect(0, 100 * part, 9, 10, "worse"))
    return tag("div", inline_svg(Picture(28, marks)), class_="smallbar")


def _quoted(name: str) -> str:
    """A name as a part of an address."""
    from urllib.parse import quote  # noqa: PLC0415  # only where somebody forfeited

    return quote(name, safe="")
