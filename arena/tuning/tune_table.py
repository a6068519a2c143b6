"""The `[tune]` table of an experiment file as it is written: keys, types and ranges."""

from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from arena.reading.file_tables import Table, WholeFile
from arena.reading.problems import Problems
from arena.stats.sprt import SprtPlan
from arena.tuning.samplers import SAMPLERS
from games.names import quoted

LEAST_GAMES = 20
DEFAULT_TRIALS = 100


class ValidationTable(Table):
    """The match that decides: a sequential test on held-out openings, within `pairs`."""

    elo0: float = 0.0
    elo1: float = 20.0
    alpha: float = 0.05
    beta: float = 0.05
    pairs: int = Field(default=2000, ge=10, le=10**7)

    def plan(self) -> SprtPlan:
        """The test itself; a ValueError says why there is none."""
        return SprtPlan(self.elo0, self.elo1, self.alpha, self.beta)


def known_method(name: str) -> str:
    """The name of a sampler; any other is refused with a list of those there are."""
    if name not in SAMPLERS:
        choices = " or ".join(", ".join(map(quoted, SAMPLERS)).rsplit(", ", 1))
        raise PydanticCustomError("literal_error", "a sampler", {"expected": choices})
    return name


class TuneTable(Table):
    """`[tune]`; its weights and opponents are read with the agents."""

    agent: str
    weights: dict[str, object]
    opponents: object = None
    games: int = Field(default=200, ge=LEAST_GAMES, le=10**7)  # per trial
    trials: int | None = Field(default=None, ge=1, le=100_000)
    total_games: int | None = Field(default=None, ge=1)
    method: Annotated[str, AfterValidator(known_method)] = "tpe"
    validation: ValidationTable = ValidationTable()

    @property
    def trial_count(self) -> int:
        """How many trials the file asks for."""
        if self.trials is not None:
            return self.trials
        return DEFAULT_TRIALS if self.total_games is None else self.total_games // self.games


class TuneFile(WholeFile):
    """An experiment file with a `[tune]` table."""

    tune: TuneTable


class RangeTable(Table):
    """The range of one weight, written out."""

    range: Annotated[tuple[float, ...], Field(strict=False)]
    log: bool = False
    integer: bool = False


def say_of_tune(problems: Problems, message: str, key: str, *inside: str) -> None:
    """A problem with a key of `[tune]`, or with what stands `inside` its table."""
    problems.say(("tune", key, *inside), message, ("tune", key) if inside else None)
