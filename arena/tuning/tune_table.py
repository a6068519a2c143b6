"""The `[tune]` table of an experiment file: what is tuned, against whom, and how it is judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from agents import AGENTS, AgentSpec, kind_of
from agents.core import Weights
from arena.planning.keys import no_agent
from arena.planning.openings_spec import RANDOM_OPENINGS, OpeningsSpec
from arena.planning.plan import Plan
from arena.reading.agent_tables import Around, read_agents
from arena.reading.consistency import known_game
from arena.reading.experiment_file import DEFAULT_PAIRS, Experiment
from arena.reading.file_tables import Settings, Table, WholeFile, fitting
from arena.reading.problems import Problems, names_at, near
from arena.reading.toml_text import read
from arena.reading.way_tables import read_openings
from arena.stats.sprt import SprtPlan, forecast
from arena.tuning.samplers import SAMPLERS
from arena.tuning.space import Axis, Space
from arena.tuning.start_weights import seed_of, seed_weights
from arena.tuning.weight_ranges import RangeTable, range_problem
from games import Game, game
from games.names import listed, quoted, shown

LEAST_GAMES = 20
TRIALS_PER_WEIGHT = 5
TYPICAL_VARIANCE = 0.1  # of pair scores between bots of like strength


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
    """The name of a sampler; anything else is refused as another choice than those there are."""
    if name not in SAMPLERS:
        choices = " or ".join(", ".join(map(quoted, SAMPLERS)).rsplit(", ", 1))
        raise PydanticCustomError("literal_error", "a sampler", {"expected": choices})
    return name


class TuneTable(Table):
    """`[tune]` as it is written; weights and opponents are read with the agents."""

    agent: str
    weights: dict[str, Any]
    opponents: Any = None
    games: int = Field(default=200, ge=LEAST_GAMES, le=10**7)  # per trial
    trials: int | None = Field(default=None, ge=1, le=100_000)
    total_games: int | None = Field(default=None, ge=1)
    method: Annotated[str, AfterValidator(known_method)] = "tpe"
    validation: ValidationTable = ValidationTable()


class TuneFile(WholeFile):
    """An experiment file with a `[tune]` table."""

    tune: TuneTable


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """Everything a study is made of."""

    experiment: Experiment
    agent: str
    space: Space
    seed_values: Mapping[str, float]
    opponents: tuple[tuple[str, float], ...]  # agent, share of the games
    games: int  # per trial
    trials: int
    method: str
    validation: ValidationTable

    @property
    def spec(self) -> AgentSpec:
        """The agent that is tuned, as it is before."""
        return self.plan.agents[self.agent]

    @property
    def plan(self) -> Plan:
        """What the file says of the games: trials and validation are played by it."""
        return self.experiment.plan


DEFAULT_TRIALS = 100


def load_tuning(path: Path, overrides: Sequence[str] = ()) -> Tuning:
    """The study in a file; ExperimentError says all that is wrong with it."""
    source, problems = read(Path(path), overrides)
    problems.add_schema(TuneFile)
    settings = fitting(Settings, source.tables) or Settings()
    base = source.path.absolute().parent
    of = known_game(settings, base, problems)
    written = source.tables.get("agents")
    agents: dict[str, AgentSpec] = {}
    if isinstance(written, dict):
        agents = read_agents(written, Around(of, base, problems))
    openings = _openings(source.tables, of, problems)
    tune = fitting(TuneTable, source.tables.get("tune"))
    found = _Reading(of, agents, problems).tuning(tune) if tune else None
    problems.raise_if_any()
    assert found is not None
    assert tune is not None
    space, seeds, opponents = found
    plan = Plan(
        game=game(settings.game, base).name,
        agents=agents,
        matches=tuple(combinations(range(len(agents)), 2)),
        openings=openings,
        pairs=settings.pairs or DEFAULT_PAIRS,
        seed=settings.seed,
        keep_moves=False,
        move_seconds=settings.move_seconds,
        base=base,
    )
    return Tuning(
        experiment=Experiment(settings.name or source.path.stem, source.path, plan),
        agent=tune.agent,
        space=space,
        seed_values=seeds,
        opponents=opponents,
        games=tune.games - tune.games % 2,
        trials=trials_of(tune),
        method=tune.method,
        validation=tune.validation,
    )


def _openings(tables: Mapping[str, Any], of: Game | None, problems: Problems) -> OpeningsSpec:
    """The openings of a file, or the usual ones."""
    if "openings" not in tables:
        return RANDOM_OPENINGS
    return read_openings(tables["openings"], of, problems, names_at(TuneFile, ()))


def trials_of(tune: TuneTable) -> int:
    """How many trials are wanted."""
    if tune.trials is not None:
        return tune.trials
    return tune.total_games // tune.games if tune.total_games is not None else DEFAULT_TRIALS


Found = tuple[Space, dict[str, float], tuple[tuple[str, float], ...]]


class _Reading:
    """The parts of `[tune]` that mean something only beside the agents."""

    def __init__(self, of: Game | None, agents: Mapping[str, AgentSpec], problems: Problems):
        self.of, self.agents, self.problems = of, agents, problems

    def tuning(self, tune: TuneTable) -> Found | None:
        """Space, seed weights and opponents; None if there are none, which is said."""
        self._budget(tune)
        opponents = self._opponents(tune)
        spec = self.agents.get(tune.agent)
        if spec is None:
            if tune.agent:
                self._say("agent", no_agent(tune.agent, self.agents))
            return None
        if self.of is None:
            return None
        if spec.kind not in AGENTS or not kind_of(spec).option("weights"):
            having = [kind for kind in AGENTS if kind_of(kind).option("weights")]
            told = f"{tune.agent} is of kind {spec.kind}, which has no weights ({listed(having)}"
            self._say("agent", f"{told} have)")
            return None
        known, seeds = seed_weights(spec, self.of)
        axes = [axis for name in tune.weights if (axis := self._axis(tune, name, known, seeds))]
        numbers = {n: w for n, w in tune.weights.items() if _number(w)}
        fixed = {n: w for n, w in seeds.items() if n not in tune.weights}
        fixed |= {n: (float(w),) for n, w in numbers.items()}
        if not axes and all(_number(w) for w in tune.weights.values()):
            self._say("weights", "no weight has a range, as in weights = { pot = [0.5, 5.0] }")
        if len(axes) * TRIALS_PER_WEIGHT > trials_of(tune):
            self._say(
                "trials",
                f"{trials_of(tune)} trials are too few to conclude anything about "
                f"{len(axes)} weights; take at least {len(axes) * TRIALS_PER_WEIGHT}",
            )
        space = Space(tuple(axes), fixed)
        return space, {a.name: seed_of(a.name, seeds) for a in axes}, opponents

    def _say(self, key: str, told: str, *inside: str | int) -> None:
        place = ("tune", key, *inside)
        self.problems.say(place, told, ("tune", key) if inside else None)

    def _budget(self, tune: TuneTable) -> None:
        """Say what cannot lead to a verdict."""
        if tune.trials is not None and tune.total_games is not None:
            self._say("total_games", "say trials or total_games, not both")
        if tune.total_games is not None and tune.total_games < tune.games:
            told = f"total_games must be at least games, {tune.games}, got {tune.total_games}"
            self._say("total_games", told)
        try:
            plan = tune.validation.plan()
        except ValueError as error:
            self._say("validation", str(error))
            return
        needed = int(forecast(plan, TYPICAL_VARIANCE)[2])
        if tune.validation.pairs < needed:
            told = (
                f"{tune.validation.pairs} pairs cannot tell {plan.elo1:g} Elo from {plan.elo0:g}; "
                f"about {needed} are needed, or a larger elo1"
            )
            self._say("validation", told, "pairs")

    def _axis(
        self, tune: TuneTable, name: str, known: Sequence[str] | None, seeds: Weights
    ) -> Axis | None:
        """The range of one weight; None if it is a number, or wrong, which is said."""
        written = tune.weights[name]
        if known is not None and name not in known:
            told = f"unknown weight {quoted(name)} (there are {listed(known)}){near(name, known)}"
            self._say("weights", told, name)
            return None
        if _number(written):
            return None
        table = written if isinstance(written, dict) else {"range": written}
        ranged = fitting(RangeTable, table)
        if ranged is None or set(table) - {"range", "log", "integer"}:
            told = (
                f"{name} must be a number, a range like [0.5, 5.0], or "
                f"{{ range = [0.5, 5.0], log = true }}, got {shown(written)}"
            )
            self._say("weights", told, name)
            return None
        wrong = range_problem(name, ranged, seeds)
        if wrong:
            self._say("weights", wrong, name)
            return None
        low, high = ranged.range
        return Axis(name, low, high, ranged.log, ranged.integer)

    def _opponents(self, tune: TuneTable) -> tuple[tuple[str, float], ...]:
        """Whom candidates play; the untuned agent if nothing is said."""
        given = tune.opponents
        if given is None:
            return ((tune.agent, 1.0),)
        if isinstance(given, str):
            given = [given]
        shares = given if isinstance(given, dict) else None
        if shares is None and isinstance(given, list) and all(isinstance(n, str) for n in given):
            shares = dict.fromkeys(given, 1.0)
        if not shares or not all(_number(s) and s > 0 for s in shares.values()):
            told = "opponents must be names, or shares like { smart = 0.7, greedy = 0.3 }"
            self._say("opponents", f"{told}, got {shown(tune.opponents)}")
            return ()
        for name in shares:
            if name not in self.agents:
                self._say("opponents", no_agent(name, self.agents), name)
        whole = sum(shares.values())
        return tuple((name, float(share) / whole) for name, share in shares.items())


def _number(written: Any) -> bool:
    return isinstance(written, int | float) and not isinstance(written, bool)
