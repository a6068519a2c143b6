"""Why bots lost games by their own fault: a log for each, and equal faults with a count."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from agents.fault_text import fault_line
from arena.planning.game_pieces import Parts
from arena.planning.records import LOSS, Games, Termination
from games.whole_files import inner_directory, write_text

DIRECTORY = "bots"
MOST_LOG = 64 << 10  # characters
PLAIN = re.compile(r"[^A-Za-z0-9_-]+")


def write_bot_logs(directory: Path, parts: Parts, names: Sequence[str]) -> None:
    """Write `bots/<place>-<name>.log` for every agent that has forfeited a game."""
    logs, lengths = defaultdict[int, list[str]](list), Counter[int]()
    said = defaultdict[int, set[str]](set)
    for guilty, head, trace in _faults(parts, names):
        if lengths[guilty] <= MOST_LOG:
            entry = head if trace in said[guilty] else f"{head}\n{trace}"
            logs[guilty].append(entry)
            said[guilty].add(trace)
            lengths[guilty] += len(entry) + 1
    for place, entries in logs.items():
        path = directory / DIRECTORY / f"{place + 1}-{PLAIN.sub('_', names[place])}.log"
        inner_directory(path.parent)
        whole = "\n".join([*entries, ""])
        cut = "" if len(whole) <= MOST_LOG else "\n(cut here: there are more faults)\n"
        write_text(path, whole[:MOST_LOG] + cut)


def fault_groups(parts: Parts, names: Sequence[str], most: int) -> list[dict[str, object]]:
    """Equal faults of each agent: how many games they cost, and the whole text of the first.

    A game that was copied from an equal one has no text; it counts as the agent's first fault of
    its sort.
    """
    texts = dict[tuple[int, Termination, str], str]()
    sizes, without = Counter[tuple[int, Termination, str]](), Counter[tuple[int, Termination]]()
    for games in parts():
        for row in np.flatnonzero(games.termination != Termination.NORMAL).tolist():
            how = Termination(int(games.termination[row]))
            guilty, text = _guilty(games, row), games.traces.get(row)
            if text:
                key = guilty, how, fault_line(text)
                texts.setdefault(key, text)
                sizes[key] += 1
            elif not how.fair:
                without[guilty, how] += 1
    return [
        {
            "agent": names[guilty],
            "termination": how.name.lower(),
            "error": error,
            "games": sizes[guilty, how, error] + without.pop((guilty, how), 0),
            "text": text,
        }
        for (guilty, how, error), text in texts.items()
    ][:most]


def _guilty(games: Games, row: int) -> int:
    """The agent that lost a game by its fault."""
    return int((games.first if games.result[row] == LOSS else games.second)[row])


def _faults(parts: Parts, names: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """The agent that lost a game by its fault, which game it was, and why."""
    begin = 0
    for games in parts():
        for row in sorted(games.traces):
            guilty = _guilty(games, row)
            how = Termination(int(games.termination[row]))
            other = names[int(games.first[row]) + int(games.second[row]) - guilty]
            head = f"game {begin + row}, against {other}: {how.name.lower()}"
            yield guilty, head, games.traces[row]
        begin += len(games)
