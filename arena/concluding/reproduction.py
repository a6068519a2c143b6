"""The games of a run, played again from their seeds to compare them with its table."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from arena.keeping.game_blobs import decoded
from arena.keeping.game_table import COMPARED, StoredGames
from arena.keeping.provenance import read_run
from arena.keeping.run_directory import (
    NotARun,
    changes_since,
    stored_games,
    stored_plan,
)
from arena.planning.course import Course
from arena.planning.drawing import draw
from arena.planning.pairings import Pairings
from arena.planning.records import Games, pair_points
from arena.planning.tasks import Task
from arena.playing.determinism import FIXED
from arena.playing.in_order import in_turn
from arena.playing.known_pairings import KnownPairings
from arena.playing.referee_loop import stored_verdicts
from arena.playing.workers import PlayOptions, Workers
from games import Game
from games.transcripts import lines

SAMPLE = 200  # pairings
AT_ONCE = 64


class Reproduction(NamedTuple):
    """How many games were compared, the first difference if any, notes on the run."""

    games: int
    difference: str | None
    notes: list[str]


def compare(
    directory: Path, everything: bool, experiment: Path | None, options: PlayOptions
) -> Reproduction:
    """Play pairings of a run again until one differs; NotARun if they cannot be compared."""
    beside = experiment and experiment.absolute().parent
    plan = stored_plan(directory, beside)
    stored = stored_games(directory)
    if not plan.reproducible:
        raise NotARun(
            f"{directory}: its agents played by the clock, so its games cannot be played again"
        )
    fixed = frozenset((a, b) for a, b in read_run(directory).get(FIXED, []))
    course = Course(draw(replace(plan, stop=None), fixed=fixed))
    course.follow(pair_points(stored.games))
    drawn, compared, differing = course.drawn, 0, None
    known = KnownPairings(drawn, options.known)
    pairings = min(len(stored.games) // 2, drawn.pairings.total)
    tasks = tasks_of(stored, chosen(pairings, everything), drawn.pairings)
    with closing(Workers(drawn, options).batches(in_turn(tasks))) as batches:
        for batch in batches:
            games = decoded([batch.games], drawn.pairings.columns(batch.start, batch.stop))
            compared += len(games)
            if differing := difference(stored, games, plan.of):
                break
            if known.differing(drawn.pairings, games, batch.start):
                differing = (
                    f"the known games had another game for pairing {batch.start} or one after"
                )
                differing += "; all known games of these agents are forgotten"
                break
    played_then = read_run(directory).get("games")
    if differing is None and played_then != len(stored.games):
        differing = f"{played_then} games were played, {len(stored.games)} are there"
    if differing is None and plan.rounds is not None and 2 * course.total != len(stored.games):
        differing = f"the rounds ask for {2 * course.total} games, {len(stored.games)} are there"
    return Reproduction(compared, differing, changes_since(directory, beside))


def chosen(total: int, everything: bool) -> list[range]:
    """The pairings to play again, in order: all, or a sample spread evenly over the run."""
    if everything or total <= SAMPLE:
        return [range(at, min(at + AT_ONCE, total)) for at in range(0, total, AT_ONCE)]
    starts = [place * total // SAMPLE for place in range(SAMPLE)]
    return [range(at, at + 1) for at in starts]


def tasks_of(stored: StoredGames, which: list[range], pairings: Pairings) -> Iterator[Task]:
    """The tasks to play; games that were cut off are cut off again without waiting."""
    for each in which:
        verdicts = stored_verdicts(stored.games, each)
        yield Task(each.start, each.stop, verdicts, pairings.carried(each.start, each.stop))


def difference(stored: StoredGames, games: Games, of: Game) -> str | None:
    """The first column in which the records of a game differ."""
    rows = slice(2 * int(games.pair[0]), 2 * int(games.pair[-1]) + 2)
    before = {name: stored.games.columns[name][rows].tolist() for name in COMPARED}
    now = {name: games.columns[name].tolist() for name in COMPARED}
    if stored.moves is not None:
        assert games.moves is not None  # the run kept them, and this plays its plan
        before, now = (
            before | {"moves": stored.moves[rows]},
            now | {"moves": lines(of, games.moves, games.plies)},
        )
    for row in range(len(games)):
        for name, column in now.items():
            if before[name][row : row + 1] != column[row : row + 1]:
                was = before[name][row] if row < len(before[name]) else "missing"
                place = f"pairing {games.pair[row]}, game {row % 2 + 1}"
                return f"{place}: {name} was {was} and is {column[row]}"
    return None
