"""The parameters of sowing games, with the presets and names by which they are written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from games.names import choice, settings, whole

HOLES = range(1, 17)
BEANS = range(17)
PACKED_HOLES = 7  # a row of up to seven holes and its pot fit one 64-bit word

YES_NO = {"yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class SowingRules:
    """One ruleset; the defaults are `kalah`. `none` of the words is an abbreviation."""

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
    pits: str = "display"  # how moves are written; belongs to the preset

    @property
    def phased(self) -> bool:
        """Whether the first turn has rules of its own."""
        return self.extra_turn == "not-first" or self.swap == "yes"


WORDS: Mapping[str, Mapping[str, object]] = {
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
PARAMETERS = ("holes", "beans", *WORDS)

PRESETS: Mapping[str, SowingRules] = {
    "kalah": SowingRules(),
    "kalah-2022": SowingRules(end_when="mover"),
    "kalah-paper": SowingRules(capture_needs_nonempty="no"),
    "kalah-kgp": SowingRules(majority_ends="yes"),
    "kalah-manchester": SowingRules(holes=7, beans=7, extra_turn="not-first", swap="yes"),
    "owari": SowingRules(beans=3, extra_turn="no", capture="opposite", pits="ring"),
}


def read_rules(preset: str, arguments: Sequence[str]) -> SowingRules:
    """The preset changed by `arguments`, each checked."""
    given = settings(preset, arguments, ("holes", "beans"), PARAMETERS)
    changes: dict[str, int | str] = {}
    for key, text in given.items():
        if key in WORDS:
            changes[key] = choice(preset, key, text, WORDS[key])
        else:
            changes[key] = whole(preset, key, text, HOLES if key == "holes" else BEANS)
    return replace(PRESETS[preset], **changes)  # type: ignore[arg-type]  # checked key by key above


def rules_name(preset: str, rules: SowingRules) -> str:
    """The canonical name that `read_rules` reads back: sizes, then what differs from the preset."""
    base = PRESETS[preset]
    changed = [
        f"{field.name}={getattr(rules, field.name)}"
        for field in fields(rules)
        if field.name in WORDS and getattr(rules, field.name) != getattr(base, field.name)
    ]
    return f"{preset}({','.join([str(rules.holes), str(rules.beans), *changed])})"
