"""How long games of each agent take, learned from batches that mix them."""

import numpy as np
from numpy.typing import NDArray

LEAST = 0.1  # of a batch's time is a new agent's, whatever the others take elsewhere
Sides = NDArray[np.int64]  # the two agents of a pairing in a row


class AgentCosts:
    """Seconds that each agent adds to a pairing, NaN while nothing is known."""

    def __init__(self, agents: int) -> None:
        """Nothing is known."""
        self.seconds = np.full(agents, np.nan)

    def learn(self, sides: Sides, seconds: float) -> None:
        """Take what these pairings took together.

        New agents get what the others do not explain; known ones share the error.
        """
        counts = np.bincount(sides.ravel(), minlength=len(self.seconds))
        new = (counts > 0) & np.isnan(self.seconds)
        known = float(np.nansum(counts * self.seconds))
        if new.any():
            self.seconds[new] = max(seconds - known, LEAST * seconds) / counts[new].sum()
        else:
            self.seconds[counts > 0] *= seconds / known

    def within(self, sides: Sides, seconds: float) -> int:
        """How many of these pairings, one after the other, are known to take no longer."""
        each = self.seconds[sides].sum(axis=1)
        known = len(each) if not np.isnan(each).any() else int(np.isnan(each).argmax())
        return int(np.searchsorted(np.cumsum(each[:known]), seconds, side="right"))
