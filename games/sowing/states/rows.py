"""What the packed and the wide sowing state share: rule scalars, sowing paths, phases."""

from typing import NamedTuple

from games.sowing.rules import SowingRules

# Places of the rule scalars in the context.
(
    PERIOD,
    FACING,
    BANK_LAST,
    NEEDS_NONEMPTY,
    EITHER,
    MAJORITY,
    SWEEP,
    LATE_EXTRA,
    SWAP,
    EXTRA,
    FIRST_NUMBER,
    SKIPS_POT,
    CAPTURES,
) = range(13)

SWEEPS = {"owner": 0, "ender": 1, "nobody": 2}
TO_ENDER, TO_NOBODY = 1, 2

# Phases of a game whose first turn has rules of its own.
SETTLED, FIRST_PLY, FIRST_TURN, SWAP_OPEN = range(4)


class Rows(NamedTuple):
    """A sowing position in plain numbers, both rows in their owner's sowing order."""

    own: tuple[int, ...]
    own_pot: int
    other: tuple[int, ...]
    other_pot: int
    phase: int = SETTLED

    @property
    def total(self) -> int:
        """All beans, pots included; no ply changes it, but a sweep to nobody."""
        return sum(self.own) + sum(self.other) + self.own_pot + self.other_pot


def start_rows(rules: SowingRules) -> Rows:
    """The position before the first ply."""
    row = (rules.beans,) * rules.holes
    playable = rules.phased and rules.beans > 0
    return Rows(row, 0, row, 0, FIRST_PLY if playable else SETTLED)


def scalars(rules: SowingRules, facing: int) -> list[int]:
    """The rule scalars; `facing` is the sum of the slots of two opposite holes."""
    return [
        len(path(rules, 0)),
        facing,
        rules.capture == "both",
        rules.capture_needs_nonempty == "yes",
        rules.end_when == "either",
        rules.majority_ends == "yes",
        SWEEPS[rules.sweep],
        rules.extra_turn == "not-first",
        rules.swap == "yes",
        rules.extra_turn != "no",
        rules.pits != "ring",  # a ring counts from 0
        rules.opponent_pot == "no",
        rules.capture != "none",
    ]


def path(rules: SowingRules, hole: int) -> list[int]:
    """Ring cells of one lap from `hole`, in order: 0..m-1 own row, m own pot, then the other's."""
    holes = rules.holes
    cells = [(hole + 1 + step) % (2 * holes + 2) for step in range(2 * holes + 2)]
    skipped = {
        2 * holes + 1: rules.opponent_pot == "no",
        hole: rules.skip_start == "yes",
    }
    return [cell for cell in cells if not skipped.get(cell, False)]


def last_bean(rules: SowingRules, cell: int, slot: int, pot: int) -> int:
    """What a last bean in ring cell `cell` means: its `slot` if it may capture, `pot` if the
    mover goes on, `pot` + 1 if nothing.
    """
    if cell < rules.holes:
        return slot if rules.capture != "none" else pot + 1
    return pot if cell == rules.holes and rules.extra_turn != "no" else pot + 1
