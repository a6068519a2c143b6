"""Games from our own runs: games.parquet, with what run.json beside it says of the agents."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents import AgentSpec, SpecError, varies
from arena.keeping.parquet import TableError, read_columns
from arena.keeping.provenance import read_run
from arena.reading.given_game import (
    LONGEST_NAME,
    UNKNOWN,
    GivenGame,
    NamedAgent,
    Unreadable,
    mover_named,
)
from games.keys import KeyValues

NEEDED = ("first", "second", "result", "opening", "repeat")
OPTIONAL = ("first_mover", "opening_moves", "game_id", "pair", "leg", "seed", "termination")
# Draws without a fault, and what is nobody's fault, end a game without one.
CLEAN = ("normal", "too_long")


def games_in(file: Path) -> Iterator[GivenGame]:
    """The games of a run that are evidence: replays of agents without chance are left out."""
    try:
        columns = read_columns(file, NEEDED, optional=OPTIONAL)
    except TableError as error:
        raise Unreadable(f"{file}: is not a games.parquet of pitflip: {error}") from None
    rows = _checked(file, columns)
    run = read_run(file.parent)
    plan = run.get("plan") or {}
    game = plan.get("game") or UNKNOWN
    known = _fingerprints(plan, run)
    chance = {name for name, spec in plan.get("agents", {}).items() if _leaves_to_chance(spec)}
    unit = hashlib.blake2b(str(run.get("digest") or file.resolve()).encode()).hexdigest()
    for row in np.flatnonzero(_evidence(columns)).tolist():
        first, second, score, opening = (rows[name][row] for name in NEEDED[:4])
        one, other = (NamedAgent(name, known.get(name, "")) for name in (first, second))
        start = rows["opening_moves"][row] if "opening_moves" in rows else (unit, opening)
        key = None
        if "game_id" in rows:
            # Two agents with chance may truly repeat a game: then only its seed tells.
            seed = rows["seed"][row] if {first, second} & chance and "seed" in rows else None
            key = game, one, other, start, rows["game_id"][row], seed
        pairing = (unit, rows["pair"][row]) if "pair" in rows else None
        fault = 0
        if "termination" in rows and rows["termination"][row] not in CLEAN and score != 0.5:
            fault = 1 if score == 0.0 else -1
        # Tables of earlier versions do not name the agent to move after the moves of an opening.
        mover = None if "opening_moves" in rows and start else 0
        if "first_mover" in rows:
            mover = mover_named(rows["first_mover"][row] or "", (one, other), f"{file}: row {row}")
        yield GivenGame(game, one, other, score, start, key, pairing, fault, row, mover)


def _checked(file: Path, columns: Mapping[str, NDArray[Any]]) -> dict[str, list[Any]]:
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


def _evidence(columns: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
    """Which rows say something: all of a pair that ever varied on an opening, else no replay."""
    repeat = np.asarray(columns["repeat"], dtype=np.bool_)
    if "game_id" not in columns or not repeat.any():
        return ~repeat
    names, seats = np.unique(
        np.concatenate([columns["first"], columns["second"]]).astype(str), return_inverse=True
    )
    first, second = np.split(seats.ravel(), 2)
    place = (first * len(names) + second) * (1 + int(columns["opening"].max()))
    place = place + columns["opening"]
    both = np.stack([place.astype(np.uint64), columns["game_id"].astype(np.uint64)])
    distinct = np.unique(both, axis=1)
    games, counts = np.unique(distinct[0], return_counts=True)
    varied = np.isin(place, games[counts > 1])
    pair = np.minimum(first, second) * len(names) + np.maximum(first, second)
    return np.asarray(~repeat | np.isin(pair, pair[varied]))


def _fingerprints(plan: KeyValues, run: KeyValues) -> dict[str, str]:
    """What tells versions of an agent apart: its spec, and the user's files behind it."""
    found = {}
    for name, spec in plan.get("agents", {}).items():
        text = json.dumps(spec, sort_keys=True)
        tables = [run.get(key) for key in ("files", "sources")]
        digests = {k: v for table in tables if isinstance(table, dict) for k, v in table.items()}
        files = {path: digest for path, digest in digests.items() if path in text}
        whole = json.dumps([spec, files], sort_keys=True)
        found[name] = hashlib.blake2b(whole.encode(), digest_size=2).hexdigest()
    return found


def _leaves_to_chance(spec: KeyValues) -> bool:
    """Whether nothing says that an agent answers the same in the same way."""
    try:
        return varies(AgentSpec.from_json(spec)) is not None
    except (SpecError, KeyError, TypeError, ValueError):
        return True
