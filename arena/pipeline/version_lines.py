"""The strength of an agent over its versions: a table of text, and a figure."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from arena.report.chart import dots, error_bars, level, line, make_frame, xy_chart
from arena.terminal.plan import align_columns
from games.base.errors import printable

LONGEST_SUBJECT = 50
HEAD = ("version", "day", "Elo", "against the one before")


class EloInterval(NamedTuple):
    """A difference with its interval; None where the games cannot say."""

    value: float | None
    low: float | None
    high: float | None

    @property
    def ends(self) -> tuple[float, ...]:
        """Low end, value, high end as far as they are known; nothing without a value."""
        if self.value is None:
            return ()
        low, high = (self.value if each is None else each for each in (self.low, self.high))
        return low, self.value, high

    @property
    def text(self) -> str:
        """The numbers, rounded to whole Elo."""
        if self.value is None:
            return "too far apart to say"
        if self.low is None or self.high is None:
            return f"{self.value:+.0f}"
        return f"{self.value:+.0f} [{self.low:+.0f}, {self.high:+.0f}]"


class VersionRow(NamedTuple):
    """One version of an agent, its rating above the oldest, and its match with the one before."""

    name: str
    day: str
    subject: str
    elo: EloInterval
    step: EloInterval | None


def version_lines(rows: Sequence[VersionRow]) -> Iterator[str]:
    """The table, the oldest version first."""
    cells = [
        (printable(row.name), row.day, row.elo.text, "-" if row.step is None else row.step.text)
        for row in rows
    ]
    subjects = ["", *(printable(row.subject, LONGEST_SUBJECT) for row in rows)]
    for text, subject in zip(align_columns([HEAD, *cells]), subjects, strict=True):
        yield f"{text}  {subject}".rstrip()


def version_figure(rows: Sequence[VersionRow], title: str) -> str:
    """The ratings with their intervals, version by version, as the text of an SVG file."""
    known = [(float(place), row.elo.ends) for place, row in enumerate(rows, 1) if row.elo.ends]
    xs = [place for place, _ in known]
    lows, values, highs = ([ends[each] for _, ends in known] for each in range(3))
    frame = make_frame([0.5, len(rows) + 0.5], [0.0, *lows, *highs])
    parts = [
        level(frame, 0.0, "the oldest"),
        error_bars(frame, xs, lows, highs),
        line(frame, xs, values),
        dots(frame, xs, values),
    ]
    return xy_chart(frame, parts, title, "version, the oldest first", "Elo above the oldest")
