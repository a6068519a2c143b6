"""Placing a newcomer in a ladder: a race against the agents that are there."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from agents import AgentSpec
from arena.keeping.journal import Journal
from arena.keeping.known_games import KnownGames
from arena.keeping.locked_directory import LOCK
from arena.laddering.copied_bots import FILES, copied
from arena.laddering.ladder_file import LADDER, Ladder
from arena.laddering.ladder_table import TABLE
from arena.planning.drawing import draw
from arena.planning.rounds import TournamentStanding
from arena.playing.determinism import determined
from arena.playing.tournament import play
from arena.playing.workers import PlayOptions
from arena.showing.live_line import LiveLine, run_shown

PLACING = "placing"  # the journal of a race that is not over
GAMES = "games"  # all games of the ladder, by what decides them
LARGEST = 1 << 40  # bytes: a ladder forgets nothing


class Placed(NamedTuple):
    """A ladder with its newcomer, the answer of the race, its games and how many were known."""

    ladder: Ladder
    answer: str
    games: int
    known: int


def ladder_games(directory: Path) -> KnownGames:
    """All games of a ladder, of agents of any kind: what was played there counts once."""
    return KnownGames(directory / GAMES, LARGEST, everybody=True)


def placed(ladder: Ladder, name: str, spec: AgentSpec, options: PlayOptions, quiet: bool) -> Placed:
    """The ladder with the newcomer in its place, which is written; the same call goes on.

    An agent of this name is another version of the same author's: it goes, its games stay.
    """
    spec, version = copied(spec, ladder.directory), 1
    if name in ladder.names:
        version = ladder.versions.get(name, 1) + 1
        ladder = replace(ladder.without(name), versions={**ladder.versions, name: version})
    if not ladder.names:
        first = ladder.with_agent(name, spec, 0, "the first")
        first.save()
        return Placed(first, f"{name}: place 1 of 1, the first", 0, 0)
    plan = ladder.placing(name, spec)
    digest, games = plan.digest(), ladder_games(ladder.directory)
    directory = ladder.directory / PLACING / digest[:12]
    try:
        with Journal(directory, digest, None) as journal, LiveLine(quiet) as line:
            own = options._replace(known=games)
            drawn = determined(draw(plan), journal, own)
            played = play(drawn, journal, own, run_shown(line, plan.names))
    finally:
        games.close()
    options.interrupts.look()
    standing = played.tournament
    assert standing is not None  # a plan that goes by rounds has one
    answer, total = standing.answer, 2 * played.drawn.pairings.total
    how = answer.partition(": ")[2]
    if version > 1:
        how = f"version {version}: {how}"
    after = ladder.with_agent(name, spec, place_in(standing), how)
    after.save()
    shutil.rmtree(directory, ignore_errors=True)
    return Placed(after, answer, total, played.known)


def is_there(ladder: Ladder, name: str, spec: AgentSpec) -> bool:
    """Whether the ladder has this agent, with the same files and options."""
    return ladder.plan.agents.get(name) == copied(spec, ladder.directory)


def remove_ladder(directory: Path) -> None:
    """Remove what a ladder wrote, and its directory if nothing else is there."""
    for name in (GAMES, PLACING, FILES):
        shutil.rmtree(directory / name, ignore_errors=True)
    for name in (LADDER, TABLE, LOCK):
        (directory / name).unlink(missing_ok=True)
    if not any(directory.iterdir()):
        directory.rmdir()


def place_in(standing: TournamentStanding) -> int:
    """Before which agent of the order the newcomer goes: after all that it is not shown above."""
    others = standing.rows[1:]
    return sum(row.place != at + 2 for at, row in enumerate(others))
