"""Read the agent tables and the roster of an experiment."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from agents.check import read_positions
from agents.core import LIMITS, AgentSpec, SpecError
from agents.evaluation.weights import read_weights
from agents.options import CLOCKS
from agents.registry import AGENTS, Kind, build, kind_of, kind_problem, normalize, weight_problems
from agents.spec import (
    BOT_FILE,
    PATH_TYPES,
    bot_spec,
    entry_file,
    find_file,
    find_path,
    is_bot_file,
    read_tables,
    resolve_options,
    resolve_paths,
)
from arena.analysis.checks.registry import ALL, BEATS
from arena.config.keys import top_level_hint
from arena.config.toml_file import Problems
from arena.storage.git import VersionError
from arena.storage.versions import VersionReference, find_version, parse_version, resolve_version
from games import Game
from games.base.errors import UserError
from games.base.schema import Key, KeyValues, Place, read_table
from games.base.text import did_you_mean_file, format_value, join_names, quote, synonym_of

LONGEST_NAME = 40
MOST_AGENTS = 1000
EXAMPLE = "mine"  # the name of an agent in messages
KIND = Key("kind", "text", "the kind of agent", required=True, example=', as in kind = "smart"')
PLACE: Place = ("roster", "directory")
POSITIONS: Place = ("roster", "must_survive")


class AgentContext(NamedTuple):
    """The file context an agent's table; `game` is None if the file names no valid game."""

    game: Game | None
    directory: Path  # of the experiment file
    problems: Problems
    has_clock: bool = False  # whether the experiment has a clock of turns or games


def read_agents(written: Mapping[str, object], context: AgentContext) -> dict[str, AgentSpec]:
    """Return the specs by name, in the order of the file."""
    specs = {}
    if len(written) > MOST_AGENTS:
        message = f"an experiment has at most {MOST_AGENTS:,} agents, got {len(written):,}"
        context.problems.add(("agents",), message, ("agents",))
        return {}
    for name, table in written.items():
        place = ("agents", name)
        if not is_valid_agent_name(name):
            message = (
                f"an agent cannot be called {quote(name)}: names have 1 to {LONGEST_NAME} "
                f'printable characters, are not "{ALL}" and hold no "{BEATS}"'
            )
            context.problems.add(place, message)
        if isinstance(table, dict):
            specs[name] = AgentReader(table, place, context).spec()
        else:
            context.problems.add(place, f"{name} must be a table, got {format_value(table)}")
    return specs


def is_valid_agent_name(name: str) -> bool:
    """Return whether checks and tables can use this name for an agent."""
    plain = name.isprintable() and name.strip() == name and 0 < len(name) <= LONGEST_NAME
    return plain and name != ALL and BEATS not in name


def agent_option_hint(key: str) -> str:
    """Return the hint that an unknown key is an option of an agent; empty for other keys."""
    if all_options().option(key) is None and key != KIND.name:
        return top_level_hint(key)
    return f"it belongs to an agent, below a line such as [agents.{EXAMPLE}]"


@cache
def all_options() -> Kind:
    """Return a kind with the options of all kinds, for an agent of an unknown kind."""
    options = {option.name: option for name in AGENTS for option in kind_of(name).options}
    return Kind(build, tuple(replace(option, required=False) for option in options.values()))


@cache
def agent_keys(kind: str | None) -> tuple[Key, ...]:
    """Return the keys of an agent's table, without defaults; those of all kinds for None."""
    options = (all_options() if kind is None else kind_of(kind)).options
    return KIND, *(replace(each, default=None) for each in options)


def find_option(key: str, known: Sequence[str]) -> str | None:
    """Return the option that a key or its synonym names, if any."""
    return key if key in known else synonym_of(key, known)


def unknown_option_message(kind: str, key: str, option: str, names: Sequence[str]) -> str:
    """Return the message about an option of other kinds."""
    others = join_names(each for each in AGENTS if each != "human" and kind_of(each).option(option))
    called = "" if key == option else f"called {option} here, "
    has = f"it has {join_names(names)}" if names else "it has none"
    return f"{kind} has no option {key}, {called}which is for {others} ({has})"


class AgentReader(NamedTuple):
    """Reader of the table of one agent."""

    table: Mapping[str, object]
    place: Place
    context: AgentContext

    def spec(self) -> AgentSpec:
        """Return the spec with the valid options; report the others."""
        game, known, name = self.context.game, all_options(), self.table.get("kind")
        message = self._kind_problem(name) if isinstance(name, str) else None
        if message:
            self._report(message, "kind")
        own_kind = None if message or not isinstance(name, str) else name
        kind = known if own_kind is None else kind_of(own_kind)
        names = [each.name for each in kind.options]
        own = {}
        for key, value in self.table.items():
            theirs = find_option(key, [each.name for each in known.options])
            if theirs and key not in names and theirs not in names and isinstance(name, str):
                self._report(unknown_option_message(name, key, theirs, names), key)
            else:
                own[key] = self._load_value(kind.option(key), value)
        values = read_table(
            own, self.place, agent_keys(own_kind), self.context.problems.add, top_level_hint
        )
        for option in self._report_weight_faults(kind, values):
            values[option] = None
        if game is not None and (ineffective := kind.ineffective_option(values, game)):
            option, reason = ineffective
            self._report(f"{option} {reason}", option)
        spec = AgentSpec(values.pop("kind", ""), values)
        clocked = self.context.has_clock or any(key.name in spec.options for key in CLOCKS)
        # On a clock a written limit counts even if it equals the default.
        return normalize(kind, spec, game, LIMITS if clocked else ())

    def _report_weight_faults(self, kind: Kind, values: KeyValues) -> set[str]:
        """Report wrong weights, with one line per file; return the options that have them."""
        faults = list(weight_problems(kind, values, self.context.game))
        counts = Counter(place[0] for place, _ in faults)
        for place, message in faults:
            written = self.table[place[0]]
            if not isinstance(written, str):
                self._report(message, *place)
            elif (count := counts.pop(place[0], 0)) > 0:
                file = f"{written}: " if len(place) > 1 else ""  # otherwise the message names it
                rest = f" (and {count - 1:,} more like it)" if count > 1 else ""
                self._report(f"{file}{message}{rest}", place[0])
        return {place[0] for place, _ in faults}

    def _report(self, message: str, *keys: str) -> None:
        self.context.problems.add((*self.place, *keys), message)

    def _kind_problem(self, name: str) -> str | None:
        """Return the reason why no agent of this kind can be built; None if there is none."""
        if name == "human":
            return "human agents do not play in experiments; a person plays with pitflip play"
        return kind_problem(name, self.table, self.context.game)

    def _load_value(self, option: Key | None, value: object) -> object:
        """Return a value with files as absolute paths and weight files as their weights."""
        if option is not None and option.type in PATH_TYPES:
            placed = resolve_paths(option, value, self.context.directory)
            return self._resolve_command(placed, option) if option.type == "command" else placed
        if option is None or not isinstance(value, str):
            return value
        if option.type == "weights":
            return self._load_weights(value, option)
        file = self._find_file(value, option) if option.type == "file" else None
        return ":".join(map(str, file)) if file else value

    def _find_file(self, written: str, option: Key) -> tuple[Path, str] | None:
        """Return the file, or the version of a file, that an option names; report a missing one."""
        file = find_file(written, option.default_function, self.context.directory)
        if file is None and (wanted := parse_version(written)):
            path = self._find_version(wanted, option)
            return None if path is None else (path, wanted.name or option.default_function)
        if file is None:
            where = "beside the experiment or in the working directory"
            near = did_you_mean_file(self.context.directory / written.partition(":")[0])
            self._report(f"there is no file {quote(written)} {where}{near}", option.name)
        return file

    def _find_version(self, wanted: VersionReference, option: Key) -> Path | None:
        """Return the path of a version of a file; report a missing one and return None."""
        try:
            return find_version(wanted, self.context.directory)
        except VersionError as error:
            self._report(f"{option.name}: {error}", option.name)
            return None

    def _resolve_command(self, value: object, option: Key) -> object:
        """Return the words of a command, with the path of a version in place of its name."""
        if isinstance(value, list):
            return [self._resolve_command(each, option) for each in value]
        wanted = parse_version(value) if isinstance(value, str) else None
        path = None
        if wanted is not None and not wanted.name:
            path = self._find_version(wanted, option)
        return value if path is None else str(path)

    def _load_weights(self, written: str, option: Key) -> Mapping[str, object] | str:
        """Return the weights in a file, or its path if it holds learned tables."""
        file = self._find_file(written, option)
        try:
            return read_weights(file[0], self.context.game) if file else {}
        except ValueError as error:  # a SpecError, or bytes that are not text
            self._report(str(error), option.name)
            return {}


def add_roster_agents(
    tables: Mapping[str, object], base: Path, problems: Problems
) -> tuple[dict[str, object], frozenset[str]]:
    """Return the tables of a file with an agent for each bot of its roster, and their names.

    The keys of `[agents.NAME]` replace those of the bot of that name. Bots that do not load are
    included.
    """
    roster, written = tables.get("roster"), tables.get("agents", {})
    if not isinstance(roster, dict) or not isinstance(roster.get("directory"), str):
        return dict(tables), frozenset()
    options = roster.get("options", {})
    common = options if isinstance(options, dict) else {}
    directory = base / Path(roster["directory"]).expanduser()
    if not directory.is_dir():
        problems.add(PLACE, f"there is no directory {quote(roster['directory'])}")
        return dict(tables), frozenset()
    found = dict(find_bots(directory, problems))
    if not found:
        problems.add(PLACE, f"there is no bot in {quote(roster['directory'])}")
    agents = {name: {**table, **common} for name, table in found.items()}
    for name, table in written.items() if isinstance(written, dict) else ():
        both = isinstance(table, dict) and name in agents
        agents[name] = {**agents[name], **table} if both else table
    return {**tables, "agents": agents}, frozenset(found)


def read_must_survive(
    roster: object, game: Game | None, base: Path, problems: Problems
) -> tuple[str, ...]:
    """Return the positions of the roster's `must_survive` file; report wrong ones."""
    named = roster.get("must_survive") if isinstance(roster, dict) else None
    if not isinstance(named, str) or game is None:
        return ()
    try:
        positions = read_positions(Path(find_path(named, base)), game)
    except UserError as error:
        problems.add(POSITIONS, str(error))
        return ()
    return tuple(game.text(position) for position in positions)


def find_bots(directory: Path, problems: Problems) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the names and tables of the bots in a directory.

    A bot is a file, whose options may be in `mine.toml` next to `mine.js`, or a directory with a
    `bot.toml`.
    """
    for name, path in bot_paths(directory).items():
        if path.suffix == ".toml" and path.is_file():
            continue
        if (path / BOT_FILE).is_file() if path.is_dir() else is_bot_file(path):
            try:
                yield name, bot_table(path)
            except SpecError as error:
                problems.add(PLACE, str(error))


def bot_paths(directory: Path) -> dict[str, Path]:
    """Return the files and directories that may be bots, by name; equal names get their suffix."""
    paths = sorted(path for path in directory.iterdir() if path.name[0] not in "._")
    names = Counter(bot_name(path) for path in paths if path.suffix != ".toml" or path.is_dir())
    bots = [path for path in paths
            if path.is_dir() or path.suffix != ".toml" or path.stem not in names]  # fmt: skip
    return {bot_name(path) if names[bot_name(path)] < 2 else path.name: path for path in bots}


def bot_name(path: Path) -> str:
    """Return the name of the bot in a file or directory."""
    return path.name if path.is_dir() else path.stem


def bot_table(path: Path) -> dict[str, object]:
    """Return the table of a bot from its file or directory; its files become absolute paths."""
    file = entry_file(path) if path.is_dir() else path
    if file.suffix == ".toml":
        return read_bot_table(file, {})
    beside, table = file.with_suffix(".toml"), table_for_file(file)
    if path.is_dir():  # a program can read the other files of its directory
        return {**table, "cwd": str(path.absolute())} if "command" in table else table
    has_options = beside.is_file() and "agents" not in read_tables(beside)  # no experiment
    return read_bot_table(beside, table) if has_options else table


def table_for_file(path: Path) -> dict[str, object]:
    """Return the table of a bot that is one file."""
    spec = bot_spec(path)
    return {"kind": spec.kind, **spec.options}


def read_bot_table(path: Path, table: Mapping[str, object]) -> dict[str, object]:
    """Return the table of a bot updated from the TOML file at `path`; its files become paths."""
    merged = {**table, **read_tables(path)}
    return resolve_options(merged, path.parent, str(path), resolve_version)
