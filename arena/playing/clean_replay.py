"""Games replayed by clean rules: only then is a game believed in which a user's code took part."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.planning.records import DRAW, LOSS, WIN, Termination
from arena.playing.referee import PlayedGame
from games import Game
from games.kernels import boards, jit
from games.kernels.boards import ENDED, GAME_ID, LEGAL_PLIES, MARGIN

RESULT_TEXTS = {
    WIN: "a win of the first agent",
    DRAW: "a draw",
    LOSS: "a loss of the first agent",
}


class Unclean(RuntimeError):  # noqa: N818  # what a game is, not an error of the code
    """A game is not what the rules make of its moves: our fault, whoever played."""


def replayed(of: Game, moves: NDArray[np.int16], plies: NDArray[np.int32]) -> NDArray[np.int64]:
    """A row for each game: how many plies were legal, whether it ended, its margin, its id."""
    results = np.empty((len(plies), 4), np.int64)
    kernels = jit.bound(of.family_name, boards.of_family)
    slots = np.ascontiguousarray(of.slots_of(moves), np.int16)
    kernels.replay(of.context, of.start().state, slots, np.asarray(plies, np.int32), results)
    return results


def unclean(
    of: Game,
    moves: NDArray[np.int16],
    plies: NDArray[np.int32],
    results: NDArray[np.int8],
    margins: NDArray[np.int32],
    terminations: NDArray[np.int8],
    ids: NDArray[np.uint64] | None = None,
) -> tuple[int, str] | None:
    """The first game that breaks the rules, and how; None if none does."""
    found = replayed(of, moves, plies)
    normal = terminations == Termination.NORMAL
    scored = np.where(margins > 0, WIN, np.where(margins == 0, DRAW, LOSS))
    faults = {
        "moves that are not legal": found[:, LEGAL_PLIES] != plies,
        "the table says termination normal, but the game is not over after its moves": normal
        & (found[:, ENDED] == 0),
        "the table says that the game was forfeited, but its moves play it to the end": ~normal
        & (found[:, ENDED] == 1),
    }
    pairs: dict[str, tuple[NDArray[Any], NDArray[Any] | None]] = {
        "result": (np.where(normal, scored, results), results),
        "margin": (np.where(normal, found[:, MARGIN], margins), margins),
        "game_id": (found[:, GAME_ID].view(np.uint64), ids),
    }
    for name, (right, stored) in pairs.items():
        if stored is not None:
            faults[name] = right != stored
    wrong = np.flatnonzero(np.logical_or.reduce(list(faults.values())))
    if not len(wrong):
        return None
    row = int(wrong[0])
    name = next(words for words, rows in faults.items() if rows[row])
    if name not in pairs:
        return row, name
    right, stored = pairs[name]
    assert stored is not None  # else it was not compared
    return row, contradiction(name, stored[row], right[row])


def contradiction(column: str, stored: object, replayed: object) -> str:
    """Return the difference between a stored value and the one that playing again gives."""
    return (
        f"the table says {_value_text(column, stored)}, "
        f"playing the game again gives {_value_text(column, replayed)}"
    )


def _value_text(column: str, value: Any) -> str:
    if column == "result" and value in RESULT_TEXTS:
        return RESULT_TEXTS[int(value)]
    if column == "termination":
        return f"termination {Termination(int(value)).name.lower()}"
    return f"{column} {value}"


def refuse_unclean(of: Game, games: Sequence[PlayedGame]) -> None:
    """Raise Unclean if a game is not what the rules make of its moves."""
    moves = np.array([move for game in games for move in game.moves], np.int16)
    plies = np.array([len(game.moves) for game in games], np.int32)
    fault = unclean(
        of, moves, plies,
        np.array([game.result for game in games], np.int8),
        np.array([game.margin for game in games], np.int32),
        np.array([game.termination for game in games], np.int8),
    )  # fmt: skip
    if fault is not None:
        row, words = fault
        raise Unclean(f"replayed by clean rules, game {row + 1} of a block differs: {words}")
