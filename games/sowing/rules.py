"""Parameters and presets, and the path of a sowing in plain numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

from games.base.text import parse_arguments, parse_choice, parse_whole_number

HOLES = range(1, 17)
BEANS = range(17)
PACKED_HOLES = 7  # a row of up to seven holes and its pot fit one 64-bit word
YES_NO = {"yes": True, "no": False}
VALUES: Mapping[str, Mapping[str, object]] = {
    "extra_turn": {"yes": 0, "no": 0, "not-first": 0},
    "capture": {"both": 0, "opposite": 0, "none": 0},
    "capture_needs_nonempty": YES_NO,
    "end_when": {"either": 0, "mover": 0},
    "majority_ends": YES_NO,
    "swap": YES_NO,
    "opponent_pot": YES_NO,
    "skip_start": YES_NO,
    "sweep": {"owner": 0, "ender": 0, "nobody": 0},
}
PARAMETERS = ("holes", "beans", *VALUES)
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
# Phases of a game whose first turn has special rules.
SETTLED, FIRST_PLY, FIRST_TURN, SWAP_OPEN = range(4)
# Features and heuristic functions of the package read states with these functions of a family.
CELL_FUNCTIONS = (
    "pot_beans",
    "row_beans",
    "held",
    "facing_held",
    "first_slot",
    "end_slot",
    "reaching",
)


@dataclass(frozen=True, slots=True)
class SowingRules:
    """One ruleset; the defaults are `kalah`."""

    holes: int = 6
    beans: int = 4
    extra_turn: str = "yes"  # not-first: yes, but never on the first ply of the game
    capture: str = "both"
    capture_needs_nonempty: str = "yes"
    end_when: str = "either"  # a row is empty; mover: the row of the side to move is empty
    majority_ends: str = "no"
    swap: str = "no"
    opponent_pot: str = "no"
    skip_start: str = "no"
    sweep: str = "owner"
    pits: str = "display"  # how moves are written; only presets set it

    @property
    def has_phases(self) -> bool:
        """Return whether the first turn has special rules."""
        return self.extra_turn == "not-first" or self.swap == "yes"


PRESETS: Mapping[str, SowingRules] = {
    "kalah": SowingRules(),
    "kalah-2022": SowingRules(end_when="mover"),
    "kalah-paper": SowingRules(capture_needs_nonempty="no"),
    "kalah-kgp": SowingRules(majority_ends="yes"),
    "kalah-manchester": SowingRules(holes=7, beans=7, extra_turn="not-first", swap="yes"),
    "owari": SowingRules(beans=3, extra_turn="no", capture="opposite", pits="ring"),
}


def read_rules(preset: str, arguments: Sequence[str]) -> SowingRules:
    """Return the preset changed by `arguments`, each of which is validated."""
    given = parse_arguments(preset, arguments, ("holes", "beans"), PARAMETERS)
    changes: dict[str, int | str] = {}
    for key, text in given.items():
        if key in VALUES:
            changes[key] = parse_choice(preset, key, text, VALUES[key])
        else:
            changes[key] = parse_whole_number(preset, key, text, HOLES if key == "holes" else BEANS)
    return replace(PRESETS[preset], **changes)  # type: ignore[arg-type]  # each key was validated above


def rules_name(preset: str, rules: SowingRules) -> str:
    """Return the canonical name for `read_rules`: the preset with sizes and changed parameters."""
    base = PRESETS[preset]
    changed = [
        f"{field.name}={getattr(rules, field.name)}"
        for field in fields(rules)
        if field.name in VALUES and getattr(rules, field.name) != getattr(base, field.name)
    ]
    return f"{preset}({','.join([str(rules.holes), str(rules.beans), *changed])})"


class Rows(NamedTuple):
    """A sowing position in plain numbers, both rows in their owner's sowing order."""

    own: tuple[int, ...]
    own_pot: int
    other: tuple[int, ...]
    other_pot: int
    phase: int = SETTLED

    @property
    def total(self) -> int:
        """Return all beans, pots included; only a sweep with `sweep=nobody` changes it."""
        return sum(self.own) + sum(self.other) + self.own_pot + self.other_pot


def start_rows(rules: SowingRules) -> Rows:
    """Return the position before the first ply."""
    row = (rules.beans,) * rules.holes
    playable = rules.has_phases and rules.beans > 0
    return Rows(row, 0, row, 0, FIRST_PLY if playable else SETTLED)


def rule_words(rules: SowingRules, facing: int) -> list[int]:
    """Return the rule scalars; `facing` is the sum of the slots of two opposite holes."""
    return [
        len(sowing_path(rules, 0)),
        facing,
        rules.capture == "both",
        rules.capture_needs_nonempty == "yes",
        rules.end_when == "either",
        rules.majority_ends == "yes",
        SWEEPS[rules.sweep],
        rules.extra_turn == "not-first",
        rules.swap == "yes",
        rules.extra_turn != "no",
        rules.pits != "ring",  # the first hole's number; a ring counts from 0
        rules.opponent_pot == "no",
        rules.capture != "none",
    ]


def sowing_path(rules: SowingRules, hole: int) -> list[int]:
    """Return the ring cells of one lap from `hole`, in order.

    Cells 0 to m-1 are the own row, m is the own pot, then the opponent's row and pot follow.
    """
    holes = rules.holes
    cells = [(hole + 1 + step) % (2 * holes + 2) for step in range(2 * holes + 2)]
    skipped = {
        2 * holes + 1: rules.opponent_pot == "no",
        hole: rules.skip_start == "yes",
    }
    return [cell for cell in cells if not skipped.get(cell, False)]


def last_bean_code(rules: SowingRules, cell: int, slot: int, pot: int) -> int:
    """Return the effect of a last bean in ring cell `cell`.

    The code is `slot` if the bean may capture, `pot` if the mover moves again, else `pot` + 1.
    """
    if cell < rules.holes:
        return slot if rules.capture != "none" else pot + 1
    return pot if cell == rules.holes and rules.extra_turn != "no" else pot + 1
