"""Seeds that follow from the experiment's seed and from what is played."""

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from games.kernels.splitmix import STRIDE, mixed

Words = NDArray[np.uint64]


def hash64(*fields: object) -> np.uint64:
    """Return 64 bits of blake2b over length-prefixed fields."""
    digest = hashlib.blake2b(digest_size=8)
    for each in fields:
        text = str(each).encode()
        digest.update(len(text).to_bytes(8, "little") + text)
    return np.uint64(int.from_bytes(digest.digest(), "little"))


def match_seed(seed: int, game: str, agents: Iterable[str]) -> np.uint64:
    """Return the part of the seed that all pairs of a match share."""
    return hash64(seed, game, *sorted(agents))


def pair_seeds(base: np.uint64 | Words, keys: Words, numbers: NDArray[np.int64]) -> Words:
    """Return a seed for each pair, from its match, its opening's key and the repetition."""
    turn = (numbers.astype(np.uint64) + np.uint64(1)) * STRIDE
    return mixed(base ^ mixed(keys + turn))


def agent_seeds(pairs: Words, leg: int, agent: str) -> Words:
    """Return the seeds of one agent's random choices in one leg of each pair."""
    return mixed(pairs ^ hash64(agent, leg))
