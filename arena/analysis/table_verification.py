"""Compare the tables of ratings and win rates with what the games of a run give."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from agents.sandbox.sandbox import Sandbox
from arena.analysis.adapted import interval_kind
from arena.analysis.run_evidence import evidence_of_run
from arena.analysis.summary import summarise
from arena.analysis.tables import DECIMALS, EloRow, WinRateRow, elo_rows, win_rate_rows
from arena.planning.games import COLUMNS, Games, slice_games
from arena.planning.plan import Plan
from arena.planning.schedule import RoundTracker
from arena.storage.parquet import TableError, read_rows

ELO, WIN_RATES, POINTS = "elo.parquet", "win_rates.parquet", "points.parquet"
TOLERANCE = 2 * 10.0**-DECIMALS  # rounding errors of another machine


def wrong_table(
    directory: Path,
    plan: Plan,
    course: RoundTracker,
    stored: Games,
    unloadable: Mapping[int, str],
) -> str | None:
    """Return the first difference between a table of a run and its games; None without any.

    `plan` is the run's, with its stop rule. The tables must have been written by the same code.
    """
    size = len(stored) // 2
    none = {name: np.zeros(len(stored), kind) for name, kind in COLUMNS.items()}
    games = Games(none | stored.columns | course.columns(0, size), None, {})
    evidence = evidence_of_run(
        course.drawn, lambda: [slice_games(games, 0, len(games))], size, directory, Sandbox(),
        lambda _: None, unloadable,
    )  # fmt: skip
    summary = summarise(
        evidence, tournament=course.standing, by_points=(directory / POINTS).exists(),
        by_test=plan.stop is not None,
    )  # fmt: skip
    summary = interval_kind(replace(summary, stopped=None))
    try:
        return _difference(
            ELO, list(read_rows(directory / ELO, EloRow)), elo_rows(summary)
        ) or _difference(
            WIN_RATES, list(read_rows(directory / WIN_RATES, WinRateRow)),
            list(win_rate_rows(summary)),
        )  # fmt: skip
    except (OSError, TableError) as error:
        return f"a table cannot be read: {error}"


def _difference(table: str, stored: Sequence[Any], given: Sequence[Any]) -> str | None:
    for was, now in zip_longest(stored, given):
        if was is None or now is None:
            return f"{table} has {len(stored)} rows, the games give {len(given)}"
        who = " against ".join(islice((was.agent, *_opponent(was)), 2))
        for name in now._fields:
            one, other = getattr(was, name), getattr(now, name)
            if not _same(one, other):
                return f"{table}: {name} of {who} is {one}, the games give {other}"
    return None


def _opponent(row: Any) -> tuple[str, ...]:
    return (row.opponent,) if hasattr(row, "opponent") else ()


def _same(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return one == other
