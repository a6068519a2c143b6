"""The spec of openings: a way to make them, with the values of its keys."""

from dataclasses import dataclass

from games.base.schema import KeyValues


@dataclass(frozen=True, slots=True)
class OpeningsSpec:
    """Where games begin: one of `OPENINGS`, with the values of its keys."""

    way: str
    values: KeyValues
    balance: float | None = None  # None: all are kept
    repeat: bool = False  # whether they are played again if there are too few

    def to_json(self) -> dict[str, object]:
        """The spec as JSON."""
        values = {"way": self.way, **self.values, "balance": self.balance, "repeat": self.repeat}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}

    @classmethod
    def from_json(cls, stored: KeyValues) -> "OpeningsSpec":
        """The spec that `to_json` wrote."""
        own = {name: value for name, value in stored.items() if name not in COMMON}
        values = {name: tuple(v) if isinstance(v, list) else v for name, v in own.items()}
        return cls(stored["way"], values, stored["balance"], stored["repeat"])


COMMON = ("way", "balance", "repeat")
MIXED_OPENINGS = OpeningsSpec("plies", {"plies": (4, 10)})
RANDOM_OPENINGS = OpeningsSpec("random", {"random_plies": 6})
