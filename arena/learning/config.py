"""Reading an experiment file as something to learn, with all its problems at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from agents.core import AgentSpec
from agents.evaluation.learned_value import looked_up
from agents.evaluation.weights import declared_weights
from agents.registry import AGENTS, is_search, kind_of, users_code
from agents.spec import find_path
from arena.config.experiment import (
    CommonSettings,
    Experiment,
    MatchSchedule,
    build_plan,
    read_common,
)
from arena.config.keys import ALPHA, BETA, EXPERIMENT_KEYS
from arena.config.toml_file import Problems, read
from arena.learning.self_play import SelfPlaySettings
from arena.planning.plan import OpeningsSpec, Plan
from arena.planning.schedules.registry import unknown_agent_message
from arena.stats.sprt import SprtPlan
from games import Game, GameError
from games.base.schema import Key, KeyValues, default_values
from games.base.text import did_you_mean, format_value, listed, quote
from games.learned_tables import LookedUp, TableLayout

AUTO = "auto"
MOST_GAMES, MOST_ROUNDS = 10_000_000, 20
MATCH = (
    Key("nodes", "int", "positions a move for both; without it the teacher's limits", low=1),
    Key("elo0", "float", "the difference that is too little", 0.0),
    Key("elo1", "float", "the difference that is enough", 20.0),
    ALPHA,
    BETA,
    Key("pairs", "int", "pairings at most", 500, low=10, high=10**6),
)
LEARN = (
    Key("teacher", "text", "who plays the first games", required=True),
    Key("agent", "text", "whose weights are learned; usually the teacher"),
    Key("tables", "text", "what has weights: features, patterns, holes, pairs"),
    Key("patterns", "table", 'patterns of your own, as in corner = "a1 b1 a2"'),
    Key("phases", "int", "parts of the game with weights of their own", low=1, high=64),
    Key("games", "any", "games of a round, or a list with those of each", 20_000),
    Key("from", "paths", "runs whose games are learned from, in place of new ones", ()),
    Key("rounds", "int", "how often the winner plays new games", 1, low=1, high=MOST_ROUNDS),
    Key("ridge", "any", "positions that hold a weight at 0", AUTO),
    Key("refits", "int", "fits more, labelled by the positions that followed", 0, low=0, high=10),
    Key("trust", "float", "of such a label, the share of what came later", 0.8, low=0, high=1),
    Key("held_out", "float", "the share of games that only test", 0.05, low=0.01, high=0.5),
    Key("opening_plies", "numbers", "from so many random moves to so many"),
    Key("solve_from", "int", "how much is left where games are solved; -1: never", low=-1, high=40),
    Key("match", "table", "the match that decides about a round", keys=MATCH),
)
LEARN_TOP = tuple(
    replace(key, type="table", required=True, keys=LEARN) if key.name == "learn" else key
    for key in EXPERIMENT_KEYS
)
MATCH_OPENINGS = OpeningsSpec("plies", {"plies": (7, 9)})  # shorter than any that is learned from
GRID = (128.0, 32.0, 8.0)  # in positions: an entry seen so often keeps half of what it says
FEATURES = "features"


@dataclass(frozen=True, slots=True)
class MatchTable:
    """The match of the weights of a round against those before it."""

    nodes: int | None
    elo0: float
    elo1: float
    alpha: float
    beta: float
    pairs: int

    def plan(self) -> SprtPlan:
        """The test; a ValueError says why there is none."""
        return SprtPlan(self.elo0, self.elo1, self.alpha, self.beta)


def match_table(values: KeyValues | None) -> MatchTable:
    """The match with the values of `MATCH`."""
    return MatchTable(**(default_values(MATCH) | dict(values or {})))


def read_ridge(written: object, problems: Problems) -> tuple[float, ...]:
    """The ridges to choose from."""
    if written == AUTO:
        return GRID
    if isinstance(written, bool) or not isinstance(written, int | float) or not written > 0:
        message = f'ridge must be "{AUTO}" or a number above 0, got {format_value(written)}'
        problems.add(("learn", "ridge"), message, ("learn", "ridge"))
        return ()
    return (float(written),)


@dataclass(frozen=True, kw_only=True)
class LearnConfig:
    """Everything that decides what is learned."""

    experiment: Experiment
    teacher: str
    agent: str  # whose weights are learned: the teacher, or one that plays the matches only
    tables: str  # of the pack's TABLES, or FEATURES
    patterns: Mapping[str, str]  # of the user's own; empty: the usual ones
    phases: int | None  # None: by the number of games
    games: tuple[int, ...]  # of each round
    sources: tuple[Path, ...]  # runs in place of new games
    ridges: tuple[float, ...]
    held_out: float
    opening_plies: tuple[int, int]
    solve_from: int
    match: MatchTable
    refits: int = 0  # with labels from the values of the positions that followed
    trust: float = 1.0

    @property
    def plan(self) -> Plan:
        """What the file says of the games."""
        return self.experiment.plan

    @property
    def of(self) -> Game:
        """The game."""
        return self.plan.of

    @property
    def spec(self) -> AgentSpec:
        """The teacher as the file has it."""
        return self.plan.agents[self.teacher]

    @property
    def own_spec(self) -> AgentSpec:
        """The agent whose weights are learned, as the file has it."""
        return self.plan.agents[self.agent]

    @property
    def own_names(self) -> tuple[str, ...] | None:
        """The WEIGHTS of its own evaluation, if it has one."""
        evaluate = self.own_spec.options.get("evaluate")
        return tuple(declared_weights(evaluate) or ()) if evaluate else None

    def settings(self, seed: int) -> SelfPlaySettings:
        """How the games of a round are played."""
        return SelfPlaySettings(seed, *self.opening_plies, self.solve_from)


def load_learn_config(path: Path, overrides: Sequence[str] = ()) -> LearnConfig:
    """What a file asks to learn; ExperimentError says all that is wrong with it."""
    source, problems = read(Path(path), overrides)
    setup = read_common(source, LEARN_TOP, problems)
    values = {**default_values(LEARN), **setup.values.get("learn", {})}
    match = match_table(values["match"])
    teacher_problem(values.get("teacher"), setup.agents, problems)
    agent = values["agent"] or values.get("teacher")
    agent_problem(agent, values, setup.agents, problems)
    games = read_games(values["games"], values["rounds"], problems)
    ridges = read_ridge(values["ridge"], problems)
    match_problem(match, problems)
    plies = read_plies(values["opening_plies"], setup.of, problems)
    tables = read_tables(values, setup, problems)
    sources = tuple(Path(find_path(each, setup.base)) for each in values["from"])
    problems.raise_if_any()
    return LearnConfig(
        experiment=Experiment(setup.settings.name, source.path, plan_to_learn(setup)),
        teacher=values["teacher"],
        agent=agent or values["teacher"],
        tables=tables,
        patterns=values["patterns"] or {},
        phases=values["phases"],
        games=(0,) if sources else games,
        sources=sources,
        ridges=ridges,
        refits=values["refits"],
        trust=values["trust"],
        held_out=values["held_out"],
        opening_plies=plies,
        solve_from=default_solve_from(values["solve_from"], setup.of),
        match=match,
    )


def plan_to_learn(setup: CommonSettings) -> Plan:
    """The plan that games and matches are played by."""
    if setup.values["openings"] is None:
        setup = setup._replace(openings=MATCH_OPENINGS)
    meets = MatchSchedule(tuple(combinations(range(len(setup.agents)), 2)), None)
    plan = build_plan(setup, meets)
    return replace(plan, keep_moves=False, stop=None, thoughts=False)


def default_solve_from(written: int | None, of: Game | None) -> int:
    """How much is left where games are solved; where nothing is said, what is soon solved."""
    usual: int = -1 if of is None else getattr(tables_part(of), "SOLVE_FROM", -1)
    return usual if written is None else written


def tables_part(of: Game) -> object:
    """The table of tables of the game's pack; an empty one if it has none."""
    return of.part("tables") if of.has("tables") else object()


def report_learn_problem(problems: Problems, message: str, *keys: str) -> None:
    """A problem with a key of `[learn]`."""
    problems.add(("learn", *keys), message, ("learn", *keys[:1]))


def teacher_problem(name: str | None, agents: Mapping[str, AgentSpec], problems: Problems) -> None:
    """A teacher is a search of ours without a user's code: its games are played by the thousand."""
    if name is None:
        return
    if name not in agents:
        report_learn_problem(problems, unknown_agent_message(name, agents), "teacher")
        return
    spec = agents[name]
    if spec.kind not in AGENTS:
        return
    if not (is_search(spec) and kind_of(spec).option("weights")) or users_code(spec):
        message = (
            f"{name} cannot teach: a teacher is of kind smart, alphabeta or minimax, without "
            'evaluate; games of others are learned from by from = ["results/<run>"]'
        )
        report_learn_problem(problems, message, "teacher")


def agent_problem(
    name: str | None, values: KeyValues, agents: Mapping[str, AgentSpec], problems: Problems
) -> None:
    """One that does not teach has its weights learned once; an own evaluation has WEIGHTS."""
    if name is None or name == values.get("teacher"):
        return
    if name not in agents:
        report_learn_problem(problems, unknown_agent_message(name, agents), "agent")
        return
    spec = agents[name]
    if spec.kind not in AGENTS or not kind_of(spec).option("weights"):
        report_learn_problem(
            problems, f"{name} is of kind {spec.kind}, which has no weights", "agent"
        )
        return
    if values["rounds"] > 1:
        report_learn_problem(problems, f"{name} does not teach, so there is one round", "rounds")
    evaluate = spec.options.get("evaluate")
    if evaluate and not declared_weights(evaluate):
        message = f'{evaluate} declares no WEIGHTS = {{"name": number, ...}} that could be fitted'
        report_learn_problem(problems, message, "agent")
    elif evaluate and not (values["tables"] in (None, FEATURES) and values["phases"] in (None, 1)):
        report_learn_problem(
            problems, f"{name} evaluates by its own WEIGHTS: one number each", "tables"
        )


def read_games(written: object, rounds: int, problems: Problems) -> tuple[int, ...]:
    """The games of every round; of a list the last number holds for the rounds after it."""
    several = written if isinstance(written, list | tuple) else [written]
    for each in several:
        if isinstance(each, bool) or not isinstance(each, int) or not 100 <= each <= MOST_GAMES:
            message = (
                f"games must be 100 to {MOST_GAMES:,}, or a list of such, got {format_value(each)}"
            )
            report_learn_problem(problems, message, "games")
            return ()
    if not several or len(several) > rounds:
        report_learn_problem(
            problems, f"games has {len(several)} numbers for {rounds} rounds", "games"
        )
        return ()
    return (*several, *[several[-1]] * (rounds - len(several)))


def match_problem(match: MatchTable, problems: Problems) -> None:
    """A match that can decide nothing."""
    try:
        match.plan()
    except ValueError as error:
        report_learn_problem(problems, str(error), "match")


def read_plies(
    written: Sequence[object] | None, of: Game | None, problems: Problems
) -> tuple[int, int]:
    """The shortest and the longest opening of a game that is learned from."""
    if written is None:
        shares = getattr(tables_part(of), "OPENING_SHARES", None) if of else None
        return usual_plies(of, shares) if of and shares else (4, 16)
    whole = [each for each in written if isinstance(each, int)]
    if len(whole) != len(written) or len(whole) != 2 or not 1 <= whole[0] <= whole[1] <= 60:
        message = "opening_plies must be the fewest and the most random moves, as [10, 24]"
        report_learn_problem(
            problems, f"{message}, got {format_value(list(written))}", "opening_plies"
        )
        return (1, 1)
    return whole[0], whole[1]


def usual_plies(of: Game, shares: tuple[float, float]) -> tuple[int, int]:
    """Shares of what there is to place or to sow at the start."""
    from agents.evaluation.training_positions import GameReader  # noqa: PLC0415  # it loads kernels

    reader = GameReader(of)
    whole = int(reader.amount(of.start()))
    return max(1, round(whole * shares[0])), max(2, round(whole * shares[1]))


def read_tables(values: KeyValues, setup: CommonSettings, problems: Problems) -> str:
    """The kind of tables; one that the game does not have is said."""
    of, own = setup.of, values["patterns"]
    if of is None:
        return ""
    known = [*getattr(tables_part(of), "TABLES", ()), *([FEATURES] if of.has("features") else [])]
    agent = setup.agents.get(values["agent"] or "")
    if agent is not None and agent.options.get("evaluate"):
        return FEATURES
    kind: str = values["tables"] or ("patterns" if own else (known or [""])[0])
    if kind not in known:
        near = did_you_mean(kind, known)
        message = f"{of.name} has no tables {quote(kind)} (there are {listed(known)}){near}"
        report_learn_problem(problems, message, "tables")
        return ""
    if own and kind != "patterns":
        report_learn_problem(problems, f"patterns are no part of {quote(kind)}", "patterns")
    elif kind != FEATURES:
        try:
            layout_of(of, kind, own or {})
        except GameError as error:
            report_learn_problem(problems, str(error), "patterns" if own else "tables")
    return kind


def layout_of(of: Game, kind: str, patterns: Mapping[str, str]) -> tuple[LookedUp, TableLayout]:
    """The tables of a kind and their layout for a game."""
    for name, words in patterns.items():
        if not isinstance(words, str):
            raise GameError(f'pattern {quote(name)} must be squares like "a1 b1 a2"')
    tables = looked_up(of, kind)
    return tables, tables.layout(of.rules, patterns or None)
