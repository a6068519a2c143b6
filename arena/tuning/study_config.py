"""A study read from a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from agents.core import AgentSpec, SpecError
from agents.registry import kind_of, option_values, require_kind
from arena.config.experiment import (
    CommonSettings,
    Experiment,
    MatchSchedule,
    build_plan,
    read_common,
)
from arena.config.toml_file import Problems, Source, read
from arena.planning.plan import Plan
from arena.planning.schedules.registry import unknown_agent_message
from arena.stats.sprt import expected_lengths
from arena.tuning.problems import (
    agent_problem,
    budget_problems,
    default_sampler,
    space_problems,
    time_problem,
    weights_problem,
)
from arena.tuning.ranges import is_number, read_space
from arena.tuning.space import Space, Value
from arena.tuning.table import (
    AUTO,
    NODES,
    TUNE_TOP,
    TuneTable,
    ValidationTable,
    report_tune_problem,
    tune_table,
)
from games import Game
from games.base.text import format_value

LEAST_ELO = 0.1  # which some hundred million pairings tell from nothing
LARGEST_SHARE = 1e9
TYPICAL_VARIANCE = 0.1  # of pair scores between bots of like strength

Shares = tuple[tuple[str, float], ...]


@dataclass(frozen=True, kw_only=True)
class StudyConfig:
    """Everything a study is made of."""

    experiment: Experiment
    agent: str
    space: Space
    seed_values: Mapping[str, Value]
    opponents: Shares  # agent, share of the games
    games: int  # per trial
    trials: int
    method: str
    chosen: bool  # whether the method is ours to choose
    validation: ValidationTable
    equal: str = NODES  # or "time": the tuned agent looks at as many positions as fit into the time
    share: float = 1.0  # of the seed's nodes that a candidate has, once that is known

    @property
    def candidate(self) -> AgentSpec:
        """The agent that is tuned, with the nodes that a candidate has."""
        if self.share == 1.0:
            return self.spec
        nodes = option_values(kind_of(self.spec).options, self.spec, self.plan.of)["nodes"]
        return self.spec.replace(nodes=max(1, round(self.share * nodes)))

    @property
    def spec(self) -> AgentSpec:
        """The agent that is tuned, as the file has it."""
        return self.plan.agents[self.agent]

    @property
    def plan(self) -> Plan:
        """What the file says of the games: trials and validation are played by it."""
        return self.experiment.plan


def against_seed(tuning: StudyConfig) -> bool:
    """Whether the only opponent is the agent with its seed weights."""
    return [name for name, _ in tuning.opponents] == [tuning.agent]


def load_study(path: Path, overrides: Sequence[str] = ()) -> StudyConfig:
    """The study in a file; ExperimentError says all that is wrong with it."""
    return parse_study(*read(Path(path), overrides))


def parse_study(source: Source, problems: Problems) -> StudyConfig:
    """The study that tables describe."""
    setup = read_common(source, TUNE_TOP, problems)
    table = tune_table(setup.values.get("tune", {}))
    opponents: Shares = ()
    searched = None
    if table is not None:
        validation_problems(table.validation, problems)
        opponents = read_opponents(table, setup.agents, problems)
        searched = read_search(table, setup, problems)
    problems.raise_if_any()
    assert table is not None  # else a problem was said
    assert searched is not None  # likewise
    space, seeds = searched
    matches = tuple(combinations(range(len(setup.agents)), 2))
    plan = build_plan(setup, MatchSchedule(matches, None))
    plan = replace(plan, keep_moves=False, stop=None, thoughts=False)
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


def read_search(
    table: TuneTable, setup: CommonSettings, problems: Problems
) -> tuple[Space, dict[str, Value]] | None:
    """The space and the seed weights in it; None if there are none, which is said."""
    for key, message in budget_problems(table):
        report_tune_problem(problems, message, key)
    if message := agent_problem(table.agent, setup.agents):
        report_tune_problem(problems, message, "agent")
    if message or setup.of is None:
        return None
    spec = setup.agents[table.agent]
    if table.weights and (found := weights_problem(table.agent, spec, setup.of)):
        report_tune_problem(problems, found[1], found[0])
        return None
    if message := time_problem(table, spec):
        report_tune_problem(problems, message, "equal")
    space, seeds = read_space(table, spec, setup.of, problems)
    for key, message in space_problems(table, space):
        report_tune_problem(problems, message, key)
    if space.axes and not problems.found and (why := candidate_problem(spec, space, setup.of)):
        report_tune_problem(problems, why, "options")
    return space, seeds


def candidate_problem(spec: AgentSpec, space: Space, of: Game) -> str | None:
    """Why the candidates at one end of all ranges are no agents of the game."""
    for end in (0.0, 1.0):
        try:
            require_kind(spec.replace(**space.changes([end] * len(space.axes))), of)
        except SpecError as error:
            return str(error)
    return None


def validation_problems(table: ValidationTable, problems: Problems) -> None:
    """A validation that can reach no verdict."""
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
    needed = int(expected_lengths(plan, TYPICAL_VARIANCE)[2])
    if table.pairs < needed:
        message = (
            f"{table.pairs} pairs cannot tell {plan.elo1:g} Elo from {plan.elo0:g}; "
            f"about {needed:,} are needed, or a larger elo1"
        )
        report_tune_problem(problems, message, "validation", "pairs")


def read_opponents(table: TuneTable, agents: Mapping[str, AgentSpec], problems: Problems) -> Shares:
    """Whom candidates play, with shares that add up to 1; the untuned agent if none is named."""
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
