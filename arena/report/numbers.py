"""Numbers as the page prints them."""

from typing import NamedTuple

from arena.analysis.tables import EloRow, WinRateRow
from arena.stats.estimate import Estimate, EstimateKind
from arena.stats.text import (
    lower_end,
    percent_text,
    rounded_down,
    rounded_up,
    signed_text,
    strength_text,
    upper_end,
)
from games.base.schema import KeyValues

NO_BREAK = "\u00a0"
DASH = "\u2013"
TWO_HOURS = 7200
# The names that `EstimateKind` has in the tables.
NO_INTERVAL, CENSUS, SPRT = "none", "census", "sprt"


class StoredEstimate(NamedTuple):
    """A number of a table with its interval; `why` says why there is none."""

    value: float | None
    low: float | None
    high: float | None
    kind: str
    level: float
    why: str

    @property
    def settled(self) -> float | None:
        """The end of the interval nearer to an even score; None if it includes one or is none."""
        if self.kind == CENSUS:
            return self.value if self.value != 0.5 else None
        if self.low is not None and self.low > 0.5:
            return self.low
        return self.high if self.high is not None and self.high < 0.5 else None

    @property
    def bounded(self) -> bool:
        """Whether at least one end is known."""
        return self.low is not None or self.high is not None

    @property
    def measured(self) -> bool:
        """Whether the tables have an interval for it, or it is exact."""
        return self.bounded or self.kind == CENSUS


def stored_estimate(stored: KeyValues) -> StoredEstimate:
    """An estimate of summary.json."""
    ends = stored.get("value"), stored.get("low"), stored.get("high")
    return StoredEstimate(*ends, stored["kind"], stored["level"], stored["reason"])


def estimate_of(known: StoredEstimate) -> Estimate:
    """The estimate that a table has."""
    kind = EstimateKind(known.kind)
    return Estimate(known.value, known.low, known.high, known.level, kind, known.why)


def strength_of(row: WinRateRow) -> str:
    """The score of a pair with its interval, and the Elo difference."""
    return strength_text(estimate_of(score_of(row)), estimate_of(difference_of(row)))


def score_of(row: WinRateRow) -> StoredEstimate:
    """The score of a pair of agents, seen by the first."""
    ends = row.score, row.score_low, row.score_high
    return StoredEstimate(*ends, row.interval, row.level, row.why)


def difference_of(row: WinRateRow) -> StoredEstimate:
    """The same in Elo."""
    return StoredEstimate(row.elo, row.elo_low, row.elo_high, row.interval, row.level, row.why)


def first_mover_of(row: WinRateRow) -> StoredEstimate:
    """The score of the first movers in the games of a pair."""
    ends = row.first_mover_score, row.first_mover_score_low, row.first_mover_score_high
    bounded = any(end is not None for end in ends[1:])
    kind = row.interval if bounded or row.interval == CENSUS else NO_INTERVAL
    return StoredEstimate(*ends, kind, row.level, row.why)


def rating_of(row: EloRow) -> StoredEstimate:
    """The rating of an agent."""
    return StoredEstimate(row.elo, row.elo_low, row.elo_high, row.interval, row.level, row.why)


def count(number: int) -> str:
    """A count."""
    return f"{number:,}"


def counted(number: int, noun: str) -> str:
    """A count with its noun."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def share(number: float) -> str:
    """A share in per cent, which is 100 or 0 only if it is exactly that."""
    return percent_text(number).replace(" ", NO_BREAK)


def bare_share(number: float) -> str:
    """The same without its sign, always with a decimal."""
    words = percent_text(number).removesuffix(" %")
    return words if "." in words else f"{words}.0"


def elo(number: float, decimals: int = 0) -> str:
    """Elo with its sign."""
    return minus(signed_text(number, decimals))


def minus(words: str) -> str:
    """A number as text, with the sign that typesetters use."""
    return words.replace("-", "\u2212")


def elo_ends(known: StoredEstimate) -> str:
    """The interval of an Elo number: `+390 to +524`, or what is known of it."""
    if known.low is not None and known.high is not None:
        return f"{elo(rounded_down(known.low, 0))} to {elo(rounded_up(known.high, 0))}"
    if known.low is not None:
        return f"more than {elo(rounded_down(known.low, 0))}"
    if known.high is not None:
        return f"less than {elo(rounded_up(known.high, 0))}"
    return "exact" if known.kind == CENSUS else "no interval"


def share_ends(known: StoredEstimate) -> str:
    """The interval of a share, rounded outwards to a decimal: `67.6 to 79.9 %`."""
    low, high = known.low, known.high
    if low is not None and high is not None:
        return f"{lower_end(low, 1)} to {upper_end(high, 1)}{NO_BREAK}%"
    if low is not None:
        return f"more than {lower_end(low, 1)}{NO_BREAK}%"
    if high is not None:
        return f"less than {upper_end(high, 1)}{NO_BREAK}%"
    return "exact" if known.kind == CENSUS else "no interval"


def cell_ends(known: StoredEstimate) -> str:
    """The same in whole per cent, for a cell: `> 95`, or both ends."""
    low, high = known.low, known.high
    if low is not None and high is not None:
        return f"{lower_end(low, 0)}{DASH}{upper_end(high, 0)}"
    if low is not None:
        return f">{NO_BREAK}{lower_end(low, 0)}"
    if high is not None:
        return f"<{NO_BREAK}{upper_end(high, 0)}"
    return "exact" if known.kind == CENSUS else "no interval"


def confidence(level: float) -> str:
    """A level such as `95 %`."""
    return f"{100 * level:g}{NO_BREAK}%"


def points(number: float) -> str:
    """Points, with halves."""
    return f"{number:,.1f}".removesuffix(".0")


def seconds(number: float) -> str:
    """A short or a long time, in the unit that fits."""
    if number >= TWO_HOURS:
        return f"{number / 3600:.1f}{NO_BREAK}h"
    names = {60.0: "min", 1.0: "s", 1e-3: "ms", 1e-6: "\u00b5s", 1e-9: "ns"}
    for least, unit in ((120.0, 60.0), (1.0, 1.0), (1e-3, 1e-3), (1e-6, 1e-6), (0.0, 1e-9)):
        if number >= least:
            size = number / unit
            text = f"{size:.0f}" if size >= 10 else f"{size:.1f}".removesuffix(".0")
            return f"{text}{NO_BREAK}{names[unit]}"
    return f"0{NO_BREAK}s"
