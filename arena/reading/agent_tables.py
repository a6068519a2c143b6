"""Agents of an experiment file: their tables read by what their kinds declare."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from agents import AGENTS, AgentSpec, build, kind_fault, kind_of
from agents.evaluations.weight_files import read_weights
from agents.faults import faults, normal
from agents.kinds import Kind
from agents.user_files import split_reference
from arena.concluding.checks.claims import ALL, BEATS
from arena.reading.key_reader import unknown_key
from arena.reading.problems import Problems
from arena.reading.toml_lines import Place
from games import Game
from games.keys import Key
from games.names import quoted, shown

LONGEST_NAME = 40


class Around(NamedTuple):
    """What an agent's table is read with; `of` is `None` if the game is not known."""

    of: Game | None
    directory: Path  # of the experiment file
    problems: Problems


def read_agents(written: Mapping[str, object], around: Around) -> dict[str, AgentSpec]:
    """The specs by name, in the order of the file."""
    specs = {}
    for name, table in written.items():
        place = ("agents", name)
        if not usable_name(name):
            message = (
                f"an agent cannot be called {quoted(name)}: names have 1 to {LONGEST_NAME} "
                f'printable characters, are not "{ALL}" and hold no "{BEATS}"'
            )
            around.problems.say(place, message)
        if isinstance(table, dict):
            specs[name] = AgentTable(table, place, around).spec()
        else:
            around.problems.say(place, f"{name} must be a table, got {shown(table)}")
    return specs


def usable_name(name: str) -> bool:
    """Whether checks and tables can name an agent so."""
    plain = name.isprintable() and name.strip() == name and 0 < len(name) <= LONGEST_NAME
    return plain and name != ALL and BEATS not in name


def any_kind() -> Kind:
    """All options that there are, to read the table of an agent whose kind is not known."""
    options = {option.name: option for name in AGENTS for option in kind_of(name).options}
    return Kind(build, tuple(replace(option, required=False) for option in options.values()))


class AgentTable(NamedTuple):
    """One agent's table as it is written, and where it stands."""

    table: Mapping[str, object]
    place: Place
    around: Around

    def spec(self) -> AgentSpec:
        """The spec; where there are problems it is only a part of it."""
        name, message = str(self.table.get("kind", "")), self._kind_problem()
        kind, known = any_kind() if message else kind_of(name), any_kind()
        meant = {self._unknown(key, kind) for key in self.table if not known.option(key)}
        if message and not ("kind" in meant and "kind" not in self.table):
            self._say(message, "kind")
        options, files = {}, {}
        for key in self.table:
            if option := known.option(key):
                options[key], files[key] = self._value(option, kind)
        spec = AgentSpec(name, options)
        for (key, *inside), fault in faults(kind, spec, self.around.of):
            prefix = f"{files[key]}: " if inside and files[key] else ""
            self._say(f"{prefix}{fault}", key, *inside, of_file=bool(prefix))
            options.pop(key, None)
        return normal(kind, AgentSpec(name, options))

    def _say(self, message: str, *keys: str, of_file: bool = False) -> None:
        place = (*self.place, *keys)
        self.around.problems.say(place, message, self.place if of_file else None)

    def _kind_problem(self) -> str | None:
        """Why the agent cannot be of its kind; None if it can."""
        name = self.table.get("kind")
        if name is None:
            return 'kind is missing, as in kind = "smart"'
        if not isinstance(name, str):
            return f"kind must be text in quotes, got {shown(name)}"
        if name == "human":
            return (
                "human agents do not play in experiments; a person plays with python -m arena.play"
            )
        return kind_fault(name, self.table, self.around.of)

    def _unknown(self, key: str, kind: Kind) -> str | None:
        """Say that no kind has such a key, and return the one that was meant."""
        if key == "kind":
            return None
        names = ["kind", *(option.name for option in kind.options)]
        message, meant = unknown_key(key, names, self.table)
        self._say(message, key)
        return meant

    def _value(self, option: Key, kind: Kind) -> tuple[object, str]:
        """The value of an option, its file found; and the weights file that it is from, if any."""
        value = self.table[option.name]
        if not isinstance(value, str) or not kind.option(option.name):
            return value, ""
        if option.type == "file":
            file = self._file(value, option)
            return (":".join(map(str, file)) if file else value), ""
        if option.type == "weights":
            return self._weights(value, option), value
        return value, ""

    def _file(self, written: str, option: Key) -> tuple[Path, str] | None:
        """The file that an option names; None if there is none, which is said."""
        file = found_file(written, option.entry, self.around.directory)
        if file is None:
            where = "beside the experiment or in the working directory"
            self._say(f"there is no file {quoted(written)} {where}", option.name)
        return file

    def _weights(self, written: str, option: Key) -> Mapping[str, object]:
        """The weights in a file; none if it cannot be read, which is said."""
        file = self._file(written, option)
        try:
            return read_weights(file[0]) if file else {}
        except ValueError as error:  # SpecError, or bytes that are no text
            self._say(str(error), option.name)
            return {}


def found_file(written: str, default: str, directory: Path) -> tuple[Path, str] | None:
    """The file of `bots/mine.py:name`, absolute: beside the experiment, else from here."""
    for base in (directory, Path()):
        try:
            path, name = split_reference(str(base / Path(written).expanduser()), default)
            if path.is_file():
                return path, name
        except (OSError, RuntimeError, ValueError):  # a name that no file can have
            return None
    return None
