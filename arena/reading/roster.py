"""A class of bots: every file and folder of a directory becomes an agent of its name."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from agents import SpecError
from agents.bot_files import bot_spec, is_bot_file
from agents.must_survive import read_positions
from agents.spec_tables import BOT_FILE, found_path, loaded_options, tables_of
from arena.keeping.found_versions import at_version
from arena.reading.problems import Problems
from arena.reading.toml_lines import Place
from games import Game
from games.names import quoted
from games.terminal import Mistake

PLACE: Place = ("roster", "directory")
POSITIONS: Place = ("roster", "positions")


def with_roster(tables: Mapping[str, object], base: Path, problems: Problems) -> dict[str, object]:
    """The tables of a file with an agent for each bot of its roster; what is written of one holds.

    A bot that cannot be loaded is an agent all the same: it forfeits its games, and says why.
    """
    roster, written = tables.get("roster"), tables.get("agents", {})
    if not isinstance(roster, dict) or not isinstance(roster.get("directory"), str):
        return dict(tables)
    options = roster.get("options", {})
    usual = options if isinstance(options, dict) else {}
    directory = base / Path(roster["directory"]).expanduser()
    if not directory.is_dir():
        problems.say(PLACE, f"there is no directory {quoted(roster['directory'])}")
        return dict(tables)
    found = dict(bots(directory, problems))
    if not found:
        problems.say(PLACE, f"there is no bot in {quoted(roster['directory'])}")
    agents = {name: {**table, **usual} for name, table in found.items()}
    for name, table in written.items() if isinstance(written, dict) else ():
        both = isinstance(table, dict) and name in agents
        agents[name] = {**agents[name], **table} if both else table
    return {**tables, "agents": agents}


def positions_to_survive(
    roster: object, of: Game | None, base: Path, problems: Problems
) -> tuple[str, ...]:
    """The positions in the file that a roster names; what is wrong with them is said."""
    named = roster.get("positions") if isinstance(roster, dict) else None
    if not isinstance(named, str) or of is None:
        return ()
    try:
        found = read_positions(Path(found_path(named, base)), of)
    except Mistake as mistake:
        problems.say(POSITIONS, str(mistake))
        return ()
    return tuple(of.text(position) for position in found)


def bots(directory: Path, problems: Problems) -> Iterator[tuple[str, dict[str, object]]]:
    """The names and tables of the bots in a directory: files by their ending, folders by a table.

    `mine.toml` beside `mine.js`, and `bot.toml` in a folder, hold the bot's own table.
    """
    paths = sorted(path for path in directory.iterdir() if path.name[0] not in "._")
    stems = [path.stem for path in paths if path.is_file() and path.suffix != ".toml"]
    for path in paths:
        if path.is_dir():
            if (path / BOT_FILE).is_file():
                yield path.name, own_table(path / BOT_FILE, {}, problems)
        elif path.suffix != ".toml" and is_bot_file(path):
            name = path.stem if stems.count(path.stem) == 1 else path.name
            beside = path.with_suffix(".toml")
            table = of_file(path)
            yield name, own_table(beside, table, problems) if beside.is_file() else table


def of_file(path: Path) -> dict[str, object]:
    """The table of a bot that is one file."""
    spec = bot_spec(path)
    return {"kind": spec.kind, **spec.options}


def own_table(path: Path, table: Mapping[str, object], problems: Problems) -> dict[str, object]:
    """The table of a bot with what a file of its own says; words that name files are paths."""
    both = dict(table)
    try:
        both |= tables_of(path)
        return loaded_options(both, path.parent, str(path), at_version)
    except SpecError as error:
        problems.say(PLACE, str(error))
        return both
