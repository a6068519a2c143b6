"""The game list and the replay data of a page as JSON."""

import json
import math
import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from arena.analysis.checks.registry import FAILS
from arena.report.answer import BEATS
from arena.report.data import Flags, GameChunk, MoveLosses, Numbers, Reals, ReportData
from arena.report.html import Html, join, tag
from arena.report.methods import commands, relative_path
from arena.storage.game_table import SEARCH_INFO
from arena.storage.parquet import iter_rows
from games import Game, Position
from games.transcripts import replay_command_for_line

MOST_NUMBERS = 120_000  # of search information on a page
MOST_NAMES = 12
PLAIN = ("value", "depth", "nodes", "seconds")
DIGITS = 6
Series = dict[str, list[float]]  # by name: ply, number, ply, number, ...
MOST_LISTED = 10_000
MOST_NOTABLE = 500  # games for each question of the list, where not all games are listed
MOST_MOVES = 1_800_000  # characters of moves on a page
MOST_PLIES = 12_000  # boards that are drawn as text
MOST_BOARDS = 40  # games for each question whose boards come first
MOST_CHANGES = 16  # letters
LAST = 1 << 40  # larger than all numbers that are compared
DRAWABLE = {"games.sowing": "sowing", "games.othello": "othello"}  # packs that the page can draw


def games_parts(lead: str, hide_list: bool = False) -> Sequence[Html]:
    """Return the sentence above the list and the replay, and their places on the page."""
    needs = f"The {'replay needs' if hide_list else 'list and the replay need'} JavaScript."
    return (
        tag("p", lead, class_="lead") if lead else join(()),
        tag("div", id="replay"),
        tag("div", id="list", hidden=hide_list),
        tag("noscript", tag("p", needs, class_="nothing")),
    )


def games_json(report: ReportData, rows: Numbers | None = None, is_public: bool = False) -> str:
    """Return everything that the list and the replay read, by default of all listed games.

    A public page has no path and no command that needs the run.
    """
    games, rows = report.games, rows_on_page(report) if rows is None else rows
    some = games.take(rows)
    lines = games.texts("moves", rows.tolist())
    board = board_rules(report.plan.game)
    fails = any(check["status"] == FAILS for check in report.checks)
    content: dict[str, object] = {
        "game": report.plan.game_name,
        "board": board,
        "agents": games.names,
        "elo": report.elos,
        "endings": games.endings,
        "total": games.size,
        "n": rows.tolist(),
        "f": some.first.tolist(),
        "s": some.second.tolist(),
        "k": some.mover.tolist(),
        "r": (2 * some.result).astype(int).tolist(),
        "m": some.margin.tolist(),
        "p": some.plies.tolist(),
        "o": some.opening.tolist(),
        "e": some.ending.tolist(),
        "forfeits": np.flatnonzero(games.forfeits(some)).tolist(),
        "against": np.flatnonzero(counterexamples(report, some)).tolist(),
        "claim": "Against the claim" if fails else "Not won",
        "openings": _openings(report, some.opening, rows),
        "moves": None if lines is None else _moves_that_fit(lines),
        "command": replay_command(report.plan.game, is_public),
        "run": None if is_public else next(iter(commands(report)), None),
        "explain": None if is_public else _explain_command(report),
        "values": exact_values(report, rows),
        "usual": report.losses.typical_margin if report.losses else None,
        "thoughts": None
        if is_public
        else search_info(report, lambda: rows_by_priority(report, rows)),
    }
    if lines is not None and board["kind"] == "text":
        content["drawn"] = text_boards(report, rows, lines)
    return json_for_script(content)


def json_for_script(content: object) -> str:
    """Return JSON that cannot end a script element."""
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def replay_command(game: Game, is_public: bool = False) -> str:
    """Return the command that replays a game, before its moves; a public one has no path."""
    command = replay_command_for_line(game, "").removesuffix('""')
    if game.source is not None and is_public:
        command = command.replace(os.path.relpath(game.source), game.source.name)
    return command


def _explain_command(report: ReportData) -> str | None:
    if report.directory is None:
        return None
    return f"pitflip game {shlex.quote(relative_path(report.directory))}"


# ------------------------------------------------------------------------- selection


def rows_on_page(report: ReportData) -> Numbers:
    """Return the rows of the listed games: all, or notable games and every nth of the others."""
    games = report.games.size
    if games <= MOST_LISTED:
        return np.arange(games)
    notable = notable_rows(report, MOST_NOTABLE)
    left = MOST_LISTED - len(notable)
    evenly = np.arange(left, dtype=np.int64) * (games - len(notable)) // left
    # Convert places among the other games to rows: skip the notable games before each place.
    rest = evenly + np.searchsorted(notable - np.arange(len(notable)), evenly, side="right")
    return np.sort(np.concatenate([notable, rest]))


def notable_rows(report: ReportData, most: int) -> Numbers:
    """Return the first games that each question of the list finds."""
    best = [SmallestRows(most) for _ in range(7)]
    for start, games in report.games.chunks_with_rows():
        decided = games.result != 0.5
        orders = (
            np.where(counterexamples(report, games), 0, LAST),
            np.where(report.games.forfeits(games), 0, LAST),
            np.where(decided, LAST, 0),
            -_upset_sizes(report, games),
            np.where(decided, np.abs(games.margin), LAST - 1),  # draws after all others
            games.plies,
            -games.plies,
        )
        for smallest, numbers in zip(best, orders, strict=True):
            smallest.add(start, numbers)
    return np.unique(np.concatenate([smallest.rows for smallest in best]))


def rows_by_priority(report: ReportData, rows: Numbers) -> list[int]:
    """Return the rows in the order in which a page gets their boards and search information."""
    return [*notable_rows(report, MOST_BOARDS).tolist(), *rows.tolist()]


class SmallestRows:
    """The rows of the `most` smallest numbers so far, earlier rows first; never of LAST."""

    def __init__(self, most: int) -> None:
        self.most, self.rows = most, np.empty(0, np.int64)
        self._numbers = np.empty(0)

    def add(self, start: int, numbers: Numbers | Reals) -> None:
        """Add the numbers of the rows from `start` on."""
        # A number that is not smaller than all stored ones comes after them.
        full = len(self._numbers) == self.most
        rows = np.flatnonzero(numbers < (self._numbers[-1] if full else LAST))
        rows = rows[np.argsort(numbers[rows], kind="stable")[: self.most]]
        all_numbers = np.concatenate([self._numbers, numbers[rows]])
        kept = np.argsort(all_numbers, kind="stable")[: self.most]
        self.rows = np.concatenate([self.rows, start + rows])[kept]
        self._numbers = all_numbers[kept]


def _upset_sizes(report: ReportData, games: GameChunk) -> NDArray[np.float64]:
    """Return by how much the winner's rating is below the loser's."""
    elos = np.array([elo or 0.0 for elo in report.elos])
    sizes: NDArray[np.float64] = elos[games.second] - elos[games.first]
    sizes *= np.sign(games.result - 0.5)
    return sizes


def counterexamples(report: ReportData, games: GameChunk) -> Flags:
    """Return which games contradict a check that fails, or were not won where all should be."""
    found = np.zeros(len(games.result), np.bool_)
    places = {name: place for place, name in enumerate(report.games.names)}
    for check in report.checks:
        winner, beats, loser = (part.strip() for part in str(check["that"]).partition(BEATS))
        if check["status"] != FAILS and check["test"] != "always":
            continue
        if check["test"] == "no_forfeits":
            found |= report.games.forfeits(games)
        if beats and winner in places and loser in places:
            a, b = places[winner], places[loser]
            found |= (games.first == a) & (games.second == b) & (games.result < 1.0)
            found |= (games.first == b) & (games.second == a) & (games.result > 0.0)
    return found


# ------------------------------------------------------------------------- contents


def _openings(report: ReportData, openings: Numbers, rows: Numbers) -> dict[str, str]:
    """Return the moves of the listed openings by number."""
    numbers, firsts = np.unique(openings, return_index=True)
    moves = report.games.texts("opening_moves", rows[firsts].tolist()) or []
    return {str(number): line or "" for number, line in zip(numbers.tolist(), moves, strict=False)}


def _moves_that_fit(lines: Sequence[str | None]) -> list[str | None]:
    """Return the moves of as many games as fit on a page, spread evenly over the list."""
    texts: list[str | None] = list(lines)
    characters = sum(len(text or "") for text in texts)
    if characters <= MOST_MOVES:
        return texts
    share = MOST_MOVES / characters
    kept = np.floor(np.arange(1, len(texts) + 1) * share) > np.floor(np.arange(len(texts)) * share)
    return [text if keep else None for text, keep in zip(texts, kept.tolist(), strict=True)]


def exact_values(report: ReportData, rows: Numbers) -> dict[int, list[object]] | None:
    """Return the judged moves of each game; None for a run that was not judged.

    A move is None, or its margin, and for a mistake also the loss in points and in results and a
    best move.
    """
    losses, found = report.losses, dict[int, list[object]]()
    if losses is None:
        return None
    for row in rows.tolist():
        own = losses.game_slice(row)
        if losses.known[own].any():
            found[row] = [_move_value(losses, at) for at in range(own.start, own.stop)]
    return found


def _move_value(losses: MoveLosses, at: int) -> list[object] | None:
    if not losses.known[at]:
        return None
    after, lost = int(losses.after[at]), int(losses.loss[at])
    return [after, lost, int(losses.result_loss[at]), losses.best[at]] if lost else [after]


def search_info(report: ReportData, priority: Callable[[], list[int]]) -> dict[str, object] | None:
    """Return names and numbers of what agents reported about their searches.

    Games come in the order of `priority` while they fit. None for a run that kept none.
    """
    if report.directory is None or not (report.directory / SEARCH_INFO).exists():
        return None
    order, numbers = priority(), dict[int, Series]()
    wanted, names = set(order), dict.fromkeys(PLAIN)
    columns = ("game", "ply", *PLAIN, "data")
    for table in iter_rows(report.directory / SEARCH_INFO, columns):
        for game, ply, *plain, data in zip(*(table[name] for name in columns), strict=True):
            if game not in wanted:
                continue
            series = numbers.setdefault(game, {})
            values = {**dict(zip(PLAIN, plain, strict=True)), **json.loads(data or "{}")}
            for name, number in _finite_numbers(values):
                if name in names or len(names) < MOST_NAMES:
                    names[name] = None
                    series.setdefault(name, []).extend((ply, number))
    fitting = dict(_series_that_fit(numbers, order))
    shown = [name for name in names if any(name in each for each in fitting.values())]
    return {"names": shown, "games": fitting}


def _finite_numbers(values: Mapping[str, object]) -> Iterator[tuple[str, float]]:
    for name, value in values.items():
        try:
            number = float(str(value))
        except ValueError:
            continue
        if math.isfinite(number):
            yield name, float(f"{number:.{DIGITS}g}")


def _series_that_fit(
    numbers: Mapping[int, Series], order: list[int]
) -> Iterator[tuple[int, Series]]:
    left = MOST_NUMBERS
    for game in dict.fromkeys(order):
        if game in numbers:
            left -= sum(map(len, numbers[game].values()))
            if left < 0:
                return
            yield game, numbers[game]


# ------------------------------------------------------------------------- boards


def board_rules(game: Game) -> dict[str, object]:
    """Return the rules by which the page draws a board; other games have boards as text."""
    kind = DRAWABLE.get(game.package) if game.source is None else None
    if kind == "sowing":
        return {"kind": kind, **asdict(game.rules)}
    if kind == "othello":
        return {"kind": kind, "size": game.rules.size, "adjacency": bool(game.rules.adjacency)}
    return {"kind": "text"}


def text_boards(
    report: ReportData, rows: Numbers, lines: Sequence[str | None]
) -> dict[int, list[object]]:
    """Return the boards of as many games as fit, in the order of priority."""
    game, found, plies = report.plan.game, dict[int, list[object]](), 0
    by_row = dict(zip(rows.tolist(), lines, strict=True))
    for row in dict.fromkeys(rows_by_priority(report, rows)):
        if plies > MOST_PLIES:
            break
        if (line := by_row.get(row)) is not None:
            positions = game.replay(line)
            found[row] = board_texts(game, positions)
            plies += len(positions)
    return found


def board_texts(
    game: Game, positions: Sequence[Position], names: tuple[str, str] | None = None
) -> list[object]:
    """Return the sides to move as digits, the first board, and the changes of each next board."""
    boards = [game.draw(position, names) for position in positions]
    movers = "".join(str(game.mover(position)) for position in positions)
    return [movers, boards[0], *(board_diff(*each) for each in pairwise(boards))]


def board_diff(before: str, after: str) -> object:
    """Return the changes of a board as place, letter, place, ...; the board if they are many."""
    places = [place for place, (a, b) in enumerate(zip(before, after, strict=False)) if a != b]
    if len(before) != len(after) or len(places) > MOST_CHANGES:
        return after
    return [each for place in places for each in (place, after[place])]
