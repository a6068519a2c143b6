"""One page about many games: of several runs, or of other people's files."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arena.analysis.external_games import (
    UNKNOWN,
    Columns,
    GivenScale,
    Unreadable,
    columns_of,
    given_standings,
    read_games,
)
from arena.analysis.tables import WinRateRow, rating_rows
from arena.reading.gathered_games import gathered_games
from arena.report.data import GameColumns, GatheredPlan, Report
from arena.report.numbers import counted
from arena.stats.elo import elo_estimate
from arena.stats.estimate import Estimate, nothing
from arena.stats.intervals import score_estimate
from arena.stats.ratings import RatingPlan
from arena.stats.spread import spread
from arena.stats.text import score_text
from arena.storage.run_file import GAMES
from games.base.schema import KeyValues
from games.base.text import listed

DRAWS = 200
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def gathered_report(paths: Sequence[Path], name: str) -> Report:
    """The report of all games in some files and runs; Unreadable says which line is wrong."""
    files = [path / GAMES if path.is_dir() else path for path in paths]
    given = read_games(files)
    if len(given.scales) > 1:
        found = listed(scale.game for scale in given.scales)
        raise Unreadable(f"a page is about one game, got {found}")
    (scale,) = given.scales
    columns = _columns(scale)
    gathered = gathered_games(columns, scale, files)
    game = counted(len(files), "file") if scale.game == UNKNOWN else scale.game
    ranked = given_standings(scale, RatingPlan(draws=DRAWS), "bradley_terry")
    summary = {
        "experiment": name,
        "openings": len(np.unique(columns.opening)),
        "first_mover": asdict(_first_mover(scale)),
        "checks": [],
        "stopped": None,
    }
    return Report(
        plan=GatheredPlan(game, tuple(files), gathered.of, gathered.unlisted),
        run={},
        summary=summary,
        ratings=tuple(rating_rows(ranked.agents, ranked.groups, scale.names)),
        pairs=_pair_rows(scale),
        timings=(),
        games=gathered.games,
    )


def _first_mover(scale: GivenScale) -> Estimate:
    """Return the first movers' score; no estimate where some are not known."""
    games = columns_of(scale)
    if -1 in scale.movers:
        return nothing("who was to move after the opening is not known")
    return score_estimate(games.openings, games.scores)


def _columns(given: GivenScale) -> GameColumns:
    size = len(given.scores)
    opening = np.unique(np.array(given.openings), return_inverse=True)[1]
    nothing = np.zeros(size, np.int64)
    return GameColumns(
        first=np.array(given.first, np.int64),
        second=np.array(given.second, np.int64),
        opening=opening.astype(np.int64),
        pair=np.arange(size),
        result=np.array(given.scores),
        margin=nothing,
        plies=nothing,
        ending=nothing,
        repeat=np.zeros(size, np.bool_),
        mover=_movers(given),
    )


def _movers(given: GivenScale) -> Ints:
    seats = np.array([given.first, given.second], np.int64)
    side = np.array(given.movers, np.int64)
    return np.where(side < 0, -1, seats[np.maximum(side, 0), np.arange(len(side))])


def _pair_rows(scale: GivenScale) -> dict[tuple[str, str], WinRateRow]:
    """Every pair that met, from both sides; a game is an observation of its opening."""
    games, names, known = columns_of(scale), scale.names, -1 not in scale.movers
    rows = {}
    met = {(min(pair), max(pair)) for pair in zip(games.first.tolist(), games.second.tolist(),
                                                  strict=True)}  # fmt: skip
    for one, other in sorted(met):
        for a, b in ((one, other), (other, one)):
            rows[names[a], names[b]] = _pair_row(games, names, a, b, known)
    return rows


def _pair_row(games: Columns, names: Sequence[str], a: int, b: int, known: bool) -> WinRateRow:
    """One pair; `known` says whether `first` are the first movers in all games of the scale."""
    first = (games.first == a) & (games.second == b)
    second = (games.first == b) & (games.second == a)
    as_first, as_second = games.scores[first], 1.0 - games.scores[second]
    scores, openings = np.concatenate([as_first, as_second]), np.concatenate([
        games.openings[first], games.openings[second]])  # fmt: skip
    score = score_estimate(openings, scores)
    mover = score_estimate(openings, np.concatenate([as_first, 1.0 - as_second]))
    mover = mover if known else nothing("the first movers are not known")
    number = len(scores)
    values: dict[str, object] = dict.fromkeys(WinRateRow._fields)
    values |= {
        "agent": names[a], "opponent": names[b], "games": number,
        "distinct_games": number, "counted_games": number, "openings": len(np.unique(openings)),
        "largest_multiplicity": int(np.unique(openings, return_counts=True)[1].max()),
        "n_eff": spread(openings, scores).effective_pairings,
        **_results("first", as_first), **_results("second", as_second),
        "forfeits": 0, "opponent_forfeits": 0, **_ends("score", score),
        **_ends("elo", elo_estimate(score)), "interval": str(score.kind), "level": score.level,
        "why": score.reason, **_ends("first_mover_score", mover), "of": str(score.scope),
        "identical_pairs": 0, "same_player": False,
        "text": score_text(score),
    }  # fmt: skip
    return WinRateRow(**values)  # type: ignore[arg-type]  # as above


def _results(seat: str, scores: Floats) -> KeyValues:
    points = (("wins", 1.0), ("draws", 0.5), ("losses", 0.0))
    return {f"{seat}_{word}": int(np.count_nonzero(scores == each)) for word, each in points}


def _ends(name: str, estimate: Estimate) -> KeyValues:
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
