"""The games.parquet of a run: games."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.analysis.evidence import KEY, load_exclusions
from arena.analysis.summary_file import SHAPE, load_summary
from arena.formats.records import (
    LONGEST_NAME,
    UNKNOWN,
    ExternalGame,
    FormatError,
    NamedAgent,
    fault_side,
    first_mover_side,
    game_name,
    hash_moves,
    pair_key,
)
from arena.storage.parquet import (
    TableError,
    column_names,
    count_rows,
    iter_rows,
    read_columns,
    read_source,
)
from arena.storage.provenance import agent_versions, load_run_file
from games.base.schema import KeyValues

REQUIRED = ("first", "second", "result", "opening", "repeat")
OPTIONAL = ("first_mover", "opening_moves", "game_id", "pair", "seed", "termination")


def read_games(file: Path) -> Iterator[ExternalGame]:
    """Return all games of a run; without game ids, only those that are not marked as duplicates."""
    try:
        columns = read_columns(file, REQUIRED, optional=OPTIONAL)
        source = read_source(file)
        lines = _move_hashes(file)
    except TableError as error:
        raise FormatError(f"{file}: is not a games.parquet of pitflip: {error}") from None
    rows = _validate(file, columns)
    run, plan = str(source.get("run") or ""), source.get("plan")
    plan = plan if isinstance(plan, dict) else {}
    game = game_name(str(plan.get("game") or UNKNOWN))
    known = agent_versions(_source_with_digests(file, source))
    counts = None if "game_id" in rows else ~np.asarray(columns["repeat"], dtype=np.bool_)
    since = _exclusions(file)
    for row, score in enumerate(rows["result"]):
        if counts is not None and not counts[row]:
            continue
        first, second = (NamedAgent(rows[seat][row], known.get(rows[seat][row], ""))
                         for seat in ("first", "second"))  # fmt: skip
        cell = {name: values[row] for name, values in rows.items() if name in OPTIONAL}
        number = (run or str(file.resolve()), rows["opening"][row])
        yield ExternalGame(
            game, first, second, score, cell.get("opening_moves", number), lines[row],
            game_id=cell.get("game_id"), seed=cell.get("seed"),
            pair=pair_key(run or str(file.resolve()), str(cell.get("pair", ""))),
            fault=fault_side(str(cell.get("termination", "")), score), row=row,
            first_mover=_first_mover(f"{file}: row {row}", cell, (first, second)),
            both_excluded=all(row >= since.get(player.name, row + 1) for player in (first, second)),
            has_stop_rule=bool(plan.get("stop")),
        )  # fmt: skip


def _first_mover(place: str, cell: KeyValues, agents: tuple[NamedAgent, NamedAgent]) -> int | None:
    """Return the side to move after the opening; None if the table does not name it."""
    if "first_mover" in cell:
        return first_mover_side(cell["first_mover"] or "", agents, place)
    # Tables of earlier versions do not name the first mover.
    return None if cell.get("opening_moves") else 0


def _move_hashes(file: Path) -> list[int | None]:
    if "moves" not in column_names(file):
        return [None] * count_rows(file)
    return [
        hash_moves(str(moves or "").split(), seed=0)
        for piece in iter_rows(file, ["moves"])
        for moves in piece["moves"]
    ]


def _source_with_digests(file: Path, source: KeyValues) -> KeyValues:
    """Return the origin with digests of users' files; older tables have them in run.json."""
    beside = load_run_file(file.parent)
    return source if "files" in source or beside.get("digest") != source.get("run") else beside


def _exclusions(file: Path) -> dict[str, int]:
    """Return the first unplayed game of each bot that the run excluded."""
    try:
        summary = load_summary(file.parent, {KEY: SHAPE[KEY]})
    except (OSError, ValueError):
        return {}  # a table outside its run
    return {each.agent: each.since for each in load_exclusions(summary)}


def _validate(file: Path, columns: Mapping[str, NDArray[Any]]) -> dict[str, list[Any]]:
    """Return the columns as lists; raise a FormatError for wrong names or results."""
    rows = {name: column.tolist() for name, column in columns.items()}
    for number, result in enumerate(rows["result"]):
        if result not in (0.0, 0.5, 1.0):
            raise FormatError(f"{file}: row {number}: result must be 0, 0.5 or 1, got {result!r}")
    for seat in ("first", "second"):
        for name in set(rows[seat]):
            if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
                what = repr(name)[:80]
                raise FormatError(
                    f"{file}: {seat} must be a name of at most {LONGEST_NAME} letters, got {what}"
                )
    for number, both in enumerate(zip(rows["first"], rows["second"], strict=True)):
        if both[0] == both[1]:
            raise FormatError(f"{file}: row {number}: an agent cannot play itself, got {both[0]!r}")
    return rows
