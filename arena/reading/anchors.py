"""An agent that is held at a rating, as people write it: `smart` or `smart=1500`."""

from collections.abc import Sequence
from typing import NamedTuple

from games.names import did_you_mean, listed, quoted

MOST_ELO = 100_000.0
SHOWN = 20  # names of agents that a message lists


class Anchor(NamedTuple):
    """The agent that is held at a rating."""

    name: str
    elo: float


class AnchorError(ValueError):
    """No agent, or no rating; one line says which."""


def anchor_in(word: str, names: Sequence[str]) -> Anchor:
    """The anchor that a word names; an agent's name may have a = of its own."""
    if word in names:
        return Anchor(word, 0.0)
    name, _, text = word.rpartition("=")
    if name not in names:
        near = did_you_mean(name or word, names)
        raise AnchorError(
            f"must be one of {listed(names[:SHOWN])}, got {quoted(name or word)}{near}"
        )
    try:
        elo = float(text)
    except ValueError:
        elo = MOST_ELO + 1.0
    if not abs(elo) <= MOST_ELO:
        raise AnchorError(f"needs a number of Elo, as in {name}=1500, got {quoted(text)}")
    return Anchor(name, elo)
