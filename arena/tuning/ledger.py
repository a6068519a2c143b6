"""The journal of a study: one row a finished trial, kept in one commit with all its games."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from arena.keeping.journal import JournalError
from arena.tuning.space import Point

LEDGER = "trials.sqlite"


class Kept(NamedTuple):
    """A finished trial as the journal holds it."""

    point: Point
    games: bytes
    seconds: float


class Ledger:
    """The finished trials of one study; whoever opens it holds the lock of its directory."""

    def __init__(self, directory: Path) -> None:
        """Open or begin the journal."""
        self.path = directory / LEDGER
        try:
            self._base = sqlite3.connect(self.path, isolation_level=None)
            self._base.execute("pragma journal_mode=wal")
            self._base.execute("pragma synchronous=normal")
            self._base.execute(
                "create table if not exists trials (slot integer primary key, "
                "point text not null, games blob not null, seconds real not null) strict"
            )
            self._base.execute(
                "create table if not exists plan (one integer primary key check (one = 1), "
                "plan text not null) strict"
            )
        except sqlite3.Error as error:
            raise JournalError(f"{self.path}: the journal cannot be used ({error})") from None

    def append(self, slot: int, point: Point, games: bytes, seconds: float) -> None:
        """Keep a finished trial; safe when this returns, and a second time changes nothing."""
        text = json.dumps([float(unit) for unit in point])
        try:
            self._base.execute(
                "insert or ignore into trials values (?, ?, ?, ?)", (slot, text, games, seconds)
            )
        except sqlite3.Error as error:
            raise JournalError(
                f"{self.path}: the journal cannot be used ({error}); what was finished is kept, "
                "the same command goes on"
            ) from None

    def finished(self) -> Iterator[Kept]:
        """The trials in the order of their slots, from the first to before a missing one."""
        rows = self._base.execute("select slot, point, games, seconds from trials order by slot")
        for number, (slot, point, games, seconds) in enumerate(rows):
            if slot != number:
                return
            yield Kept(np.array(json.loads(point)), games, seconds)

    def plan_kept(self) -> dict[str, Any] | None:
        """The plan that this study began with; None if it begins now."""
        found = self._base.execute("select plan from plan").fetchone()
        plan: dict[str, Any] | None = None if found is None else json.loads(found[0])
        return plan

    def keep_plan(self, plan: dict[str, Any]) -> None:
        """Keep the plan of this study, also when time has cut it short."""
        self._base.execute("insert or replace into plan values (1, ?)", (json.dumps(plan),))

    def close(self) -> None:
        """Close the file."""
        self._base.close()
