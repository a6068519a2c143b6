"""What makes a study impossible, before anything of it is played; a line for each problem."""

from collections.abc import Iterator, Mapping

from agents.core import AgentSpec
from agents.registry import AGENTS, is_search, kind_of
from arena.planning.schedules.registry import unknown_agent_message
from arena.tuning.ranges import has_weights, plays_by_learned_tables, tunable_options
from arena.tuning.space import WEIGHTS, Space
from arena.tuning.table import CHOSEN, TIME, TuneTable
from games import Game
from games.base.text import listed

TRIALS_PER_WEIGHT = 5
FOR_CHOICES = "tpe"  # where something has few values
FEWEST_STEPS = 12  # a step of the walk, .08 of the range, is then about one of them

Problem = tuple[str, str]  # the key, one line


def budget_problems(table: TuneTable) -> Iterator[Problem]:
    """Yield what is wrong with the number of games."""
    if table.games % 2:
        near = f"{table.games - 1} and {table.games + 1}"
        message = "games must be even, as every opening is played from both sides"
        yield "games", f"{message}; {near} are, got {table.games}"


def agent_problem(name: str, agents: Mapping[str, AgentSpec]) -> str:
    """Why an agent cannot be tuned; empty if it can."""
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
        f"(these have: {listed(having)})"
    )


def weights_problem(name: str, spec: AgentSpec, of: Game) -> Problem | None:
    """Why an agent has no weights to tune; None if it has."""
    if not has_weights(spec):
        has = listed([each for each in AGENTS if kind_of(each).option(WEIGHTS)])
        options = listed(tunable_options(kind_of(spec)))
        return "weights", (
            f"{name} is of kind {spec.kind}, which has no weights (these have: {has}); in "
            f"[tune.options] it has {options}"
        )
    if plays_by_learned_tables(spec, of):
        return "agent", (
            f"{name} plays by learned tables, which are not tuned; take kind = "
            '"smart_classic", or give it weights'
        )
    return None


def time_problem(table: TuneTable, spec: AgentSpec) -> str:
    """Why candidates cannot have as many nodes as fit into the time; empty if they can."""
    if table.equal != TIME or (is_search(spec) and "nodes" in spec.options):
        return ""
    return (
        f'equal = "time" gives a candidate as many nodes as fit into the time of the seed: '
        f"give {table.agent} nodes"
    )


def space_problems(table: TuneTable, space: Space) -> Iterator[Problem]:
    """Why a search could not end well in this space."""
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
    """What has so few values that small steps would often end at the same one."""
    return [axis.name for axis in space.axes if axis.choices or axis.steps < FEWEST_STEPS]


def default_sampler(space: Space) -> str:
    """The method where it is ours to choose."""
    return FOR_CHOICES if coarse_axes(space) else CHOSEN
