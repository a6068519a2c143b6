"""The recipe of openings: a way with its values, as a frozen value with one JSON form."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class OpeningsSpec:
    """Where games begin; what a way has no use for keeps its default."""

    kind: str  # none, random, enumerate or list
    plies: int = 0  # of a random or enumerated opening
    lines: tuple[str, ...] = ()
    balance: float | None = None
    repeat: bool = False  # whether they may be played again when there are too few

    def to_json(self) -> dict[str, Any]:
        """The spec as JSON holds it."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "OpeningsSpec":
        """The spec that `to_json` wrote."""
        return cls(**{**stored, "lines": tuple(stored["lines"])})


RANDOM_OPENINGS = OpeningsSpec("random", plies=6)
