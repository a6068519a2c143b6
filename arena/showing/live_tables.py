"""The tables of the live page: standings, who beat whom, the rounds of a tournament.

Cells whose numbers change are named in `data-of`: the page fills them in place while somebody
points at the table, and puts rows into their new order when nobody does.
"""

from collections.abc import Sequence

from arena.planning.rounds import OUT, Row, TournamentStanding
from arena.report.figures.matrix import CELL, HEAD_WIDTH, scale_in_words
from arena.report.html import Html, isolated, joined, tag
from arena.report.numbers import bare_share, count
from arena.report.palette import step_of
from arena.report.row_chart import LONGEST_NAME
from arena.report.svg import Picture, Scale, block, cut, dot, fitted, grid, labels, on_page
from arena.stats.estimate import Estimate, EstimateKind
from arena.terminal.progress_line import AgentNow, MatchNow, interval_text, sides_of

MOST_IN_MATRIX = 24
SHARES = Scale(0.0, 1.0)
TICKS = ((0.0, "0"), (0.5, "50"), (1.0, "100\u00a0%"))
GRID = (0.0, 0.25, 0.5, 0.75, 1.0)
HEIGHT, AXIS = 28, 20  # pixels


def standings_table(rows: Sequence[AgentNow], names: Sequence[str]) -> Html:
    """All agents by their score so far, each with its interval drawn."""
    axis = on_page(Picture(AXIS, labels(SHARES, TICKS, 14)))
    heads = (
        tag("td"), tag("th", "agent", scope="col"), tag("td", axis, class_="strip"),
        *(tag("th", word, scope="col", class_="n")
          for word in ("score so far", "games", "matches above", "below", "open")),
    )  # fmt: skip
    body = (_standing(place, row, names[row.agent]) for place, row in enumerate(rows, 1))
    return _wide("Standings", tag("thead", tag("tr", *heads)), tag("tbody", joined(body)), "live")


def _standing(place: int, row: AgentNow, name: str) -> Html:
    texts = interval_text(row.score), *map(count, (row.games, row.above, row.below, row.open))
    cells = (
        tag("td", text, data_of=f"{row.agent}.{column}", class_="n")
        for column, text in enumerate(texts)
    )
    strip = tag("td", _strip(row.score), data_of=f"{row.agent}.strip", class_="strip")
    return tag("tr", tag("td", place), _named(name), strip, *cells)


def _strip(score: Estimate) -> Html:
    """The interval with its dot, as on the page of a finished run."""
    marks = [grid(SHARES, GRID, HEIGHT, 0.5)]
    if score.value is not None:
        if score.kind is not EstimateKind.NONE:
            low, high = _ends(score)
            marks.append(block(SHARES.at(low), SHARES.at(high), 8, 12, "band"))
        marks.append(dot(SHARES.at(score.value), HEIGHT / 2, 4))
    return on_page(Picture(HEIGHT, joined(marks)))


def score_matrix(
    rows: Sequence[AgentNow], matches: Sequence[MatchNow], names: Sequence[str]
) -> Html:
    """Who beat whom so far, coloured by what is settled."""
    if len(rows) > MOST_IN_MATRIX:
        return tag("p", f"More than {MOST_IN_MATRIX} agents: at the end.", class_="nothing")
    scores = {(one, other): match.seen_by(one)
              for match in matches
              for one, other in ((match.a, match.b), (match.b, match.a))}  # fmt: skip
    order = [row.agent for row in rows]
    tops = (tag("th", fitted(names[one], HEAD_WIDTH), scope="col", width=CELL) for one in order)
    body = (
        tag(
            "tr",
            _named(names[one], place),
            *(_cell(scores.get((one, other)), f"{one}-{other}") for other in order),
        )
        for place, one in enumerate(order, 1)
    )
    head = tag("thead", tag("tr", tag("td"), *tops))
    table = _wide("Who beat whom", head, tag("tbody", joined(body)), "matrix")
    return joined([scale_in_words(), table])


def _cell(score: Estimate | None, of: str) -> Html:
    """One score with its interval, in the colour of the end nearer to even."""
    if score is None or score.value is None:
        return tag("td", class_="none", data_of=of)
    if score.kind is EstimateKind.NONE:
        inside = bare_share(score.value), tag("small", "no interval")
        return tag("td", *inside, class_="even", data_of=of)
    low, high = _ends(score)
    side = sides_of(score)
    kind = "even" if side == 0 else step_of(low if side > 0 else high)
    ends = f"{int(100 * low)}\u2013{-int(-100 * high // 1)}"
    return tag("td", bare_share(score.value), tag("small", ends), class_=kind, data_of=of)


def _ends(score: Estimate) -> tuple[float, float]:
    return (
        0.0 if score.low is None else score.low,
        1.0 if score.high is None else score.high,
    )


def rounds_table(standing: TournamentStanding, names: Sequence[str]) -> Html:
    """The answer so far, who is still in, and why the others are not."""
    inside = ", ".join(isolated(names[agent]) for agent in standing.inside)
    at = f"After round {standing.rounds}: " if standing.rounds else "Round 1 is played: "
    lead = tag(
        "p", tag("b", at), f"{standing.answer}. ",
        f"In: {inside}." if inside else None, class_="lead",
    )  # fmt: skip
    rows = [row for row in standing.rows if row.why]
    if not rows:
        return joined([lead, tag("p", "Nobody is out yet.", class_="nothing")])
    heads = (tag("th", word, scope="col") for word in ("agent", "state", "round", "why"))
    body = joined(_round_row(row, names[row.agent]) for row in rows)
    notes = (tag("p", f"{note[:1].upper()}{note[1:]}.", class_="note") for note in standing.notes)
    head = tag("thead", tag("tr", *heads))
    return joined([lead, _wide("Rounds", head, tag("tbody", body), "rounds"), *notes])


def _round_row(row: Row, name: str) -> Html:
    state = row.state if row.place is None else f"{row.state}, place {row.place}"
    since = "" if row.round is None else row.round
    kind = OUT if row.state == OUT else None
    return tag("tr", _named(name), *(tag("td", each) for each in (state, since, row.why)),
               class_=kind)  # fmt: skip


def _named(name: str, place: int | None = None) -> Html:
    before = None if place is None else tag("span", place, class_="place")
    title = isolated(name) if len(name) > LONGEST_NAME else None
    return tag("th", before, tag("bdi", cut(name, LONGEST_NAME)), scope="row", title=title)


def _wide(label: str, head: Html, body: Html, kind: str) -> Html:
    """A table that scrolls sideways within its own region."""
    table = tag("table", tag("caption", label, class_="hidden"), head, body, class_=kind)
    return tag("div", table, class_="wide", tabindex=0, role="region", aria_label=label)
