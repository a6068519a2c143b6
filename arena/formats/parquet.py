"""Games from our own runs: games.parquet, which says from which run and agents they are."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.analysis.exclusions import KEY, stored_exclusions
from arena.analysis.summary_file import SHAPE, load_summary
from arena.formats.game_record import (
    LONGEST_NAME,
    UNKNOWN,
    GivenGame,
    NamedAgent,
    Unreadable,
    fault_of,
    game_name,
    line_of,
    mover_named,
    pairing_of,
)
from arena.storage.parquet import (
    TableError,
    column_names,
    count_rows,
    iter_rows,
    read_columns,
    read_source,
)
from arena.storage.provenance import agent_versions, read_run
from games.base.schema import KeyValues

NEEDED = ("first", "second", "result", "opening", "repeat")
OPTIONAL = ("first_mover", "opening_moves", "game_id", "pair", "seed", "termination")


def games_in(file: Path) -> Iterator[GivenGame]:
    """All games of a run; where nothing else tells games apart, those not marked as repeats."""
    try:
        columns = read_columns(file, NEEDED, optional=OPTIONAL)
        source = read_source(file)
        lines = _lines(file)
    except TableError as error:
        raise Unreadable(f"{file}: is not a games.parquet of pitflip: {error}") from None
    rows = _validate(file, columns)
    run, plan = str(source.get("run") or ""), source.get("plan")
    plan = plan if isinstance(plan, dict) else {}
    game = game_name(str(plan.get("game") or UNKNOWN))
    known = agent_versions(_with_digests(file, source))
    counts = None if "game_id" in rows else ~np.asarray(columns["repeat"], dtype=np.bool_)
    since = _exclusions(file)
    for row, score in enumerate(rows["result"]):
        if counts is not None and not counts[row]:
            continue
        first, second = (NamedAgent(rows[seat][row], known.get(rows[seat][row], ""))
                         for seat in ("first", "second"))  # fmt: skip
        cell = {name: values[row] for name, values in rows.items() if name in OPTIONAL}
        number = (run or str(file.resolve()), rows["opening"][row])
        yield GivenGame(
            game, first, second, score, cell.get("opening_moves", number), lines[row],
            game_id=cell.get("game_id"), seed=cell.get("seed"),
            pairing=pairing_of(run or str(file.resolve()), str(cell.get("pair", ""))),
            fault=fault_of(str(cell.get("termination", "")), score), row=row,
            mover=_mover(f"{file}: row {row}", cell, (first, second)),
            unearned=all(row >= since.get(player.name, row + 1) for player in (first, second)),
            stopped=bool(plan.get("stop")),
        )  # fmt: skip


def _mover(place: str, cell: KeyValues, players: tuple[NamedAgent, NamedAgent]) -> int | None:
    """Return which agent was to move after the opening, None if the table does not say."""
    if "first_mover" in cell:
        return mover_named(cell["first_mover"] or "", players, place)
    # Tables of earlier versions do not name the agent to move after the moves of an opening.
    return None if cell.get("opening_moves") else 0


def _lines(file: Path) -> list[int | None]:
    """What stands for the moves of each game; None where they were not kept."""
    if "moves" not in column_names(file):
        return [None] * count_rows(file)
    return [
        line_of(str(moves or "").split(), seed=0)
        for piece in iter_rows(file, ["moves"])
        for moves in piece["moves"]
    ]


def _with_digests(file: Path, source: KeyValues) -> KeyValues:
    """Return the origin with digests of users' files: of older tables that in run.json beside."""
    beside = read_run(file.parent)
    return source if "files" in source or beside.get("digest") != source.get("run") else beside


def _exclusions(file: Path) -> dict[str, int]:
    """Return the bots that the run excluded, each with its first unplayed game."""
    try:
        summary = load_summary(file.parent, {KEY: SHAPE[KEY]})
    except (OSError, ValueError):
        return {}  # a table alone
    return {each.agent: each.since for each in stored_exclusions(summary)}


def _validate(file: Path, columns: Mapping[str, NDArray[Any]]) -> dict[str, list[Any]]:
    """The columns as lists; Unreadable if names or results are none."""
    rows = {name: column.tolist() for name, column in columns.items()}
    for number, result in enumerate(rows["result"]):
        if result not in (0.0, 0.5, 1.0):
            raise Unreadable(f"{file}: row {number}: result must be 0, 0.5 or 1, got {result!r}")
    for seat in ("first", "second"):
        for name in set(rows[seat]):
            if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
                what = repr(name)[:80]
                raise Unreadable(
                    f"{file}: {seat} must be a name of at most {LONGEST_NAME} letters, got {what}"
                )
    for number, both in enumerate(zip(rows["first"], rows["second"], strict=True)):
        if both[0] == both[1]:
            raise Unreadable(f"{file}: row {number}: an agent cannot play itself, got {both[0]!r}")
    return rows
