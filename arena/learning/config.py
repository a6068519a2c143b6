"""The keys of [learn] and a learning run read from a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from agents.core import AgentSpec
from agents.evaluation.learned_value import find_tables
from agents.evaluation.weights import read_declared_weights
from agents.registry import AGENTS, is_search, kind_of, user_code_reason
from agents.spec import find_path
from arena.config.experiment import (
    CommonSettings,
    Experiment,
    MatchSchedule,
    build_plan,
    read_common,
)
from arena.config.keys import ELO0, ELO1, EXPERIMENT_KEYS
from arena.config.toml_file import Problems, read_experiment_file
from arena.learning.self_play import SelfPlaySettings
from arena.planning.plan import OpeningsSpec, Plan
from arena.planning.schedules.registry import unknown_agent_message
from arena.stats.sprt import SprtPlan
from games import Game, GameError
from games.base.schema import Key, KeyValues, default_values
from games.base.text import did_you_mean, format_value, join_names, quote
from games.learned_tables import TableKind, TableLayout

MOST_GAMES, MOST_ROUNDS = 10_000_000, 20
MATCH = (
    Key("nodes", "int", "nodes per move of both sides (default: the limits of the teacher)", low=1),
    replace(ELO0, default=0.0, required=False),
    replace(ELO1, default=20.0, required=False),
    Key("pairs", "int", "the most pairs", 500, low=10, high=10**6),
)
LEARN = (
    Key("teacher", "text", "the agent that plays the first games", required=True),
    Key("agent", "text", "the agent whose weights are learned (default: the teacher)"),
    Key("tables", "text", "the kind of tables: features, patterns, holes, pairs or all_pairs"),
    Key("patterns", "table", 'squares of each pattern, as in corner = "a1 b1 a2"'),
    Key("phases", "int", "parts of the game with separate weights", low=1, high=64),
    Key("games", "any", "games per round, or a list with one number per round", 20_000),
    Key("from", "paths", "directories of runs whose games replace new ones", ()),
    Key("rounds", "int", "how often the winner plays new games", 1, low=1, high=MOST_ROUNDS),
    Key("opening_plies", "numbers", "the fewest and the most random moves of an opening"),
    Key(
        "solve_from",
        "int",
        "beans or empty squares from which games are solved; -1: never",
        low=-1,
        high=40,
    ),
    Key("match", "table", "the match of new weights against the old ones", keys=MATCH),
)
LEARN_TOP = tuple(
    replace(key, type="table", required=True, keys=LEARN) if key.name == "learn" else key
    for key in EXPERIMENT_KEYS
)
MATCH_OPENINGS = OpeningsSpec("plies", {"plies": (7, 9)})  # shorter than in self-play
FEATURES = "features"


@dataclass(frozen=True, slots=True)
class MatchTable:
    """The match of the weights of a round against those before."""

    nodes: int | None
    elo0: float
    elo1: float
    pairs: int

    def plan(self) -> SprtPlan:
        """Return the test; a ValueError describes why there is none."""
        return SprtPlan(self.elo0, self.elo1)


def match_table(values: KeyValues | None) -> MatchTable:
    """Return the match with the values of `MATCH`."""
    return MatchTable(**(default_values(MATCH) | dict(values or {})))


@dataclass(frozen=True, kw_only=True)
class LearnConfig:
    """A learning run as its file describes it."""

    experiment: Experiment
    teacher: str
    agent: str  # the agent whose weights are learned: the teacher, or an agent of the matches only
    tables: str  # of the TABLES of the game, or FEATURES
    patterns: Mapping[str, str]  # of the file; empty: those of the game
    phases: int | None  # None: by the number of games
    games: tuple[int, ...]  # of each round
    sources: tuple[Path, ...]  # runs in place of new games
    opening_plies: tuple[int, int]
    solve_from: int
    match: MatchTable

    @property
    def plan(self) -> Plan:
        """The plan of all games."""
        return self.experiment.plan

    @property
    def of(self) -> Game:
        """The game."""
        return self.plan.game

    @property
    def spec(self) -> AgentSpec:
        """The teacher of the file."""
        return self.plan.agents[self.teacher]

    @property
    def agent_spec(self) -> AgentSpec:
        """The agent whose weights are learned, as in the file."""
        return self.plan.agents[self.agent]

    @property
    def evaluation_weights(self) -> tuple[str, ...] | None:
        """The WEIGHTS of the agent's evaluation, if it has one."""
        evaluate = self.agent_spec.options.get("evaluate")
        return tuple(read_declared_weights(evaluate) or ()) if evaluate else None

    def settings(self, seed: int) -> SelfPlaySettings:
        """Return the settings of the games of a round."""
        return SelfPlaySettings(seed, *self.opening_plies, self.solve_from)


def load_learn_config(path: Path, overrides: Sequence[str] = ()) -> LearnConfig:
    """Return the learning run of a file; an ExperimentError lists all problems."""
    source, problems = read_experiment_file(Path(path), overrides)
    setup = read_common(source, LEARN_TOP, problems)
    values = {**default_values(LEARN), **setup.values.get("learn", {})}
    match = match_table(values["match"])
    teacher_problem(values.get("teacher"), setup.agents, problems)
    agent = values["agent"] or values.get("teacher")
    agent_problem(agent, values, setup.agents, problems)
    games = parse_games(values["games"], values["rounds"], problems)
    match_problem(match, problems)
    plies = parse_plies(values["opening_plies"], setup.game, problems)
    tables = parse_tables(values, setup, problems)
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
        opening_plies=plies,
        solve_from=default_solve_from(values["solve_from"], setup.game),
        match=match,
    )


def plan_to_learn(setup: CommonSettings) -> Plan:
    """Return the plan of games and matches."""
    if setup.values["openings"] is None:
        setup = setup._replace(openings=MATCH_OPENINGS)
    meets = MatchSchedule(tuple(combinations(range(len(setup.agents)), 2)), None)
    plan = build_plan(setup, meets)
    return replace(plan, keep_moves=False, stop=None, keep_search_info=False)


def default_solve_from(written: int | None, of: Game | None) -> int:
    """Return how much is left when games are solved; by default what is solved quickly."""
    usual: int = -1 if of is None else getattr(tables_part(of), "SOLVE_FROM", -1)
    return usual if written is None else written


def tables_part(of: Game) -> object:
    """Return the tables of the game, or an object without any."""
    return of.load_part("tables") if of.has_part("tables") else object()


def report_learn_problem(problems: Problems, message: str, *keys: str) -> None:
    """Report a problem with a key of `[learn]`."""
    problems.add(("learn", *keys), message, ("learn", *keys[:1]))


def teacher_problem(name: str | None, agents: Mapping[str, AgentSpec], problems: Problems) -> None:
    """Report a teacher that is no search of ours, or that runs a user's code."""
    if name is None:
        return
    if name not in agents:
        report_learn_problem(problems, unknown_agent_message(name, agents), "teacher")
        return
    spec = agents[name]
    if spec.kind not in AGENTS:
        return
    if not (is_search(spec) and kind_of(spec).option("weights")) or user_code_reason(spec):
        message = (
            f"{name} cannot teach: a teacher is of kind smart, alphabeta or minimax, without "
            'evaluate; to learn from the games of other agents, write from = ["results/<run>"]'
        )
        report_learn_problem(problems, message, "teacher")


def agent_problem(
    name: str | None, values: KeyValues, agents: Mapping[str, AgentSpec], problems: Problems
) -> None:
    """Report an agent without weights that could be learned."""
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
    if evaluate and not read_declared_weights(evaluate):
        message = f'{evaluate} declares no WEIGHTS = {{"name": number, ...}} that could be fitted'
        report_learn_problem(problems, message, "agent")
    elif evaluate and not (values["tables"] in (None, FEATURES) and values["phases"] in (None, 1)):
        report_learn_problem(problems, f"{name} has one number for each of its WEIGHTS", "tables")


def parse_games(written: object, rounds: int, problems: Problems) -> tuple[int, ...]:
    """Return the games of every round; the last number of a list holds for all later rounds."""
    several = written if isinstance(written, list | tuple) else [written]
    for each in several:
        if isinstance(each, bool) or not isinstance(each, int) or not 100 <= each <= MOST_GAMES:
            allowed = f"100 to {MOST_GAMES:,}, or a list of such numbers"
            message = f"games must be {allowed}, got {format_value(each)}"
            report_learn_problem(problems, message, "games")
            return ()
    if not several or len(several) > rounds:
        report_learn_problem(
            problems, f"games has {len(several)} numbers for {rounds} rounds", "games"
        )
        return ()
    return (*several, *[several[-1]] * (rounds - len(several)))


def match_problem(match: MatchTable, problems: Problems) -> None:
    """Report a match that cannot decide anything."""
    try:
        match.plan()
    except ValueError as error:
        report_learn_problem(problems, str(error), "match")


def parse_plies(
    written: Sequence[object] | None, of: Game | None, problems: Problems
) -> tuple[int, int]:
    """Return the shortest and the longest opening of self-play."""
    if written is None:
        shares = getattr(tables_part(of), "OPENING_SHARES", None) if of else None
        return default_plies(of, shares) if of and shares else (4, 16)
    whole = [each for each in written if isinstance(each, int)]
    if len(whole) != len(written) or len(whole) != 2 or not 1 <= whole[0] <= whole[1] <= 60:
        message = "opening_plies must be the fewest and the most random moves, as [10, 24]"
        report_learn_problem(
            problems, f"{message}, got {format_value(list(written))}", "opening_plies"
        )
        return (1, 1)
    return whole[0], whole[1]


def default_plies(of: Game, shares: tuple[float, float]) -> tuple[int, int]:
    """Return shares of the amount that can be placed or sown at the start."""
    from agents.evaluation.training_positions import GameReader  # noqa: PLC0415  # it loads kernels

    reader = GameReader(of)
    whole = int(reader.units_in_position(of.start()))
    return max(1, round(whole * shares[0])), max(2, round(whole * shares[1]))


def parse_tables(values: KeyValues, setup: CommonSettings, problems: Problems) -> str:
    """Return the kind of tables, and report one that the game does not have."""
    of, own = setup.game, values["patterns"]
    if of is None:
        return ""
    known = [
        *getattr(tables_part(of), "TABLES", ()),
        *([FEATURES] if of.has_part("features") else []),
    ]
    agent = setup.agents.get(values["agent"] or "")
    if agent is not None and agent.options.get("evaluate"):
        return FEATURES
    kind: str = values["tables"] or ("patterns" if own else (known or [""])[0])
    if kind not in known:
        near = did_you_mean(kind, known)
        message = f"{of.name} has no tables {quote(kind)} (there are {join_names(known)}){near}"
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


def layout_of(of: Game, kind: str, patterns: Mapping[str, str]) -> tuple[TableKind, TableLayout]:
    """Return the tables of a kind and their layout for a game."""
    for name, words in patterns.items():
        if not isinstance(words, str):
            raise GameError(f'pattern {quote(name)} must be squares like "a1 b1 a2"')
    tables = find_tables(of, kind)
    return tables, tables.layout(of.rules, patterns or None)
