"""What a journal knows beside its games: short texts by name, each with a checksum of its place."""

import sqlite3
import zlib

from arena.planning.game_blobs import Damaged

TABLE = (
    "create table if not exists facts "
    "(name text primary key, content text not null, seal integer not null) strict"
)


class SealedFacts:
    """The facts of one journal; Damaged if one is not what was written under its name."""

    def __init__(self, base: sqlite3.Connection, digest: str) -> None:
        """A fact of the journal of another `digest` is damage too."""
        self.base, self.digest = base, digest
        base.execute(TABLE)

    def all(self, prefix: str = "") -> dict[str, str]:
        """The facts whose names begin so, by the rest of their names."""
        rows = self.base.execute("select name, content, seal from facts").fetchall()
        for name, content, seal in rows:
            if seal != self._seal(name, content):
                raise Damaged(f"its {name.partition(' ')[0]!a} is not what was written there")
        return {
            name.removeprefix(prefix): content
            for name, content, _ in rows
            if name.startswith(prefix)
        }

    def get(self, name: str) -> str | None:
        """A fact; None if it is not known."""
        return self.all().get(name)

    def keep(self, name: str, content: str) -> None:
        """Keep a fact, in place of what was known by this name."""
        self.base.execute(
            "insert or replace into facts values (?, ?, ?)",
            (name, content, self._seal(name, content)),
        )

    def _seal(self, name: str, content: str) -> int:
        return zlib.crc32("\0".join((self.digest, name, content)).encode())
