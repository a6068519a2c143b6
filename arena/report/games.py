"""The game list and replay data as JSON."""

import json
import math
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from arena.analysis.checks.claims import FAILS
from arena.report.answer import BEATS
from arena.report.data import GameChunk, MoveLosses, ReportData
from arena.report.methods import commands, relative_path
from arena.storage.game_table import SEARCH_INFO
from arena.storage.parquet import iter_rows
from games import Game
from games.transcripts import replay_command_for_line

MOST_NUMBERS = 120_000  # on a page
MOST_NAMES = 12
PLAIN = ("value", "depth", "nodes", "seconds")
DIGITS = 6
Series = dict[str, list[float]]  # by name: ply, number, ply, number, ...
MOST_LISTED = 10_000
EACH_QUESTION = 500  # games that stand out in some way, where not all are listed
MOST_MOVES = 1_800_000  # characters of moves on a page
MOST_PLIES = 12_000  # boards that are drawn as text
EACH_BOARD = 40  # games of each question whose boards come first
MOST_CHANGES = 16  # letters
LAST = 1 << 40  # a number larger than all that are compared
DRAWN = {"games.sowing": "sowing", "games.othello": "othello"}  # packs that the page can draw
Rows = NDArray[np.int64]


def agent_thoughts(report: ReportData, first: Callable[[], list[int]]) -> dict[str, object] | None:
    """The names of what was said, and the numbers of the games that come `first` and fit.

    None for a run that kept no thoughts.
    """
    if report.directory is None or not (report.directory / SEARCH_INFO).exists():
        return None
    order, numbers = first(), dict[int, Series]()
    wanted, names = set(order), dict.fromkeys(PLAIN)
    for game, ply, said in _said(report):
        if game in wanted:
            series = numbers.setdefault(game, {})
            for name, number in said.items():
                if name in names or len(names) < MOST_NAMES:
                    names[name] = None
                    series.setdefault(name, []).extend((ply, number))
    fitting = dict(_fitting_series(numbers, order))
    shown = [name for name in names if any(name in each for each in fitting.values())]
    return {"names": shown, "games": fitting}


def _said(report: ReportData) -> Iterator[tuple[int, int, Mapping[str, float]]]:
    """Game, ply and the numbers of every thought."""
    assert report.directory is not None  # asked before
    columns = ("game", "ply", *PLAIN, "data")
    for table in iter_rows(report.directory / SEARCH_INFO, columns):
        for row in zip(*(table[name] for name in columns), strict=True):
            plain = dict(zip(PLAIN, row[2:-1], strict=True))
            said = {name: each for name, each in plain.items() if each is not None}
            yield row[0], row[1], {**_numbers(said), **_numbers(json.loads(row[-1] or "{}"))}


def _numbers(said: Mapping[str, object]) -> dict[str, float]:
    """What of it is a number, in as many digits as a figure shows."""
    found = {}
    for name, value in said.items():
        try:
            number = float(str(value))
        except ValueError:
            continue
        if math.isfinite(number):
            found[name] = float(f"{number:.{DIGITS}g}")
    return found


def _fitting_series(
    numbers: Mapping[int, Series], order: list[int]
) -> Iterator[tuple[int, Series]]:
    """The first games in this order that fit on a page."""
    left = MOST_NUMBERS
    for game in dict.fromkeys(order):
        if game in numbers:
            left -= sum(map(len, numbers[game].values()))
            if left < 0:
                return
            yield game, numbers[game]


def games_json(report: ReportData) -> str:
    """Everything that the list and the replay read."""
    games, rows = report.games, listed_rows(report)
    listed = games.at(rows)
    lines = games.texts("moves", rows.tolist())
    content: dict[str, object] = {
        "game": report.plan.game,
        "board": board_rules(report.plan.of),
        "agents": games.names,
        "elo": _elos(report),
        "endings": games.endings,
        "total": games.size,
        "n": rows.tolist(),
        "f": listed.first.tolist(),
        "s": listed.second.tolist(),
        "k": listed.mover.tolist(),
        "r": (2 * listed.result).astype(int).tolist(),
        "m": listed.margin.tolist(),
        "p": listed.plies.tolist(),
        "o": listed.opening.tolist(),
        "e": listed.ending.tolist(),
        "forfeits": np.flatnonzero(games.forfeited(listed)).tolist(),
        "against": np.flatnonzero(counterexamples(report, listed)).tolist(),
        "claim": "Against the claim" if any_fails(report) else "Not won",
        "openings": _openings(report, listed.opening, rows),
        "moves": None if lines is None else _fitting(lines),
        "command": _command(report),
        "run": next(iter(commands(report)), None),
        "explain": _explain(report),
        "values": exact_values(report, rows),
        "usual": report.losses.usual if report.losses else None,
        "thoughts": agent_thoughts(report, lambda: rows_by_priority(report, rows)),
    }
    if lines is not None and board_rules(report.plan.of)["kind"] == "text":
        content["drawn"] = text_boards(report, rows, lines)
    return json_for_script(content)


def json_for_script(content: object) -> str:
    """JSON that no script element ends before its time."""
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def listed_rows(report: ReportData) -> Rows:
    """The rows of the games that are listed: all, or those that stand out and every nth."""
    games = report.games.size
    if games <= MOST_LISTED:
        return np.arange(games)
    out = notable_rows(report, EACH_QUESTION)
    left = MOST_LISTED - len(out)
    evenly = np.arange(left, dtype=np.int64) * (games - len(out)) // left
    # The places among the others as rows of all: each skips those that stand out before it.
    rest = evenly + np.searchsorted(out - np.arange(len(out)), evenly, side="right")
    return np.sort(np.concatenate([out, rest]))


def notable_rows(report: ReportData, most: int) -> Rows:
    """The first games that each question of the list finds."""
    best = [SmallestRows(most) for _ in range(7)]
    for start, games in report.games.numbered():
        decided = games.result != 0.5
        asked = (
            np.where(counterexamples(report, games), 0, LAST),
            np.where(report.games.forfeited(games), 0, LAST),
            np.where(decided, LAST, 0),
            -_surprise(report, games),
            np.where(decided, np.abs(games.margin), LAST - 1),  # draws after all others
            games.plies,
            -games.plies,
        )
        for least, numbers in zip(best, asked, strict=True):
            least.take(start, numbers)
    return np.unique(np.concatenate([least.rows for least in best]))


def rows_by_priority(report: ReportData, rows: Rows) -> list[int]:
    """The games in the order in which as much of them as fits is on the page."""
    return [*notable_rows(report, EACH_BOARD).tolist(), *rows.tolist()]


class SmallestRows:
    """The rows of the smallest numbers so far, the first of equals; those that are LAST never."""

    def __init__(self, most: int) -> None:
        """At most so many rows."""
        self.most, self.rows = most, np.empty(0, np.int64)
        self._numbers = np.empty(0)

    def take(self, start: int, numbers: NDArray[np.int64] | NDArray[np.float64]) -> None:
        """Take the numbers of the rows from `start` on."""
        # Later ones that are no smaller than all that are kept come after them.
        full = len(self._numbers) == self.most
        rows = np.flatnonzero(numbers < (self._numbers[-1] if full else LAST))
        if not len(rows):
            return
        rows = rows[np.argsort(numbers[rows], kind="stable")[: self.most]]
        whole = np.concatenate([self._numbers, numbers[rows]])
        kept = np.argsort(whole, kind="stable")[: self.most]
        self.rows = np.concatenate([self.rows, start + rows])[kept]
        self._numbers = whole[kept]


def _surprise(report: ReportData, games: GameChunk) -> NDArray[np.float64]:
    """By how much the winner's rating lies below the loser's."""
    elos = np.array([elo or 0.0 for elo in _elos(report)])
    surprise: NDArray[np.float64] = elos[games.second] - elos[games.first]
    surprise *= np.sign(games.result - 0.5)
    return surprise


def _elos(report: ReportData) -> list[float | None]:
    """The ratings by the places of the agents; None for all where there is a standing."""
    known = {row.agent: row.elo for row in report.ratings}
    found = [known.get(name) for name in report.games.names]
    return [None] * len(found) if report.standing else found


def any_fails(report: ReportData) -> bool:
    """Whether a check fails."""
    return any(check["status"] == FAILS for check in report.checks)


def counterexamples(report: ReportData, games: GameChunk) -> NDArray[np.bool_]:
    """Which of these games speak against a check that fails, or were not won of all."""
    found = np.zeros(len(games.result), np.bool_)
    places = {name: place for place, name in enumerate(report.games.names)}
    for check in report.checks:
        winner, beats, loser = (part.strip() for part in str(check["that"]).partition(BEATS))
        if check["status"] != FAILS and check["test"] != "always":
            continue
        if check["test"] == "no_forfeits":
            found |= report.games.forfeited(games)
        if beats and winner in places and loser in places:
            a, b = places[winner], places[loser]
            found |= (games.first == a) & (games.second == b) & (games.result < 1.0)
            found |= (games.first == b) & (games.second == a) & (games.result > 0.0)
    return found


def exact_values(report: ReportData, rows: Rows) -> dict[int, list[object]] | None:
    """What a judge knows of the moves of each game; None for a run that nobody has judged.

    A move is None, or its margin with what it lost, in points and in results, and a best move.
    """
    losses, found = report.losses, dict[int, list[object]]()
    if losses is None:
        return None
    for row in rows.tolist():
        own = losses.of_game(row)
        if losses.known[own].any():
            found[row] = [_value(losses, at) for at in range(own.start, own.stop)]
    return found


def _value(losses: MoveLosses, at: int) -> list[object] | None:
    if not losses.known[at]:
        return None
    after, lost = int(losses.after[at]), int(losses.loss[at])
    return [after, lost, int(losses.result_loss[at]), losses.best[at]] if lost else [after]


def _openings(report: ReportData, openings: Rows, rows: Rows) -> dict[str, str]:
    """The moves of the openings that are listed, by their numbers."""
    numbers, firsts = np.unique(openings, return_index=True)
    moves = report.games.texts("opening_moves", rows[firsts].tolist()) or []
    return {str(number): line or "" for number, line in zip(numbers.tolist(), moves, strict=False)}


def _fitting(lines: Sequence[str | None]) -> list[str | None]:
    """The moves of as many games as fit on a page, spread evenly over the list."""
    texts: list[str | None] = list(lines)
    lengths = np.array([len(text or "") for text in texts])
    if lengths.sum() <= MOST_MOVES:
        return texts
    share = MOST_MOVES / lengths.sum()
    kept = np.floor(np.arange(1, len(texts) + 1) * share) > np.floor(np.arange(len(texts)) * share)
    return [text if keep else None for text, keep in zip(texts, kept.tolist(), strict=True)]


def _command(report: ReportData) -> str:
    """The command that shows a game, without its moves."""
    return replay_command_for_line(report.plan.of, "").removesuffix('""')


def _explain(report: ReportData) -> str | None:
    """Return the first words of the command that explains a move, up to the place."""
    if report.directory is None:
        return None
    return f"pitflip game {shlex.quote(relative_path(report.directory))}"


def board_rules(of: Game) -> dict[str, object]:
    """What the page has to know of the rules to draw the boards; text for every other game."""
    kind = DRAWN.get(of.package) if of.source is None else None
    if kind == "sowing":
        return {"kind": kind, **asdict(of.rules)}
    if kind == "othello":
        return {"kind": kind, "size": of.rules.size, "adjacency": bool(of.rules.adjacency)}
    return {"kind": "text"}


def text_boards(
    report: ReportData, rows: Rows, lines: Sequence[str | None]
) -> dict[int, list[object]]:
    """The boards of as many games as fit, those that stand out first, after the sides that move.

    A board is a text, or what changes in the one before: place, letter, place, letter, ...
    """
    of, found, plies = report.plan.of, dict[int, list[object]](), 0
    assert of is not None  # as above
    by_row = dict(zip(rows.tolist(), lines, strict=True))
    for row in dict.fromkeys(rows_by_priority(report, rows)):
        if plies > MOST_PLIES:
            break
        if (line := by_row.get(row)) is not None:
            positions = of.replay(line)
            boards = [of.draw(position) for position in positions]
            movers = "".join(str(of.mover(position)) for position in positions)
            found[row] = [movers, boards[0], *(board_diff(*each) for each in pairwise(boards))]
            plies += len(boards)
    return found


def board_diff(before: str, after: str) -> object:
    """A board by what changes; the whole text where that is much."""
    places = [place for place, (a, b) in enumerate(zip(before, after, strict=False)) if a != b]
    if len(before) != len(after) or len(places) > MOST_CHANGES:
        return after
    return [each for place in places for each in (place, after[place])]
