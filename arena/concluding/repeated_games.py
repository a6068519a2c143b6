"""Which games of a run repeat earlier ones, found with little memory."""

import tempfile
from collections.abc import Iterable
from typing import IO

import numpy as np
from numpy.typing import NDArray

from arena.planning.records import Games
from games.kernels.splitmix import STRIDE

Flags = NDArray[np.bool_]
Words = NDArray[np.uint64]

# Numbers that are compared at once; more games are looked at in shares, one after another.
AT_ONCE = 1 << 19
HALF = np.uint64(32)


def keys_of(games: Games) -> Words:
    """A number for each game, which its moves and the agents in both seats decide."""
    seats = games.first.astype(np.uint64) << np.uint64(16) | games.second.astype(np.uint64)
    keys: Words = games.game_id + (seats + np.uint64(1)) * STRIDE
    return keys


def repeats(parts: Iterable[Games]) -> Flags:
    """Which games repeat earlier ones; `parts` are all games in schedule order."""
    with tempfile.SpooledTemporaryFile(max_size=8 * AT_ONCE) as file:
        size = 0
        for part in parts:
            file.write(keys_of(part).tobytes())
            size += len(part)
        found = np.zeros(size, np.bool_)
        shares = -(-size // AT_ONCE)
        for share in range(shares):
            _mark(file, found, share, shares)
        return found


def _mark(file: IO[bytes], found: Flags, share: int, shares: int) -> None:
    """Mark the repeats among the keys of a share, which is chosen by their upper halves."""
    known = np.empty(0, np.uint64)
    file.seek(0)
    for start in range(0, len(found), AT_ONCE):
        keys = np.frombuffer(file.read(8 * AT_ONCE), np.uint64)
        own = np.flatnonzero((keys >> HALF) * np.uint64(shares) >> HALF == share)
        new, first = np.unique(keys[own], return_index=True)
        seen = _among(known, new)
        again = np.ones(len(own), np.bool_)
        again[first[~seen]] = False
        found[start + own[again]] = True
        known = np.sort(np.concatenate([known, new[~seen]]), kind="stable")


def _among(ordered: Words, keys: Words) -> Flags:
    """Which of the keys are among these."""
    if not len(ordered):
        return np.zeros(len(keys), np.bool_)
    places = np.minimum(np.searchsorted(ordered, keys), len(ordered) - 1)
    return np.asarray(ordered[places] == keys)
