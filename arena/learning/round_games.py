"""The games of one round: played, or read from runs, kept in a journal, each opening once."""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents import AgentSpec
from agents.fitting.labelled_positions import LearnedGames
from arena.keeping.journal import Journal
from arena.learning.learn_file import Learning
from arena.learning.self_play import (
    PART_GAMES,
    GamePart,
    SelfPlay,
    SelfPlayCrew,
    SelfPlayedPart,
    unpacked_games,
)
from arena.planning.drawing import draw
from arena.planning.pairing_seeds import digest_word
from arena.playing.in_order import ItemFailed, in_order, in_turn
from arena.playing.workers import PlayOptions
from games.terminal import Unfinished

TEACHER = "teacher"


class RoundGames(NamedTuple):
    """Games no two of which begin alike, and the keys of their openings."""

    played: LearnedGames
    keys: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.keys)


def seed_of(learning: Learning, round_: int) -> int:
    """The seed of a round: openings and chance of its own."""
    return int(digest_word("learn", learning.plan.seed, round_)) >> 1


def round_games(
    learning: Learning,
    teacher: AgentSpec,
    round_: int,
    directory: Path,
    digest: str,
    options: PlayOptions,
    show: Callable[[int, int], None],
) -> RoundGames:
    """Play what the journal does not have; all games of the round."""
    total = learning.games[round_ - 1]
    work = SelfPlay(learning.of, teacher, learning.settings(seed_of(learning, round_)))
    # What a cluster learns the game and the teacher from; no pairing of it is played.
    plan = replace(
        learning.plan, agents={TEACHER: teacher, "itself": teacher}, matches=((0, 1),), pairs=1
    )
    contents = []
    with Journal(directory / f"round-{round_}", f"{digest}-{round_}") as journal:
        for batch in journal.batches():
            contents.append(batch.games)
        done = journal.finished()
        crew = SelfPlayCrew(work, options, draw(plan))
        if done < total:
            if options.cluster is None:
                crew.get_ready()
            with closing(results(crew, parts(done, total))) as played:
                for part in played:
                    journal.append(part.start, part.stop, part.games)
                    contents.append(part.games)
                    show(part.stop, total)
    return joined(contents)


def parts(done: int, total: int) -> Iterator[GamePart]:
    """What is left to play, in parts that begin at multiples of their size."""
    while done < total:
        stop = min(done - done % PART_GAMES + PART_GAMES, total)
        yield GamePart(done, stop)
        done = stop


def results(crew: SelfPlayCrew, todo: Iterator[GamePart]) -> Generator[SelfPlayedPart, None, None]:
    """What the crew plays, in order."""
    try:
        with crew.options.interrupts.wait_for_look():
            yield from in_order(crew, in_turn(todo))
    except ItemFailed as failure:
        what = failure.trace.rpartition("\n")[2] or "ended its worker"
        raise Unfinished(f"games {failure.item.start} on: {what}, and again alone") from None


def joined(contents: list[bytes]) -> RoundGames:
    """All games, without those whose opening came before."""
    several = [unpacked_games(each) for each in contents]
    played = LearnedGames(
        *(np.concatenate(each) for each in zip(*(games for games, _ in several), strict=True))
    )
    keys = np.concatenate([keys for _, keys in several])
    return distinct(played, keys)


def distinct(played: LearnedGames, keys: NDArray[np.uint64]) -> RoundGames:
    """The first game from each opening."""
    first = np.zeros(len(keys), np.bool_)
    first[np.unique(keys, return_index=True)[1]] = True
    if first.all():
        return RoundGames(played, keys)
    slots = played.slots[np.repeat(first, played.plies)]
    kept = LearnedGames(slots, *(each[first] for each in played[1:]))
    return RoundGames(kept, keys[first])
