"""A log for each bot: why it lost games by its own fault, with the last that it wrote."""

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from arena.planning.records import LOSS, Games, Termination
from games.whole_files import inner_directory, write_text

DIRECTORY = "bots"
MOST_LOG = 64 << 10  # characters
PLAIN = re.compile(r"[^A-Za-z0-9_-]+")


def write_bot_logs(directory: Path, games: Games, names: Sequence[str]) -> None:
    """Write `bots/<place>-<name>.log` for every agent that has forfeited a game."""
    logs = defaultdict[int, list[str]](list)
    said = defaultdict[int, set[str]](set)
    for row in sorted(games.traces):
        seats = int(games.first[row]), int(games.second[row])
        guilty = seats[0 if games.result[row] == LOSS else 1]
        trace, how = games.traces[row], Termination(int(games.termination[row]))
        other = names[seats[1] if guilty == seats[0] else seats[0]]
        head = f"game {row}, against {other}: {how.name.lower()}"
        logs[guilty].append(head if trace in said[guilty] else f"{head}\n{trace}")
        said[guilty].add(trace)
    for place, entries in logs.items():
        path = directory / DIRECTORY / f"{place + 1}-{PLAIN.sub('_', names[place])}.log"
        inner_directory(path.parent)
        whole = "\n".join([*entries, ""])
        cut = "" if len(whole) <= MOST_LOG else "\n(cut here: there are more faults)\n"
        write_text(path, whole[:MOST_LOG] + cut)
