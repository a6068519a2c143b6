"""Experiments of one agent at several revisions."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agents.registry import AGENTS, kind_of, replace_files, user_trees
from agents.spec import bot_spec, read_tables
from arena.config.agents import LONGEST_NAME
from arena.config.experiment import (
    AgentLike,
    Experiment,
    agent_name,
    build_experiment,
    count_openings,
    match_tables,
)
from arena.config.toml_file import (
    Problems,
    read_experiment_file,
    source_from_tables,
    toml_tables,
)
from arena.planning.plan import portable_path
from arena.planning.schedules.registry import unknown_agent_message
from arena.report.chart import dots, error_bars, horizontal_line, line, make_frame, xy_chart
from arena.storage.game_cache import agent_fingerprint
from arena.storage.git import (
    Commit,
    NoRevisions,
    Revision,
    VersionError,
    list_commits,
    open_revision,
)
from arena.storage.provenance import load_run_file
from arena.storage.versions import RUN, parse_version, run_of_name
from arena.terminal.plan import align_columns
from games.base.errors import UserError, printable
from games.base.files import InputTooLarge
from games.base.schema import KeyValues
from games.base.text import join_names

if TYPE_CHECKING:
    import pandas as pd

GAME = "kalah(6,4)"
COMPARE_FILES = "without git, compare two files, as in pitflip versus new.py old.py"
FILES = ("file", "weights", "command")  # types of options that name files
OWN_NAME = re.compile(r"(.+\.\w+)(:[A-Za-z_]\w*)?")
# Keys about other agents, or about other questions than which version is stronger.
UNUSED_KEYS = ("checks", "roster", "anchor", "standings", "sweep", "tune", "schedule", "stop")
NOW = "now"  # the version in the working copy
LONGEST_SUBJECT = 50
HEAD = ("version", "day", "Elo", "against the one before")
Tables = Mapping[str, Mapping[str, object]]  # of agents, by name
Versions = dict[str, tuple[Commit | None, Mapping[str, object]]]  # by name; None: not committed


class AgentVersions:
    """The agents of an experiment file, or one agent's file, at any revision of git."""

    def __init__(self, path: Path, overrides: Sequence[str] = (), game: str = GAME) -> None:
        """`game` is played if the file is that of one agent."""
        self.path = path
        table = agent_table(path)
        if table is not None:
            tables = {"name": path.stem, "game": game, "agents": {agent_name(path): table}}
            source, problems = source_from_tables(tables, overrides)
            source = replace(source, path=path)
        else:
            source, problems = read_experiment_file(path, overrides)
        problems.raise_if_any()
        self.source, self.is_experiment = source, table is None
        agents = source.tables.get("agents")
        self.tables: Tables = agents if isinstance(agents, dict) else {}

    def base(self, revision: str, results: Path) -> Revision | Path:
        """Open a revision, or find the run of `run:6917adfa1c`; a UserError if there is none."""
        try:
            if revision.startswith(RUN):
                return run_of_name(revision.removeprefix(RUN), (results,)).resolve()
            return open_revision(self.path.absolute(), revision)
        except NoRevisions as error:
            raise UserError(f"{error}: {COMPARE_FILES}") from None
        except VersionError as error:
            raise UserError(str(error)) from None

    def table_at(self, tree: Revision | Path, name: str) -> Mapping[str, object] | None:
        """Return the table of an agent with its files at a revision; None if it has no such agent.

        If the revision has no experiment file, the current tables are used.
        """
        if isinstance(tree, Path):
            return agent_from_run(tree, name)
        place = tree.place(self.path.absolute().parent.resolve() / self.path.name)
        tables: object = self.tables
        is_table = self.path.suffix == ".toml"
        if tree.mode(place) and is_table:
            try:
                text = tree.content(place).content.decode("utf-8-sig")
                file = toml_tables(self.path, text)
                tables = {name: file} if "kind" in file else file.get("agents")
            except (VersionError, UnicodeDecodeError, InputTooLarge) as error:
                raise UserError(f"revision {tree.commit[:10]}: {error}") from None
        elif not tree.mode(place) and not self.is_experiment:
            return None
        table = tables.get(name) if isinstance(tables, dict) else None
        return table_at_revision(table, tree.commit) if isinstance(table, dict) else None

    def experiment(self, agents: Tables, what: str, more: KeyValues) -> Experiment:
        """Return an experiment of these agents alone; `more` are further keys of the file."""
        own = self.source.tables
        tables = {key: value for key, value in own.items() if key not in UNUSED_KEYS}
        name = f"{tables.get('name') or self.path.stem}-{what}"
        tables |= {"agents": agents, "name": name, **more}
        found = replace(self.source, tables=deepcopy(tables))
        return build_experiment(found, Problems(found))

    def are_different(self, one: Mapping[str, object], other: Mapping[str, object]) -> bool:
        """Return whether two tables are different agents, by their options or files."""
        specs = self.experiment({"a": one, "b": other}, "", {"pairs": 1}).plan.agents.values()
        return len({agent_fingerprint(spec) for spec in specs}) > 1

    def agents_that_differ(self, tree: Revision | Path) -> list[str]:
        """Return the names of agents whose options or files differ from a revision."""
        found = []
        for name, table in self.tables.items():
            before = self.table_at(tree, name)
            if before is not None and self.are_different(table, before):
                found.append(name)
        return found

    def own(self) -> list[str]:
        """Return the names of agents that use files of the user."""
        return [name for name in self.tables if self.agent_files(name)]

    def agent_files(self, name: str) -> tuple[Path, ...]:
        """Return the user's files that an agent uses now."""
        table = self.tables[name]
        plan = self.experiment({"a": table, "b": table}, "", {"pairs": 1}).plan
        trees = user_trees(plan.agents["a"])
        return tuple(p for tree in trees if not tree.is_directory for p in tree.files.values())

    def require_agent(self, name: str) -> str:
        """Return the name; a UserError if there is no such agent."""
        if name not in self.tables:
            raise UserError(unknown_agent_message(name, self.tables))
        return name


def agent_table(path: Path) -> Mapping[str, object] | None:
    """Return the table of a bot's file, with paths relative to it; None for an experiment."""
    if path.suffix != ".toml":
        base = path.absolute().parent
        spec = bot_spec(path)
        return replace_files(spec, lambda file: portable_path(file, base)).to_json()
    if path.is_file() and "kind" in (tables := read_tables(path)) and "agents" not in tables:
        return tables
    return None


def agent_from_run(directory: Path, name: str) -> dict[str, object] | None:
    """Return the table of an agent in a run, with the run's copies of its files."""
    plan = load_run_file(directory).get("plan")
    agents = plan.get("agents") if isinstance(plan, dict) else None
    table = agents.get(name) if isinstance(agents, dict) else None
    return table_at_revision(table, f"{RUN}{directory}") if isinstance(table, dict) else None


def single_agent(names: Sequence[str], none: str, several: str) -> str:
    """Return the only name; a UserError that uses `none` or `several` for another number."""
    if not names:
        raise UserError(none)
    if len(names) > 1:
        raise UserError(f"{join_names(names)} {several}: choose one with --agent NAME")
    return names[0]


def version_label(name: str, version: str) -> str:
    """Return the name of an agent at a revision."""
    tail = f"@{version}"[: LONGEST_NAME // 2]
    return f"{name[: LONGEST_NAME - len(tail)]}{tail}"


def table_at_revision(table: Mapping[str, object], revision: str) -> dict[str, object]:
    """Return the table with each file of the user at a revision."""
    kind = table.get("kind")
    options = kind_of(kind).options if isinstance(kind, str) and kind in AGENTS else ()
    types = {option.name: option.type for option in options}
    return {
        key: reference_at_revision(value, revision) if types.get(key) in FILES else value
        for key, value in table.items()
    }


def reference_at_revision(value: object, revision: str) -> object:
    """Return a reference to a user's file at a revision; absolute paths and versions stay."""
    if isinstance(value, list):
        return [reference_at_revision(each, revision) for each in value]
    if not isinstance(value, str) or parse_version(value) or value.startswith(("/", "~", "-")):
        return value
    found = OWN_NAME.fullmatch(value)
    return value if found is None else f"{found[1]}@{revision}{found[2] or ''}"


class EloInterval(NamedTuple):
    """A difference in Elo with its interval; None if the games do not bound it."""

    value: float | None
    low: float | None
    high: float | None

    @property
    def ends(self) -> tuple[float, ...]:
        """Low end, value and high end; the value in place of an unknown end."""
        if self.value is None:
            return ()
        low, high = (self.value if each is None else each for each in (self.low, self.high))
        return low, self.value, high

    @property
    def text(self) -> str:
        """The interval in whole Elo."""
        if self.value is None:
            return "too far apart to estimate"
        if self.low is None or self.high is None:
            return f"{self.value:+.0f}"
        return f"{self.value:+.0f} [{self.low:+.0f}, {self.high:+.0f}]"


class VersionRow(NamedTuple):
    """A version: its rating above the oldest version, and its gain on the one before."""

    name: str
    day: str
    subject: str
    elo: EloInterval
    step: EloInterval | None


def version_lines(rows: Sequence[VersionRow]) -> Iterator[str]:
    """Yield the lines of the table, the oldest version first."""
    cells = [
        (printable(row.name), row.day, row.elo.text, "-" if row.step is None else row.step.text)
        for row in rows
    ]
    subjects = ["", *(printable(row.subject, LONGEST_SUBJECT) for row in rows)]
    for text, subject in zip(align_columns([HEAD, *cells]), subjects, strict=True):
        yield f"{text}  {subject}".rstrip()


def version_figure(rows: Sequence[VersionRow], title: str) -> str:
    """Return a figure of the ratings with their intervals as SVG."""
    known = [(float(place), row.elo.ends) for place, row in enumerate(rows, 1) if row.elo.ends]
    xs = [place for place, _ in known]
    lows, values, highs = ([ends[each] for _, ends in known] for each in range(3))
    frame = make_frame([0.5, len(rows) + 0.5], [0.0, *lows, *highs])
    parts = [
        horizontal_line(frame, 0.0, "the oldest"),
        error_bars(frame, xs, lows, highs),
        line(frame, xs, values),
        dots(frame, xs, values),
    ]
    chart = xy_chart(frame, parts, title, "version, the oldest first", "Elo above the oldest")
    return chart.svg()


def version_match(
    versions: AgentVersions,
    base: str,
    results: Path,
    agent: str | None,
    stop: KeyValues,
    pairs: int,
) -> Experiment:
    """Return the match of an agent against itself at a revision, which a stop rule ends.

    It has at most as many pairs as there are openings.
    """
    tree, shown = versions.base(base, results), printable(base)
    if not versions.is_experiment:
        (agent,) = versions.tables
    if agent is None:
        changed = versions.agents_that_differ(tree)
        name = single_agent(changed, f"no agent differs from {shown}: nothing to compare", "differ")
    else:
        name = versions.require_agent(agent)
    before = versions.table_at(tree, name)
    if before is None:
        what = f"agent {name}" if versions.is_experiment else f"file {versions.path.name}"
        raise UserError(f"there is no {what} in {shown}: commit it first, or {COMPARE_FILES}")
    if not versions.are_different(versions.tables[name], before):
        raise UserError(f"{name} does not differ from {shown}: nothing to compare")
    agents = {name: versions.tables[name], version_label(name, shown): before}
    more = {"pairs": 1, "stop": stop, "schedule": {"match": [*agents]}}
    plan = versions.experiment(agents, "versus", more).plan
    most = count_openings(plan.game, plan.openings, pairs, plan.seed)
    return versions.experiment(agents, "versus", more | {"pairs": min(pairs, most)})


def agent_match(
    first: AgentLike, second: AgentLike, game: str, settings: KeyValues, overrides: Sequence[str]
) -> Experiment:
    """Return the match of two agents with further settings; no git is needed."""
    tables = match_tables(first, second, game, settings)
    experiment = build_experiment(*source_from_tables(tables, overrides))
    if len({agent_fingerprint(spec) for spec in experiment.plan.agents.values()}) == 1:
        one, other = (printable(str(each)) for each in (first, second))
        raise UserError(f"{one} and {other} are the same agent: nothing to compare")
    return experiment


def distinct_versions(versions: AgentVersions, name: str, count: int) -> Versions:
    """Return the newest `count` committed versions that differ, then the current one."""
    paths = [versions.path.absolute().parent.resolve() / versions.path.name]
    paths += versions.agent_files(name)
    versions.base("HEAD", Path())  # a UserError without a repository
    try:
        commits = list_commits(paths, 4 * count)
    except VersionError as error:
        raise UserError(str(error)) from None
    found: Versions = {version_label(name, NOW): (None, versions.tables[name])}
    for commit in commits:
        table = versions.table_at(versions.base(commit.name, Path()), name)
        if table is None:
            break  # the agent did not exist yet
        newest = list(found)[-1]
        if not versions.are_different(found[newest][1], table):
            del found[newest]  # this commit made that version
        elif len(found) > count:
            break
        found[version_label(name, commit.short)] = commit, table
    if len(found) < 2:
        raise UserError(f"git has no other version of {name}: there is nothing to compare")
    return dict(reversed(list(found.items())[: count + 1]))


def version_tournament(versions: AgentVersions, found: Versions) -> Experiment:
    """Return the round robin of these versions, rated from the oldest."""
    agents = {name: table for name, (_, table) in found.items()}
    return versions.experiment(agents, "history", {"anchor": f"{next(iter(found))}=0"})


def version_rows(
    ratings: "pd.DataFrame", rates: "pd.DataFrame", found: Versions
) -> Iterator[VersionRow]:
    """Yield a row for each version from the tables of their run."""

    def interval(rows: "pd.DataFrame") -> EloInterval:
        cells = rows[["elo", "elo_low", "elo_high"]].iloc[0]
        return EloInterval(*(None if math.isnan(cell) else float(cell) for cell in cells))

    before = None
    for name, (commit, _) in found.items():
        met = rates[(rates.agent == name) & (rates.opponent == before)]
        yield VersionRow(
            name,
            "" if commit is None else commit.day,
            "the working copy" if commit is None else commit.subject,
            interval(ratings[ratings.agent == name]),
            None if met.empty else interval(met),
        )
        before = name
