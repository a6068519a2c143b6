"""What a bot's author is handed after a run: place, scores, faults, lost games; nobody's code."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from arena.concluding.timing import Timing
from arena.keeping.bot_logs import DIRECTORY, PLAIN
from arena.keeping.game_table import StoredGames
from arena.keeping.parquet import read_pieces, read_rows
from arena.keeping.run_directory import GAMES, stored_games
from arena.planning.records import DRAW, LOSS, Termination
from games import Game
from games.shell_commands import here
from games.terminal import printable
from games.transcripts import command_of

MOST_LOST = 3  # games to replay
MOST_LOG = 4000  # characters


class OwnGame(NamedTuple):
    """One game as one of its players sees it."""

    row: int
    opponent: int
    points: float
    how: Termination


class Stored(NamedTuple):
    """The games of a run, with who played them."""

    games: StoredGames
    seats: Sequence[tuple[int, int]]  # of each game, by the places of the agents


def read_stored(directory: Path, names: Sequence[str]) -> Stored:
    """The games of a run's directory."""
    seats = [
        places
        for columns in read_pieces(directory / GAMES, (), {"first": names, "second": names})
        for places in zip(columns["first"].tolist(), columns["second"].tolist(), strict=True)
    ]
    return Stored(stored_games(directory), seats)


def games_of(stored: Stored, agent: int) -> list[OwnGame]:
    """All games of an agent, in the order of the table."""
    games, found = stored.games.games, []
    for row, (first, second) in enumerate(stored.seats):
        result = int(games.columns["result"][row])
        if agent in (first, second):
            points = 0.5 if result == DRAW else float((result == LOSS) == (agent == second))
            other = second if agent == first else first
            found.append(OwnGame(row, other, points, Termination(int(games.termination[row]))))
    return found


def places(stored: Stored, names: Sequence[str]) -> list[int]:
    """The place of each agent by its share of the points, 1 the best; equals share a place."""
    played = [games_of(stored, agent) for agent in range(len(names))]
    shares = [sum(each.points for each in own) / max(1, len(own)) for own in played]
    return [1 + sum(other > share for other in shares) for share in shares]


def handout(
    of: Game,
    stored: Stored,
    names: Sequence[str],
    agent: int,
    log: str,
    longest: float | None = None,
) -> str:
    """The page of one agent; `log` is what is kept of its faults, `longest` in seconds."""
    played = games_of(stored, agent)
    points = sum(each.points for each in played)
    place = places(stored, names)[agent]
    lines = [f"# {cell(names[agent])}", "", f"{of.name}: place {place} of {len(names)}, "
             f"{points:g} points of {len(played)} games.", ""]  # fmt: skip
    if longest is not None:
        lines += [f"Its longest thought took {longest:.3f} s.", ""]
    lines += ["| against | games | won | drawn | lost |", "|---|---|---|---|---|"]
    for other, name in enumerate(names):
        own = [each.points for each in played if each.opponent == other]
        if own:
            counts = [own.count(value) for value in (1.0, 0.5, 0.0)]
            lines.append(f"| {cell(name)} | {len(own)} | {' | '.join(map(str, counts))} |")
    lines += ["", *faults(of, stored, played, names), *lost(of, stored, played, names)]
    if log:
        lines += [
            "## What is kept of its faults",
            "",
            "```text",
            log[:MOST_LOG].rstrip(),
            "```",
            "",
        ]
    return "\n".join(lines)


def faults(of: Game, stored: Stored, played: Sequence[OwnGame], names: Sequence[str]) -> list[str]:
    """Its faults, each kind once: how often, and the first game in which it happened."""
    guilty = [each for each in played if each.points == 0 and not each.how.fair]
    if not guilty:
        return ["It lost no game by a fault.", ""]
    lines = ["## Faults", ""]
    for how, count in Counter(each.how for each in guilty).most_common():
        first = next(each for each in guilty if each.how == how)
        lines.append(f"- {how.name.lower()}, {count} times; first {seen(of, stored, first, names)}")
    return [*lines, ""]


def lost(of: Game, stored: Stored, played: Sequence[OwnGame], names: Sequence[str]) -> list[str]:
    """Some games that it lost by the rules, the shortest first."""
    beaten = [each for each in played if each.points == 0 and each.how is Termination.NORMAL]
    beaten.sort(key=lambda each: int(stored.games.games.plies[each.row]))
    if not beaten or stored.games.moves is None:
        return []
    shown = [f"- {seen(of, stored, each, names)}" for each in beaten[:MOST_LOST]]
    return ["## Lost games", "", *shown, ""]


def seen(of: Game, stored: Stored, game: OwnGame, names: Sequence[str]) -> str:
    """Which game it was, and the command that shows it."""
    words = f"game {game.row}, against {cell(names[game.opponent])}"
    if stored.games.moves is None or not stored.games.moves[game.row]:
        return words
    return f"{words}: `{here(command_of(of, stored.games.moves[game.row]))}`"


def cell(name: str) -> str:
    """A name as a cell of a table, or a heading, can hold it."""
    return re.sub(r"([|`*_<>\\])", r"\\\1", printable(name))


def file_name(names: Sequence[str], agent: int) -> str:
    """A name for a file about an agent that no name of an agent can spoil."""
    return f"{agent + 1}-{PLAIN.sub('_', names[agent])}"


def longest_thought(directory: Path, name: str) -> float | None:
    """Seconds of an agent's longest move; None where moves were not timed one by one."""
    path = directory / "timings.parquet"
    rows = read_rows(path, Timing) if path.is_file() else []
    own = [row.longest_move for row in rows if row.agent == name and row.longest_move is not None]
    return max(own, default=None)


def log_of(directory: Path, names: Sequence[str], agent: int) -> str:
    """What is kept of an agent's faults; empty if there were none."""
    path = directory / DIRECTORY / f"{file_name(names, agent)}.log"
    return path.read_text(errors="replace") if path.is_file() else ""
