"""A log for each bot: why it lost games by its own fault, with the last that it wrote."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from arena.planning.game_pieces import Parts
from arena.planning.records import LOSS, Termination
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


def _faults(parts: Parts, names: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """The agent that lost a game by its fault, which game it was, and why."""
    begin = 0
    for games in parts():
        for row in sorted(games.traces):
            seats = int(games.first[row]), int(games.second[row])
            guilty = seats[0 if games.result[row] == LOSS else 1]
            how = Termination(int(games.termination[row]))
            other = names[seats[1] if guilty == seats[0] else seats[0]]
            head = f"game {begin + row}, against {other}: {how.name.lower()}"
            yield guilty, head, games.traces[row]
        begin += len(games)
