"""Games that were lost by a fault, by agent and reason."""

from collections import Counter
from urllib.parse import quote

import numpy as np

from agents.fault_text import fault_text
from arena.report.data import GameTable, ReportData
from arena.report.figure import (
    Figure,
    FigureTable,
    empty_paragraph,
    lead_paragraph,
    strong,
    table_html,
)
from arena.report.html import Html, Inside, join, name_of, tag
from arena.report.numbers import count, share
from arena.report.svg import Picture, inline_svg, rect
from games.base.errors import printable
from games.base.text import count_noun, without_machine_paths

MOST_FAULTS, MOST_CHARACTERS = 12, 400  # in the list of different faults


def forfeits_figure(report: ReportData) -> Figure | None:
    """Return a table with a row for each agent and reason."""
    games = report.games
    faults = forfeit_counts(games)
    unplayed = sum(each.unplayed for each in report.exclusions)
    heading, number = "Forfeits", sum(faults.values()) + unplayed
    if not number:
        every = count_noun(games.size, "game")
        return Figure(heading, empty_paragraph(f"None. All {every} were played to their end."))
    played = games_per_agent(games)
    rows = [
        _row(games.names[agent], games.endings[ending], times, played[agent])
        for (agent, ending), times in sorted(faults.items(), key=lambda each: (-each[1], each[0]))
    ]
    rows += [
        _row(each.agent, None, each.unplayed, played[games.names.index(each.agent)])
        for each in report.exclusions
        if each.unplayed
    ]
    head = ("agent", "reason", "stored as", "games", "of its games", "", "look")
    table = FigureTable(head, tuple(rows), text_columns=3)
    lead = lead_paragraph(
        strong(f"{count_noun(number, 'game')} of {games.size:,}"),
        " were forfeited by the side that lost",
        f", {count(unplayed)} of them unplayed after its exclusion" if unplayed else "",
        ". A forfeit counts as a loss in every number of this page.",
    )
    body = join(
        [table_html(table, "Forfeits by agent and reason", "forfeits"), _fault_list(report)]
    )
    return Figure(heading, lead, None, table, body)


def forfeit_counts(games: GameTable) -> Counter[tuple[int, int]]:
    """Return how many games each agent lost by each kind of fault, as places in the table."""
    found = Counter[tuple[int, int]]()
    for start, piece in games.chunks_with_rows():
        unplayed = games.exclusion_forfeits(piece, start + np.arange(len(piece.result)))
        faulty = piece.take(np.flatnonzero(games.forfeits(piece) & ~unplayed))
        loser = np.where(faulty.result == 0.0, faulty.first, faulty.second)
        found.update(zip(loser.tolist(), faulty.ending.tolist(), strict=True))
    return found


def games_per_agent(games: GameTable) -> list[int]:
    """Return how many games each agent played."""
    sizes = np.zeros(len(games.names), np.int64)
    for piece in games.chunks():
        for seat in (piece.first, piece.second):
            sizes += np.bincount(seat, minlength=len(sizes))
    return sizes.tolist()


def _fault_list(report: ReportData) -> Html | None:
    """Return the excluded bots, and the first different faults that run.json has."""
    excluded = [each.line for each in report.exclusions]
    faults = [str(line) for line in report.run.get("forfeits", []) if line]
    if not excluded and not faults:
        return None
    shown = [*excluded, *faults[:MOST_FAULTS]]
    lines = [
        printable(without_machine_paths(line, report.experiment_directory), MOST_CHARACTERS)
        for line in shown
    ]
    rows: list[tuple[Inside, ...]] = [(tag("code", line),) for line in lines]
    known = int(report.run.get("different_faults") or len(faults))
    if (left := known - min(MOST_FAULTS, len(faults))) > 0:
        rows.append((f"... and {count(left)} more: see run.json",))
    caption = "Faults"
    table = FigureTable(("fault",), tuple(rows))
    return join([tag("h3", caption), table_html(table, caption)])


def _row(name: str, word: str | None, number: int, played: int) -> tuple[Inside, ...]:
    """Return a reason for forfeits as a row; `word` is None for games after an exclusion."""
    return (
        name_of(name),
        "forfeited unplayed after its exclusion" if word is None else fault_text(word, ""),
        "" if word is None else tag("code", word),
        count(number),
        share(number / played),
        _bar(number / played),
        tag("a", "games", href=f"#games=forfeits&agent={quote(name, safe='')}"),
    )


def _bar(part: float) -> Html:
    marks = Html(rect(0, 100, 9, 10, "track") + rect(0, 100 * part, 9, 10, "worse"))
    return tag("div", inline_svg(Picture(28, marks)), class_="smallbar")
