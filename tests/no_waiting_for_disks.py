"""Files and databases of tests are not waited for: no test goes on after a power cut."""

import contextlib
import os
import sqlite3
from collections.abc import Iterator

import pytest

SAFE, QUICK = "pragma synchronous=normal", "pragma synchronous=off"
connect = sqlite3.connect


class QuickDatabase(sqlite3.Connection):
    """A database that leaves it to the system when it is on the disk."""

    def execute(self, sql, *values):
        return super().execute(QUICK if sql == SAFE else sql, *values)


def quickly_connected(*words, **options) -> sqlite3.Connection:
    """In place of `sqlite3.connect`."""
    return connect(*words, **{"factory": QuickDatabase} | options)


@contextlib.contextmanager
def no_waiting() -> Iterator[None]:
    """Meanwhile neither files nor databases are waited for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _handle: None)
        patch.setattr(sqlite3, "connect", quickly_connected)
        yield
