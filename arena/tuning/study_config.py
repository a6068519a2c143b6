"""A study read from a file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from agents.core import AgentSpec, SpecError
from agents.registry import AGENTS, is_search, kind_of, option_values, require_kind
from arena.config.experiment import (
    CommonSettings,
    Experiment,
    MatchSchedule,
    build_plan,
    read_common,
)
from arena.config.toml_file import Problems, Source, read_experiment_file
from arena.planning.plan import Plan
from arena.planning.schedules.registry import unknown_agent_message
from arena.stats.sprt import mean_test_lengths
from arena.tuning.ranges import (
    has_weights,
    is_number,
    parse_space,
    plays_by_learned_tables,
    tunable_options,
)
from arena.tuning.samplers.registry import AUTO, SAMPLERS, SearchPlan, method_problem
from arena.tuning.space import WEIGHTS, Space, Value
from arena.tuning.table import (
    CHOSEN,
    NODES,
    TIME,
    TUNE_TOP,
    TuneTable,
    ValidationTable,
    report_tune_problem,
    tune_table,
)
from games import Game
from games.base.text import format_value, join_names

LEAST_ELO = 0.1  # a smaller difference takes more than some hundred million pairs
LARGEST_SHARE = 1e9
TYPICAL_VARIANCE = 0.1  # of pair scores between similar bots

TRIALS_PER_WEIGHT = 5
FOR_CHOICES = "tpe"  # for axes with few values
FEWEST_STEPS = 12  # values of a whole number, less one, that small steps can tell apart

Problem = tuple[str, str]  # the key, and the message
Shares = tuple[tuple[str, float], ...]


@dataclass(frozen=True, kw_only=True)
class StudyConfig:
    """A study as its file describes it."""

    experiment: Experiment
    agent: str
    space: Space
    seed_values: Mapping[str, Value]
    opponents: Shares  # agent, share of the games
    games: int  # per trial
    trials: int
    method: str
    chosen: bool  # whether the file leaves the method to us
    validation: ValidationTable
    equal: str = NODES  # or TIME: a candidate gets the nodes that fit into the time of the seed
    share: float = 1.0  # nodes of a candidate for each node of the seed

    @property
    def candidate(self) -> AgentSpec:
        """The tuned agent with the nodes of a candidate."""
        if self.share == 1.0:
            return self.spec
        nodes = option_values(kind_of(self.spec).options, self.spec, self.plan.game)["nodes"]
        return self.spec.replace(nodes=max(1, round(self.share * nodes)))

    @property
    def spec(self) -> AgentSpec:
        """The tuned agent of the file."""
        return self.plan.agents[self.agent]

    @property
    def plan(self) -> Plan:
        """The plan of all games."""
        return self.experiment.plan


def plays_only_seed(tuning: StudyConfig) -> bool:
    """Return whether the agent with its seed weights is the only opponent."""
    return [name for name, _ in tuning.opponents] == [tuning.agent]


def load_study(path: Path, overrides: Sequence[str] = ()) -> StudyConfig:
    """Return the study of a file; an ExperimentError lists all problems."""
    return parse_study(*read_experiment_file(Path(path), overrides))


def parse_study(source: Source, problems: Problems) -> StudyConfig:
    """Return the study of tables; an ExperimentError lists all problems."""
    setup = read_common(source, TUNE_TOP, problems)
    table = tune_table(setup.values.get("tune", {}))
    opponents: Shares = ()
    searched = None
    if table is not None:
        validation_problems(table.validation, problems)
        opponents = parse_opponents(table, setup.agents, problems)
        searched = parse_search(table, setup, problems)
    problems.raise_if_any()
    assert table is not None  # or there were problems
    assert searched is not None
    space, seeds = searched
    matches = tuple(combinations(range(len(setup.agents)), 2))
    plan = build_plan(setup, MatchSchedule(matches, None))
    plan = replace(plan, keep_moves=False, stop=None, keep_search_info=False)
    return StudyConfig(
        experiment=Experiment(setup.settings.name, source.path, plan),
        agent=table.agent,
        space=space,
        seed_values=seeds,
        opponents=opponents,
        games=table.games,
        trials=table.trials,
        method=default_sampler(space) if table.method == AUTO else table.method,
        chosen=table.method == AUTO,
        validation=table.validation,
        equal=table.equal,
    )


def parse_search(
    table: TuneTable, setup: CommonSettings, problems: Problems
) -> tuple[Space, dict[str, Value]] | None:
    """Return the space and the values before tuning, and report problems; None without a space."""
    for key, message in budget_problems(table):
        report_tune_problem(problems, message, key)
    if table.method != AUTO and (message := method_problem(table.method)):
        report_tune_problem(problems, message, "method")
    if message := agent_problem(table.agent, setup.agents):
        report_tune_problem(problems, message, "agent")
    if message or setup.game is None:
        return None
    spec = setup.agents[table.agent]
    if table.weights and (found := weights_problem(table.agent, spec, setup.game)):
        report_tune_problem(problems, found[1], found[0])
        return None
    if message := time_problem(table, spec):
        report_tune_problem(problems, message, "equal")
    space, seeds = parse_space(table, spec, setup.game, problems)
    for key, message in space_problems(table, space):
        report_tune_problem(problems, message, key)
    if not space.axes or problems.found:
        return space, seeds
    if reason := candidate_problem(spec, space, setup.game):
        report_tune_problem(problems, reason, "options")
    elif reason := sampler_problem(table, space, seeds):
        report_tune_problem(problems, reason, "method")
    return space, seeds


def candidate_problem(spec: AgentSpec, space: Space, game: Game) -> str:
    """Return why candidates at the ends of all ranges are invalid; empty if they are valid."""
    for end in (0.0, 1.0):
        try:
            require_kind(spec.replace(**space.changes([end] * len(space.axes))), game)
        except SpecError as error:
            return str(error)
    return ""


def sampler_problem(table: TuneTable, space: Space, seeds: Mapping[str, Value]) -> str:
    """Return why a sampler of Optuna cannot search the space; empty if it can."""
    if table.method in (AUTO, *SAMPLERS):
        return ""
    from arena.tuning.optuna_study import (  # noqa: PLC0415  # Optuna takes half a second to load
        rehearsal_problem,
    )

    plan = SearchPlan(space, space.point(seeds), 0, table.trials, table.games // 2)
    return rehearsal_problem(table.method, plan)


def validation_problems(table: ValidationTable, problems: Problems) -> None:
    """Report a validation that cannot reach a verdict."""
    try:
        plan = table.plan()
    except ValueError as error:
        report_tune_problem(problems, str(error), "validation")
        return
    if plan.elo1 - plan.elo0 < LEAST_ELO:
        message = (
            f"no match can tell {plan.elo1:g} Elo from {plan.elo0:g}; "
            f"elo1 must be at least {LEAST_ELO:g} above elo0"
        )
        report_tune_problem(problems, message, "validation", "elo1")
        return
    needed = int(mean_test_lengths(plan, TYPICAL_VARIANCE)[2])
    if table.pairs < needed:
        message = (
            f"{table.pairs} pairs cannot tell {plan.elo1:g} Elo from {plan.elo0:g}; "
            f"about {needed:,} are needed, or a larger elo1"
        )
        report_tune_problem(problems, message, "validation", "pairs")


def parse_opponents(
    table: TuneTable, agents: Mapping[str, AgentSpec], problems: Problems
) -> Shares:
    """Return the opponents with shares that add up to 1; by default the untuned agent."""
    shares = table.agent if table.opponents is None else table.opponents
    if isinstance(shares, str):
        shares = [shares]
    if isinstance(shares, list) and all(isinstance(name, str) for name in shares):
        shares = dict.fromkeys(shares, 1.0)
    if (
        not isinstance(shares, dict)
        or not shares
        or not all(is_number(share) and 0 < share <= LARGEST_SHARE for share in shares.values())
    ):
        message = "opponents must be names, or shares like { smart = 0.7, greedy = 0.3 }"
        report_tune_problem(
            problems, f"{message}, got {format_value(table.opponents)}", "opponents"
        )
        return ()
    if table.opponents is not None:
        for name in shares:
            if name not in agents:
                report_tune_problem(
                    problems, unknown_agent_message(name, agents), "opponents", name
                )
    total = sum(shares.values())
    return tuple((name, float(share) / total) for name, share in shares.items())


def budget_problems(table: TuneTable) -> Iterator[Problem]:
    """Yield the problems of the number of games."""
    if table.games % 2:
        near = f"{table.games - 1} and {table.games + 1}"
        message = "games must be even, as every opening is played from both sides"
        yield "games", f"{message}; {near} are, got {table.games}"


def agent_problem(name: str, agents: Mapping[str, AgentSpec]) -> str:
    """Return why an agent cannot be tuned; empty if it can."""
    if name not in agents:
        return unknown_agent_message(name, agents)
    kind = agents[name].kind
    if kind in AGENTS and (kind_of(kind).option(WEIGHTS) or tunable_options(kind_of(kind))):
        return ""
    having = [
        each for each in AGENTS if kind_of(each).option(WEIGHTS) or tunable_options(kind_of(each))
    ]
    return (
        f"{name} is of kind {kind}, which has no weights and no options that could be tuned "
        f"(these have: {join_names(having)})"
    )


def weights_problem(name: str, spec: AgentSpec, game: Game) -> Problem | None:
    """Return why an agent has no weights to tune; None if it has some."""
    if not has_weights(spec):
        has = join_names([each for each in AGENTS if kind_of(each).option(WEIGHTS)])
        options = join_names(tunable_options(kind_of(spec)))
        return "weights", (
            f"{name} is of kind {spec.kind}, which has no weights (these have: {has}); in "
            f"[tune.options] it has {options}"
        )
    if plays_by_learned_tables(spec, game):
        return "agent", (
            f"{name} plays by learned tables, which are not tuned; take kind = "
            '"smart_classic", or give it weights'
        )
    return None


def time_problem(table: TuneTable, spec: AgentSpec) -> str:
    """Return why candidates cannot have nodes by time; empty if they can."""
    if table.equal != TIME or (is_search(spec) and "nodes" in spec.options):
        return ""
    return (
        f'equal = "time" gives a candidate as many nodes as fit into the time of the seed: '
        f"give {table.agent} nodes"
    )


def space_problems(table: TuneTable, space: Space) -> Iterator[Problem]:
    """Yield why a search of this space could not end well."""
    few = coarse_axes(space)
    if few and table.method == CHOSEN:
        message = f"{CHOSEN} walks in small steps, and {few[0]} has few values: take method = "
        yield "method", f'{message}"{FOR_CHOICES}"'
    least = len(space.axes) * TRIALS_PER_WEIGHT
    if table.trials < least:
        yield (
            "trials",
            (
                f"{table.trials} trials are too few to conclude anything about "
                f"{len(space.axes)} weights; at least {least} are needed"
            ),
        )


def coarse_axes(space: Space) -> list[str]:
    """Return the axes with too few values for small steps."""
    return [axis.name for axis in space.axes if axis.choices or axis.steps < FEWEST_STEPS]


def default_sampler(space: Space) -> str:
    """Return the method that auto takes."""
    return FOR_CHOICES if coarse_axes(space) else CHOSEN
