"""Numbers and estimates as a page prints them."""

from dataclasses import replace

from arena.analysis.tables import EloRow, WinRateRow
from arena.stats.estimate import Estimate, EstimateKind
from arena.stats.text import (
    lower_end,
    percent_text,
    round_down,
    round_up,
    seconds_text,
    sign_text,
    strength_text,
    upper_end,
)
from games.base.schema import KeyValues

NO_BREAK = "\u00a0"
DASH = "\u2013"


def decisive_end(known: Estimate) -> float | None:
    """Return the end of a score's interval nearer to 0.5; None if the interval includes 0.5."""
    if known.kind == EstimateKind.CENSUS:
        return known.value if known.value != 0.5 else None
    if known.low is not None and known.low > 0.5:
        return known.low
    return known.high if known.high is not None and known.high < 0.5 else None


def has_end(known: Estimate) -> bool:
    """Return whether the interval has at least one end."""
    return known.low is not None or known.high is not None


def has_interval(known: Estimate) -> bool:
    """Return whether an estimate has an interval or is exact."""
    return has_end(known) or known.kind == EstimateKind.CENSUS


def estimate_from_json(stored: KeyValues) -> Estimate:
    """Return an estimate of summary.json."""
    ends = stored.get("value"), stored.get("low"), stored.get("high")
    return Estimate(*ends, stored["level"], EstimateKind(stored["kind"]), stored["reason"])


def score_of(row: WinRateRow) -> Estimate:
    """Return the score of a row's agent against its opponent."""
    kind = EstimateKind(row.interval)
    return Estimate(row.score, row.score_low, row.score_high, row.level, kind, row.why)


def difference_of(row: WinRateRow) -> Estimate:
    """Return the Elo difference of a row's agent to its opponent."""
    kind = EstimateKind(row.interval)
    return Estimate(row.elo, row.elo_low, row.elo_high, row.level, kind, row.why)


def first_mover_of(row: WinRateRow) -> Estimate:
    """Return the score of the first movers in a match."""
    ends = row.first_mover_score_low, row.first_mover_score_high
    kind = EstimateKind(row.interval)
    if ends == (None, None) and kind != EstimateKind.CENSUS:
        kind = EstimateKind.NONE
    return Estimate(row.first_mover_score, *ends, row.level, kind, row.why)


def simultaneous_score_of(row: WinRateRow) -> Estimate:
    """Return the score of a match, with the interval that holds for all matches at once."""
    return replace(score_of(row), low=row.simultaneous_low, high=row.simultaneous_high)


def rating_of(row: EloRow) -> Estimate:
    """Return the rating of an agent."""
    kind = EstimateKind(row.interval)
    return Estimate(row.elo, row.elo_low, row.elo_high, row.level, kind, row.why)


def strength_of(row: WinRateRow) -> str:
    """Return the score of a match with its interval, and the Elo difference."""
    return strength_text(score_of(row), difference_of(row))


def count(number: int) -> str:
    """Return a count with separators of thousands."""
    return f"{number:,}"


def share(number: float) -> str:
    """Return a share in per cent; only an exact one prints as 0 or 100."""
    return percent_text(number).replace(" ", NO_BREAK)


def bare_share(number: float) -> str:
    """Return a share in per cent without the sign, with at least one decimal."""
    digits = percent_text(number).removesuffix(" %")
    return digits if "." in digits else f"{digits}.0"


def elo(number: float, decimals: int = 0) -> str:
    """Return an Elo number with its sign."""
    return minus(sign_text(number, decimals))


def minus(text: str) -> str:
    """Replace hyphens by minus signs."""
    return text.replace("-", "\u2212")


def elo_ends(known: Estimate) -> str:
    """Return the interval of an Elo number: `+390 to +524`, or one bound."""
    low = None if known.low is None else elo(round_down(known.low, 0))
    high = None if known.high is None else elo(round_up(known.high, 0))
    return _ends_text(known, low, high)


def share_ends(known: Estimate) -> str:
    """Return the interval of a share, rounded outwards to a decimal: `67.6 to 79.9 %`."""
    low = None if known.low is None else lower_end(known.low, 1)
    high = None if known.high is None else upper_end(known.high, 1)
    return _ends_text(known, low, high, f"{NO_BREAK}%")


def _ends_text(known: Estimate, low: str | None, high: str | None, unit: str = "") -> str:
    if low is not None and high is not None:
        return f"{low} to {high}{unit}"
    if low is not None:
        return f"more than {low}{unit}"
    if high is not None:
        return f"less than {high}{unit}"
    return "exact" if known.kind == EstimateKind.CENSUS else "no interval"


def cell_ends(known: Estimate) -> str:
    """Return the interval of a share in whole per cent for a small cell: `67-80` or `> 95`."""
    low, high = known.low, known.high
    if low is not None and high is not None:
        return f"{lower_end(low, 0)}{DASH}{upper_end(high, 0)}"
    if low is not None:
        return f">{NO_BREAK}{lower_end(low, 0)}"
    if high is not None:
        return f"<{NO_BREAK}{upper_end(high, 0)}"
    return "exact" if known.kind == EstimateKind.CENSUS else "no interval"


def confidence(level: float) -> str:
    """Return a confidence level such as `95 %`."""
    return f"{100 * level:g}{NO_BREAK}%"


def points(number: float) -> str:
    """Return points, with a decimal only for half points."""
    return f"{number:,.1f}".removesuffix(".0")


def seconds(number: float) -> str:
    """Return a time in the unit that fits."""
    return seconds_text(number).replace(" ", NO_BREAK)


def capitalize(text: str) -> str:
    """Return a text with a capital first letter; the rest does not change."""
    return text[:1].upper() + text[1:]
