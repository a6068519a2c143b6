"""The tables of an experiment file as they are written: keys, types and ranges."""

from collections.abc import Sequence
from itertools import combinations
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from arena.planning.openings_spec import OpeningsSpec
from arena.reading.problems import near
from arena.stats.gsprt import EloModel
from arena.stats.sprt import SprtPlan
from games.names import listed, shown

# TOML gives lists; frozen models hold tuples.
Texts = Annotated[tuple[str, ...], Field(strict=False)]
Yes = Literal[True]


class Table(BaseModel):
    """A frozen table; a key that it does not know is an error."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)

    def only_one(self, names: Sequence[str]) -> str:
        """The one key of `names` that was written; a ValueError says what was instead."""
        fields = type(self).model_fields
        given = {fields[name].alias or name for name in self.model_fields_set}.intersection(names)
        if len(given) != 1:
            got = listed(name for name in names if name in given) or "none of them"
            raise ValueError(f"exactly one of {listed(names)} must be given, got {got}")
        return given.pop()


class ScheduleTable(Table):
    """Who plays whom: all against all, one against the others, or two against each other."""

    round_robin: Yes | None = None
    gauntlet: str | None = None
    match: Texts = ()  # two names; none: the file has just two agents

    @model_validator(mode="before")
    @classmethod
    def _from_word(cls, given: Any) -> Any:
        if isinstance(given, dict):
            return given
        words = {"round_robin": {"round_robin": True}, "match": {"match": ()}}
        if not isinstance(given, str) or given not in words:
            raise ValueError(
                'schedule must be "round_robin", "match", { gauntlet = "a" } or '
                f'{{ match = ["a", "b"] }}, got {shown(given)}{near(given, words)}'
            )
        return words[given]

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        self.only_one(("round_robin", "gauntlet", "match"))
        if len(self.match) not in (0, 2):
            raise ValueError(f"match must name two agents, got {shown(self.match)}")
        return self

    @property
    def only_two(self) -> bool:
        """Whether the file's only two agents meet."""
        return "match" in self.model_fields_set and not self.match

    def matches(self, names: Sequence[str]) -> tuple[tuple[int, int], ...]:
        """Who meets whom, as places in `names`, which hold all agents named here."""
        places = {name: place for place, name in enumerate(names)}
        if self.gauntlet is not None:
            one = places[self.gauntlet]
            return tuple((one, other) for other in range(len(names)) if other != one)
        if self.round_robin:
            return tuple(combinations(range(len(names)), 2))
        first, second = self.match or names
        return ((places[first], places[second]),)


class OpeningsTable(Table):
    """Where games begin: a list fixed before the first game, the same for every match."""

    none: Yes | None = None
    random_plies: int | None = Field(default=None, ge=1, le=60)
    enumerate: int | None = Field(default=None, ge=1, le=12)
    lines: Texts = Field(default=(), alias="list")
    balance: float | None = Field(default=None, ge=0)
    repeat: bool = False

    @model_validator(mode="before")
    @classmethod
    def _from_word(cls, given: Any) -> Any:
        if isinstance(given, dict):
            return given
        if given != "none":
            raise ValueError(
                'openings must be "none" or a table like { random_plies = 6 }, '
                f"got {shown(given)}{near(given, ['none'])}"
            )
        return {"none": True}

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.kind == "list" and not self.lines:
            raise ValueError("list must hold at least one opening, got []")
        return self

    @property
    def kind(self) -> str:
        """Which way: none, random, enumerate or list."""
        way = self.only_one(("none", "random_plies", "enumerate", "list"))
        return "random" if way == "random_plies" else way

    @property
    def spec(self) -> OpeningsSpec:
        """The recipe as a plan has it."""
        plies = self.random_plies or self.enumerate or 0
        return OpeningsSpec(self.kind, plies, self.lines, self.balance, self.repeat)

    @property
    def known(self) -> int | None:
        """How many there are; `None` if only playing tells."""
        return {"none": 1, "list": len(self.lines)}.get(self.kind)


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


ROUND_ROBIN = ScheduleTable(round_robin=True)
RANDOM_OPENINGS = OpeningsTable(random_plies=6)


class Settings(Table):
    """What a file says besides its agents and checks; `game` is needed in a whole file."""

    game: str = ""
    name: str | None = Field(
        default=None, max_length=100, pattern=r"^[^./\\\x00-\x20][^/\\\x00-\x1f]*$"
    )
    pairs: int | None = Field(default=None, ge=1, le=10**9)
    seed: int = Field(default=1, ge=0, lt=2**63)
    schedule: ScheduleTable = ROUND_ROBIN
    openings: OpeningsTable = RANDOM_OPENINGS
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
