"""Seeds that depend on what is played, never on when or where: per pairing and per agent."""

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_STRIDE = np.uint64(0x9E37_79B9_7F4A_7C15)
_MIX_1 = np.uint64(0xBF58_476D_1CE4_E5B9)
_MIX_2 = np.uint64(0x94D0_49BB_1331_11EB)


def digest_word(*fields: object) -> np.uint64:
    """64 bits of blake2b over length-prefixed fields."""
    digest = hashlib.blake2b(digest_size=8)
    for each in fields:
        text = str(each).encode()
        digest.update(len(text).to_bytes(8, "little") + text)
    return np.uint64(int.from_bytes(digest.digest(), "little"))


def mixed(words: Any) -> Any:
    """Words scrambled as by `games.kernels.splitmix`, whole arrays at once."""
    with np.errstate(over="ignore"):
        words = np.asarray(words, np.uint64)
        words = (words ^ (words >> np.uint64(30))) * _MIX_1
        words = (words ^ (words >> np.uint64(27))) * _MIX_2
        return words ^ (words >> np.uint64(31))


def pair_seeds(base: Any, keys: Words, numbers: NDArray[np.int64]) -> Words:
    """One seed a pairing: from its match's base, the opening's key, how often that was played."""
    with np.errstate(over="ignore"):
        turn = (numbers.astype(np.uint64) + np.uint64(1)) * _STRIDE
        seeds: Words = mixed(base ^ mixed(keys + turn))
    return seeds


def match_base(seed: int, game: str, agents: Iterable[str]) -> np.uint64:
    """What all pairings of two agents share."""
    return digest_word(seed, game, *sorted(agents))


def agent_seeds(pairs: Words, leg: int, agent: str) -> Words:
    """The seeds of one agent's own chance in the games of one leg."""
    seeds: Words = mixed(pairs ^ digest_word(agent, leg))
    return seeds
