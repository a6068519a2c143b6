"""An agent at several revisions as one experiment."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agents.registry import AGENTS, kind_of, users_trees
from arena.config.agents import LONGEST_NAME
from arena.config.experiment import Experiment, build_experiment
from arena.config.toml_file import Problems, read, toml_tables
from arena.planning.openings.registry import way
from arena.planning.schedules.registry import unknown_agent_message
from arena.report.chart import dots, error_bars, level, line, make_frame, xy_chart
from arena.storage.game_cache import agent_fingerprint
from arena.storage.git import Commit, Revision, VersionError, list_commits, open_revision
from arena.storage.provenance import read_run
from arena.storage.versions import RUN, parse_version, run_named
from arena.terminal.plan import align_columns
from games.base.errors import UserError, printable
from games.base.files import InputTooLarge
from games.base.schema import KeyValues
from games.base.text import listed

if TYPE_CHECKING:
    import pandas as pd

FILES = ("file", "weights", "command")  # types of options that name files
OWN_NAME = re.compile(r"(.+\.\w+)(:[A-Za-z_]\w*)?")
# What is about other agents, or about another question than which version is the better one.
LEFT_OUT = ("checks", "roster", "anchor", "standings", "sweep", "tune", "schedule", "stop")
NOW = "now"  # the version in the working copy
LONGEST_SUBJECT = 50
HEAD = ("version", "day", "Elo", "against the one before")
Tables = Mapping[str, Mapping[str, object]]  # of agents, by name
Versions = dict[str, tuple[Commit | None, Mapping[str, object]]]  # by name; None: not committed


class AgentVersions:
    """One experiment file in a git repository, whose agents can be taken at its revisions."""

    def __init__(self, path: Path, overrides: Sequence[str] = ()) -> None:
        """The file is read as it is now; an ExperimentError says what is wrong with it."""
        self.path, self.overrides = path, overrides
        source, problems = read(path, overrides)
        problems.raise_if_any()
        agents = source.tables.get("agents")
        self.now: Tables = agents if isinstance(agents, dict) else {}

    def base(self, revision: str, results: Path) -> Revision | Path:
        """All files at a revision, or the run of `run:6917adfa1c`; a UserError if there is none."""
        try:
            if revision.startswith(RUN):
                return run_named(revision.removeprefix(RUN), (results,)).resolve()
            return open_revision(self.path.absolute(), revision)
        except VersionError as error:
            raise UserError(str(error)) from None

    def then(self, tree: Revision | Path, name: str) -> Mapping[str, object] | None:
        """The table of an agent at a revision, its files too; None if it was not there yet.

        If the revision has no experiment file, the tables of today are used.
        """
        if isinstance(tree, Path):
            return agent_from_run(tree, name)
        place = tree.place(self.path.absolute().parent.resolve() / self.path.name)
        tables: object = self.now
        if tree.kind(place):
            try:
                text = tree.content(place).text.decode("utf-8-sig")
                tables = toml_tables(self.path, text).get("agents")
            except (VersionError, UnicodeDecodeError, InputTooLarge) as error:
                raise UserError(f"revision {tree.commit[:10]}: {error}") from None
        table = tables.get(name) if isinstance(tables, dict) else None
        return table_at_revision(table, tree.commit) if isinstance(table, dict) else None

    def experiment(self, agents: Tables, what: str, more: KeyValues) -> Experiment:
        """The experiment in which these agents play, and no others; `more` are keys of its own."""
        source, _ = read(self.path, self.overrides)
        tables = {key: value for key, value in source.tables.items() if key not in LEFT_OUT}
        name = f"{tables.get('name') or self.path.stem}-{what}"
        tables |= {"agents": agents, "name": name, **more}
        found = replace(source, tables=tables)
        return build_experiment(found, Problems(found))

    def differ(self, one: Mapping[str, object], other: Mapping[str, object]) -> bool:
        """Return whether two tables are different agents, by their options or files."""
        specs = self.experiment({"a": one, "b": other}, "", {"pairs": 1}).plan.agents.values()
        return len({agent_fingerprint(spec) for spec in specs}) > 1

    def changed(self, tree: Revision | Path) -> list[str]:
        """The agents that are other ones now than at a revision."""
        found = []
        for name, table in self.now.items():
            before = self.then(tree, name)
            if before is not None and self.differ(table, before):
                found.append(name)
        return found

    def own(self) -> list[str]:
        """The agents that are made of files of the user's."""
        return [name for name in self.now if self.files(name)]

    def files(self, name: str) -> tuple[Path, ...]:
        """The files of the user's that an agent is made of now."""
        table = self.now[name]
        plan = self.experiment({"a": table, "b": table}, "", {"pairs": 1}).plan
        trees = users_trees(plan.agents["a"])
        return tuple(p for tree in trees if not tree.is_directory for p in tree.files.values())

    def checked(self, name: str) -> str:
        """The name, if there is such an agent."""
        if name not in self.now:
            raise UserError(unknown_agent_message(name, self.now))
        return name


def agent_from_run(directory: Path, name: str) -> dict[str, object] | None:
    """The table of an agent as a run has it, with the files that it kept."""
    plan = read_run(directory).get("plan")
    agents = plan.get("agents") if isinstance(plan, dict) else None
    table = agents.get(name) if isinstance(agents, dict) else None
    return table_at_revision(table, f"{RUN}{directory}") if isinstance(table, dict) else None


def single_agent(names: Sequence[str], none: str, several: str) -> str:
    """The only one of some agents; a UserError says that there is none, or which ones there are."""
    if not names:
        raise UserError(none)
    if len(names) > 1:
        raise UserError(f"{listed(names)} {several}: --agent NAME says which is meant")
    return names[0]


def version_label(name: str, version: str) -> str:
    """Return the name of an agent at a revision."""
    tail = f"@{version}"[: LONGEST_NAME // 2]
    return f"{name[: LONGEST_NAME - len(tail)]}{tail}"


def table_at_revision(table: Mapping[str, object], revision: str) -> dict[str, object]:
    """The table with each file of the user's as it was at a revision."""
    kind = table.get("kind")
    options = kind_of(kind).options if isinstance(kind, str) and kind in AGENTS else ()
    types = {option.name: option.type for option in options}
    return {
        key: reference_at_revision(value, revision) if types.get(key) in FILES else value
        for key, value in table.items()
    }


def reference_at_revision(value: object, revision: str) -> object:
    """A reference to a file of the user's at a revision; whole paths and versions stay."""
    if isinstance(value, list):
        return [reference_at_revision(each, revision) for each in value]
    if not isinstance(value, str) or parse_version(value) or value.startswith(("/", "~", "-")):
        return value
    found = OWN_NAME.fullmatch(value)
    return value if found is None else f"{found[1]}@{revision}{found[2] or ''}"


def limit_to_openings(experiment: Experiment) -> Experiment:
    """The experiment with no more pairs than there are openings."""
    plan = experiment.plan
    if plan.openings.repeat:
        return experiment
    there = len(way(plan.openings.way).openings(plan.of, plan.openings, plan.pairs, plan.seed))
    return replace(experiment, plan=replace(plan, pairs=max(1, min(plan.pairs, there))))


class EloInterval(NamedTuple):
    """A difference with its interval; None where the games cannot say."""

    value: float | None
    low: float | None
    high: float | None

    @property
    def ends(self) -> tuple[float, ...]:
        """Low end, value, high end as far as they are known; nothing without a value."""
        if self.value is None:
            return ()
        low, high = (self.value if each is None else each for each in (self.low, self.high))
        return low, self.value, high

    @property
    def text(self) -> str:
        """The numbers, rounded to whole Elo."""
        if self.value is None:
            return "too far apart to say"
        if self.low is None or self.high is None:
            return f"{self.value:+.0f}"
        return f"{self.value:+.0f} [{self.low:+.0f}, {self.high:+.0f}]"


class VersionRow(NamedTuple):
    """One version of an agent, its rating above the oldest, and its match with the one before."""

    name: str
    day: str
    subject: str
    elo: EloInterval
    step: EloInterval | None


def version_lines(rows: Sequence[VersionRow]) -> Iterator[str]:
    """The table, the oldest version first."""
    cells = [
        (printable(row.name), row.day, row.elo.text, "-" if row.step is None else row.step.text)
        for row in rows
    ]
    subjects = ["", *(printable(row.subject, LONGEST_SUBJECT) for row in rows)]
    for text, subject in zip(align_columns([HEAD, *cells]), subjects, strict=True):
        yield f"{text}  {subject}".rstrip()


def version_figure(rows: Sequence[VersionRow], title: str) -> str:
    """The ratings with their intervals, version by version, as the text of an SVG file."""
    known = [(float(place), row.elo.ends) for place, row in enumerate(rows, 1) if row.elo.ends]
    xs = [place for place, _ in known]
    lows, values, highs = ([ends[each] for _, ends in known] for each in range(3))
    frame = make_frame([0.5, len(rows) + 0.5], [0.0, *lows, *highs])
    parts = [
        level(frame, 0.0, "the oldest"),
        error_bars(frame, xs, lows, highs),
        line(frame, xs, values),
        dots(frame, xs, values),
    ]
    return xy_chart(frame, parts, title, "version, the oldest first", "Elo above the oldest")


def version_match(
    versions: AgentVersions, base: str, results: Path, agent: str | None, stop: KeyValues
) -> Experiment:
    """Return the match of an agent against itself at a revision, ended by a test.

    `stop` has the bounds of the test (`elo0`, `elo1`) and the most `pairs`.
    """
    tree, shown = versions.base(base, results), printable(base)
    if agent is None:
        changed = versions.changed(tree)
        name = single_agent(changed, f"no agent differs from {shown}: nothing to compare", "differ")
    else:
        name = versions.checked(agent)
    before = versions.then(tree, name)
    if before is None:
        raise UserError(f"there is no agent {name} in {shown}")
    if not versions.differ(versions.now[name], before):
        raise UserError(f"{name} does not differ from {shown}: nothing to compare")
    agents = {name: versions.now[name], version_label(name, shown): before}
    bounds = {key: stop[key] for key in ("elo0", "elo1")}
    more = {"pairs": 1, "stop": {"sprt": bounds}, "schedule": {"match": [*agents]}}
    one = versions.experiment(agents, "versus", more)
    few = limit_to_openings(replace(one, plan=replace(one.plan, pairs=stop["pairs"])))
    return versions.experiment(agents, "versus", more | {"pairs": few.plan.pairs})


def distinct_versions(versions: AgentVersions, name: str, count: int) -> Versions:
    """Return the newest `count` versions of an agent that differ, and that of now; oldest first."""
    paths = [versions.path.absolute().parent.resolve() / versions.path.name]
    paths += versions.files(name)
    try:
        commits = list_commits(paths, 4 * count)
    except VersionError as error:
        raise UserError(str(error)) from None
    found: Versions = {version_label(name, NOW): (None, versions.now[name])}
    for commit in commits:
        table = versions.then(versions.base(commit.name, Path()), name)
        if table is None:
            break  # the agent did not exist yet
        newest = list(found)[-1]
        if not versions.differ(found[newest][1], table):
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
