"""The tables of an experiment file as they are written: keys, types and ranges."""

from typing import Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from arena.stats.gsprt import EloModel
from arena.stats.sprt import SprtPlan


class Table(BaseModel):
    """A frozen table; a key that it does not know is an error."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class SprtTable(Table):
    """A sequential test of two Elo hypotheses; `alpha` and `beta` are its error rates."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05
    model: Literal["logistic", "normalized"] = "logistic"

    @model_validator(mode="after")
    def _possible(self) -> Self:
        self.plan()
        return self

    def plan(self) -> SprtPlan:
        """The test itself; a ValueError says why there is none."""
        return SprtPlan(self.elo0, self.elo1, self.alpha, self.beta, EloModel(self.model))


class StopTable(Table):
    """When to stop before all pairs are played."""

    sprt: SprtTable


class Settings(Table):
    """What a file says besides its agents and checks; `game` is needed in a whole file."""

    game: str = ""
    name: str | None = Field(
        default=None, max_length=100, pattern=r"^[^./\\\x00-\x20][^/\\\x00-\x1f]*$"
    )
    pairs: int | None = Field(default=None, ge=1, le=10**9)
    seed: int = Field(default=1, ge=0, lt=2**63)
    schedule: Any = None  # these are read by `way_tables`
    openings: Any = None
    keep_moves: bool | None = None
    move_seconds: float = Field(default=60.0, gt=0, le=86_400)
    stop: StopTable | None = None


class WholeFile(Settings):
    """An experiment file with every table."""

    game: str
    agents: dict[str, dict[str, Any]]  # read by `agent_tables`, with what their kinds declare
    checks: Any = None  # read by `check_tables`, with what the checks declare
    tune: Any = None  # means something to `python -m arena.tune` only, which reads it


AnyTable = TypeVar("AnyTable", bound=Table)


def fitting(model: type[AnyTable], written: Any) -> AnyTable | None:
    """As much of a written table as fits: without its wrong keys; `None` if nothing is left."""
    try:
        return model.model_validate(written)
    except ValidationError as error:
        wrong = {each["loc"][0] for each in error.errors() if each["loc"]}
    if not isinstance(written, dict) or not wrong.intersection(written):
        return None
    return fitting(model, {key: value for key, value in written.items() if key not in wrong})
