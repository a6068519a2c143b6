"""The keys of `[tune]` and their values."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from arena.config.keys import ELO0, ELO1, EXPERIMENT_KEYS
from arena.config.toml_file import Problems
from arena.stats.sprt import SprtPlan
from arena.tuning.samplers.registry import AUTO, METHODS
from games.base.schema import Key, KeyValues, default_values

LEAST_GAMES = 20
DEFAULT_TRIALS = 100
# Error rates of the validation: a wrong "better" is worse than a missed one, because every
# recommendation looks good to its search.
ALPHA, BETA = 0.01, 0.05
CHOSEN = "spsa"  # the best on real games if all weights are numbers
NODES, TIME = EQUAL = ("nodes", "time")
VALIDATION = (
    replace(ELO0, default=0.0, required=False),
    replace(ELO1, default=20.0, required=False),
    Key("pairs", "int", "the most pairs", 2000, low=10, high=10**7),
)
TUNE = (
    Key("agent", "text", "the agent that is tuned", required=True),
    Key("weights", "table", "ranges of its weights"),
    Key("options", "table", "ranges of its other options"),
    Key("equal", "text", "the budget that both sides share", "nodes", choices=EQUAL),
    Key(
        "opponents",
        "any",
        "the opponents of candidates, by name or with shares (default: the agent)",
    ),
    Key("games", "int", "games per trial", 200, low=LEAST_GAMES, high=10**7),
    Key("trials", "int", "the number of candidates", DEFAULT_TRIALS, low=1, high=100_000),
    Key("method", "text", f"the sampler of candidates: {METHODS}", AUTO),
    Key(
        "validation", "table", "the match of the recommendation against the agent", keys=VALIDATION
    ),
)
TUNE_TOP = tuple(
    replace(key, type="table", required=True, keys=TUNE, example=", as in [tune]")
    if key.name == "tune"
    else key
    for key in EXPERIMENT_KEYS
)


@dataclass(frozen=True, slots=True)
class ValidationTable:
    """The validation: a sequential test on at most `pairs` pairs."""

    elo0: float
    elo1: float
    pairs: int

    def plan(self) -> SprtPlan:
        """Return the test; ValueError if it is impossible."""
        return SprtPlan(self.elo0, self.elo1, ALPHA, BETA)


@dataclass(frozen=True, slots=True)
class TuneTable:
    """The values of `[tune]`."""

    agent: str
    weights: Mapping[str, object]
    options: Mapping[str, object]
    equal: str
    opponents: object
    games: int  # per trial
    trials: int
    method: str
    validation: ValidationTable


def tune_table(values: KeyValues) -> TuneTable | None:
    """Return the table with the values of `TUNE`; None if it names no agent."""
    if "agent" not in values:
        return None
    plain = {**default_values(TUNE), **values}
    empty: dict[str, object] = {"weights": {}, "options": {}}
    plain |= {name: value for name, value in empty.items() if plain[name] is None}
    right = default_values(VALIDATION) | (plain["validation"] or {})
    return TuneTable(**{**plain, "validation": ValidationTable(**right)})


def report_tune_problem(problems: Problems, message: str, key: str, *inside: str) -> None:
    """Report a problem with a key of `[tune]`, or with a key `inside` its table."""
    problems.add(("tune", key, *inside), message, ("tune", key) if inside else None)
