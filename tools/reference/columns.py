"""The columns of all tables: their types from the code, with their meanings."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, get_type_hints

from arena.analysis.move_losses.losses import MOVE_COLUMNS
from arena.analysis.standings import PointsRow
from arena.analysis.sweep import TYPES as SWEEP_COLUMNS
from arena.analysis.tables import EloRow, TournamentRow, WinRateRow
from arena.analysis.timings import Timing
from arena.planning.games import Termination
from arena.storage.game_table import GAME_SCHEMA, SEARCH_INFO_COLUMNS
from tools.reference.pages import GENERATED, markdown_page, markdown_table

ENDS = {"_low": "lower end of the interval of", "_high": "upper end of the interval of"}
THESE = "these_"  # the answer of a pair for exactly these openings


class ParquetTable(NamedTuple):
    """One file: the meaning of a row, and the columns with their types."""

    file: str
    row: str
    columns: Mapping[str, str]


def types_of(row: type) -> dict[str, str]:
    """Return the types of the fields of a row, `or missing` where None is allowed."""
    return {name: _type_text(hint) for name, hint in get_type_hints(row).items()}


def _type_text(hint: Any) -> str:
    text = getattr(hint, "__name__", "") if isinstance(hint, type) else str(hint)
    return text.replace(" | None", " or missing")


def _stored_types(types: Mapping[str, str]) -> dict[str, str]:
    return {name: (kind.partition(" ")[2] and "category") or kind for name, kind in types.items()}


def parquet_tables() -> list[ParquetTable]:
    """Return all tables whose columns do not depend on the experiment."""
    return [
        ParquetTable("games.parquet", "a game, in schedule order", _stored_types(GAME_SCHEMA)),
        ParquetTable("elo.parquet", "an agent, in the official order", types_of(EloRow)),
        ParquetTable("win_rates.parquet", "an ordered pair of agents", types_of(WinRateRow)),
        ParquetTable(
            "points.parquet",
            'an agent, with `standings = "points"` only',
            types_of(PointsRow),
        ),
        ParquetTable(
            "tournament.parquet",
            "an agent, of a schedule that goes by rounds",
            types_of(TournamentRow),
        ),
        ParquetTable(
            "timings.parquet", "an ordered pair of agents; differs in every run", types_of(Timing)
        ),
        ParquetTable(
            "thoughts.parquet",
            "a chosen move, with `search_info = true` only",
            _stored_types(SEARCH_INFO_COLUMNS),
        ),
        ParquetTable(
            "moves.parquet", "a judged move, after `pitflip judge`", _stored_types(MOVE_COLUMNS)
        ),
        ParquetTable(
            "sweep.parquet",
            "a cell of a sweep; a column for each of its axes stands before `agent`",
            SWEEP_COLUMNS,
        ),
        ParquetTable(
            "trials.parquet",
            "a trial of a study; a column for each weight and option stands after `trial`",
            TRIAL_COLUMNS,
        ),
        ParquetTable("validation.parquet", "a pair of the validation", VALIDATION_COLUMNS),
    ]


# Written by `arena.tuning.study_files`.
TRIAL_COLUMNS = {
    "trial": "int64",
    **dict.fromkeys(("score", "score_low", "score_high", "standard_error"), "double"),
    "games": "int64",
    "distinct_games": "int64",
    "fingerprint": "string",
    "seconds": "double",
}
VALIDATION_COLUMNS = {"pairing": "int64", "score": "double", "llr": "double"}

FAIR = ", ".join(how.name.lower() for how in Termination if how.is_fair)
FORFEITS = ", ".join(how.name.lower() for how in Termination if not how.is_fair)
TERMINATIONS = f"how the game ended: {FAIR}; forfeits: {FORFEITS}"
# By column, or by table and column where a name means several things.
MEANINGS: Mapping[str, str] = {
    "after": "margin after the move",
    "agent": "name of the agent",
    "answer": "better, worse or not told apart, with the error shared by all cells",
    "best": "a best move: the one played if it is one, else the lowest on the board",
    "by": "the agent above it",
    "cell": "number of the cell, from 1",
    "champion": "1 at place 1, else 0",
    "checks": "number of checks",
    "checks_hold": "number of checks that hold",
    "choices": "number of legal moves",
    "counted_games": "games that the estimates use, without repeats of the same opening",
    "data": "further data that a bot told, as JSON",
    "depth": "depth of the search in plies; 200: to the end of the game",
    "distinct_games": "games that are no duplicates; a duplicate is a fair game with the moves of "
    "an earlier fair game of the same match, in whichever seat and from whichever opening",
    "drawn": "games drawn",
    "elo": "Elo",
    "win_rates.elo": "Elo difference of the score",
    "exact": "whether the value before the move is known exactly",
    "fingerprint": "digest of the games of the trial",
    "first": "agent of side 0, which makes the first move of the game or of its opening",
    "first_draws": "games drawn as first mover",
    "first_losses": "games lost as first mover",
    "first_move_elo": "Elo that the first move is worth in its group, from fair pairs",
    "first_mover": "agent to move after the opening",
    "first_mover_margin": "mean final margin of first movers in games without a fault",
    "first_mover_score": "points per game of the first movers in fair pairs",
    "first_wins": "games won as first mover",
    "forfeits": "games lost by a fault of the agent, those after its exclusion included",
    "game": "number of the game, from 0",
    "game_id": "hash of all moves; equal numbers are equal games",
    "games": "all games, duplicates and forfeits included",
    "group": "number of a group of agents whose ratings can be compared",
    "identical_pairs": "pairs whose two games had the same moves, without a fault",
    "interval": "fixed-n; census: exact, every opening was played; sprt: a test stopped the "
    "run, which the estimate ignores; anytime: may be looked at after every pair; adapted: "
    "results decided which agents met; none",
    "known": "whether the loss is known",
    "lag": "seconds in which it was ready but the machine did not run it",
    "largest_multiplicity": "pairs on the opening that was played most often",
    "left": "beans in play, or empty squares, before the move",
    "leg": "0 or 1: the game of its pair",
    "level": "level of the intervals",
    "line": "the expected moves, its own first",
    "llr": "log-likelihood ratio after the pair",
    "log_capital": "logarithm of what bets on `by` have earned: out from ln((agents - 1) / delta)",
    "longest_move": "seconds of the longest move; missing where games are timed as a whole",
    "longest_turn": "seconds of the longest turn with its extra turns",
    "loss": "`value` less `after`, never below 0",
    "lost": "games lost",
    "moves.low": "lower bound of the value before the move",
    "moves.high": "upper bound of the value before the move",
    "margin": "final score of `first` minus that of `second`, as it stood after a forfeit",
    "points.margin": "sum of the final margins, without forfeited games",
    "move": "the move as it is written",
    "mover": "the agent that moved",
    "moves": "all moves as they are written, if moves are kept",
    "timings.moves": "moves that the agent chose, without openings and forced passes",
    "n_eff": "effective sample size",
    "nodes": "positions searched; a search passes its limit in nodes by a few",
    "nodes_per_move": "positions searched per move",
    "nodes_per_second": "positions searched per second",
    "normalized_elo": "excess score over the standard deviation of a game, on the Elo scale",
    "of": "the question of `score` to `why`: openings like these, or exactly these",
    "opening": "number of the opening",
    "moves.opening": "whether the move belongs to the opening",
    "opening_moves": "the moves of the opening",
    "openings": "number of distinct openings",
    "opponent": "name of the opponent",
    "opponent_forfeits": "games lost by a fault of the opponent",
    "pair": "number of the pair: two games from one opening with sides swapped",
    "pairing": "number of the pair",
    "pairs_even": "pairs that brought 1 point",
    "pairs_ld": "pairs that brought half a point",
    "pairs_ll": "pairs that brought no point",
    "pairs_wd": "pairs that brought 1.5 points",
    "pairs_ww": "pairs that brought 2 points",
    "place": "place of the agent, if it has one",
    "plies": "moves and passes, the opening included",
    "ply": "number of the move in its game, from 1",
    "points": "points from all games; a draw is half a point",
    "rank": "place of the agent, from 1; equal agents share a place",
    "repeat": "whether these agents played this opening with the same moves and seats before",
    "result": "points of `first`: 1, 0.5 or 0",
    "result_loss": "loss in results: 1 from a win to a draw or a draw to a loss, 2 for both",
    "round": "round in which the agent went out",
    "run": "directory of the cell's run",
    "same_player": "whether both agents have the same specification",
    "score": "points per game",
    "validation.score": "points of the candidate in the pair, as a share",
    "second": "agent of side 1",
    "second_draws": "games drawn as second mover",
    "second_losses": "games lost as second mover",
    "second_wins": "games won as second mover",
    "seconds": "seconds of thought",
    "trials.seconds": "seconds that the trial took",
    "seconds_per_move": "seconds of thought per move",
    "seed": "seed of the pair",
    "simultaneous_low": "lower end of the interval of `score` that holds for all matches at once",
    "simultaneous_high": "its upper end",
    "standard_error": "standard error of the score",
    "state": "best, ranked, placed, winner, finished, in (not decided) or out",
    "superiority": "likelihood that the agent is the stronger one; missing for small samples",
    "termination": TERMINATIONS,
    "text": "the row as it is printed",
    "trial": "number of the trial, from 0",
    "value": "value of the position for the agent",
    "moves.value": "margin of the best move before the move",
    "why": "why an interval is missing, or what is special about it",
    "tournament.why": "the state in words",
    "won": "games won",
}  # fmt: skip


def meaning(table: str, column: str) -> str:
    """Return the meaning of a column; KeyError if it has none."""
    stem = table.removesuffix(".parquet")
    for name in (f"{stem}.{column}", column):
        if name in MEANINGS:
            return MEANINGS[name]
    if column.startswith(THESE):
        inner = meaning(table, column.removeprefix(THESE))
        return f"for exactly these openings: {inner}"
    for end, words in ENDS.items():
        if column.endswith(end):
            return f"{words} `{column.removesuffix(end)}`"
    raise KeyError(f"tools/reference/columns.py: add the meaning of {stem}.{column}")


def columns_page() -> str:
    """Return the page of columns."""
    parts = [
        "# Columns of the tables",
        GENERATED,
        "Every run writes these tables as Parquet files. [Files](files.md) says when each of them "
        "is written. An end of an interval is missing if the games do not determine it.",
    ]
    for table in parquet_tables():
        parts += [f"## `{table.file}`", f"One row is {table.row}.", _rows(table)]
    return markdown_page(parts)


def _rows(table: ParquetTable) -> str:
    rows: Iterable[tuple[str, str, str]] = (
        (f"`{name}`", kind, meaning(table.file, name)) for name, kind in table.columns.items()
    )
    return markdown_table(("column", "type", "meaning"), rows)
