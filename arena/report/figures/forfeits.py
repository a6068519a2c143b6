"""Games that were lost by a fault: whose, how often, and why."""

from collections import Counter

import numpy as np

from agents.fault_text import fault_text
from arena.report.data import PlayedGames, Report
from arena.report.figure import Figure, NumberTable, nothing_here, sentences, strong, table_of
from arena.report.html import Html, Inside, joined, name_of, tag
from arena.report.numbers import count, counted, share
from arena.report.svg import Picture, block, on_page
from games.base.errors import printable

MOST_TOLD, LONGEST = 12, 400  # different faults, characters of each


def figure(report: Report) -> Figure | None:
    """A table, an agent and a reason a row; the bar shows the share of its games."""
    games = report.games
    faults = faults_of(games)
    heading, number = "Forfeits", sum(faults.values())
    if not number:
        every = counted(games.size, "game")
        return Figure(heading, nothing_here(f"None. All {every} were played to their end."))
    played = games_of_agents(games)
    rows = [
        _row(games.names[agent], games.endings[ending], times, played[agent])
        for (agent, ending), times in sorted(faults.items(), key=lambda each: (-each[1], each[0]))
    ]
    head = ("agent", "reason", "stored as", "games", "of its games", "", "look")
    table = NumberTable(head, tuple(rows), words=3)
    lead = sentences(
        strong(f"{counted(number, 'game')} of {games.size:,}"),
        " ended by a fault of the side that lost. Nothing was taken out: a forfeit is a loss in "
        "every number of this page.",
    )
    body = joined([table_of(table, "Forfeits by agent and reason", "forfeits"), _told(report)])
    return Figure(heading, lead, None, table, body)


def faults_of(games: PlayedGames) -> Counter[tuple[int, int]]:
    """How many games each agent lost by each sort of fault."""
    found = Counter[tuple[int, int]]()
    for piece in games.pieces():
        faulty = piece.at(np.flatnonzero(games.forfeited(piece)))
        loser = np.where(faulty.result == 0.0, faulty.first, faulty.second)
        found.update(zip(loser.tolist(), faulty.ending.tolist(), strict=True))
    return found


def games_of_agents(games: PlayedGames) -> list[int]:
    """How many games each agent played."""
    sizes = np.zeros(len(games.names), np.int64)
    for piece in games.pieces():
        for seat in (piece.first, piece.second):
            sizes += np.bincount(seat, minlength=len(sizes))
    return sizes.tolist()


def _told(report: Report) -> Html | None:
    """The first different faults, as run.json keeps them."""
    found = [printable(str(line), LONGEST) for line in report.run.get("forfeits", []) if line]
    if not found:
        return None
    rows = tuple((tag("code", line),) for line in found[:MOST_TOLD])
    caption = "What happened" if len(found) == len(rows) else "The first different faults"
    table = NumberTable(("fault",), rows)
    return joined([tag("h3", caption), table_of(table, caption)])


def _row(name: str, word: str, number: int, played: int) -> tuple[Inside, ...]:
    return (
        name_of(name),
        fault_text(word, ""),
        tag("code", word),
        count(number),
        share(number / played),
        _bar(number / played),
        tag("a", "games", href=f"#games=forfeits&agent={_quoted(name)}"),
    )


def _bar(part: float) -> Html:
    marks = Html(block(0, 100, 9, 10, "track") + block(0, 100 * part, 9, 10, "worse"))
    return tag("div", on_page(Picture(28, marks)), class_="smallbar")


def _quoted(name: str) -> str:
    """A name as a part of an address."""
    from urllib.parse import quote  # noqa: PLC0415  # only where somebody forfeited

    return quote(name, safe="")
