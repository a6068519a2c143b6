"""The games of a page as JSON: the list with its questions, and what a replay needs."""

import json
from dataclasses import asdict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.concluding.checks import FAILS
from arena.showing.report.answer import BEATS
from arena.showing.report.method import commands
from arena.showing.report_contents import Report
from games import Game
from games.transcripts import replay_command

MOST_LISTED = 10_000
EACH_QUESTION = 500  # games that stand out in some way, where not all are listed
MOST_MOVES = 1_800_000  # characters of moves on a page
MOST_BOARDS = 400_000  # characters of boards, of games that are drawn as text
MOST_PLIES = 6_000  # boards that are drawn as text
DRAWN = {"games.sowing": "sowing", "games.othello": "othello"}  # packs that the page can draw
Rows = NDArray[np.int64]


class Boards(NamedTuple):
    """Boards as text: the different ones, and those of every game by their places."""

    texts: list[str]
    games: dict[int, list[int]]  # by row


def games_json(report: Report) -> str:
    """Everything that the list and the replay read."""
    games, rows = report.games, listed_rows(report)
    lines = games.texts("moves", rows.tolist())
    content: dict[str, object] = {
        "game": report.plan.game,
        "board": board_rules(report.plan.of),
        "agents": games.names,
        "elo": _elos(report),
        "endings": games.endings,
        "total": len(games),
        "n": rows.tolist(),
        "f": games.first[rows].tolist(),
        "s": games.second[rows].tolist(),
        "r": (2 * games.result[rows]).astype(int).tolist(),
        "m": games.margin[rows].tolist(),
        "p": games.plies[rows].tolist(),
        "o": games.opening[rows].tolist(),
        "e": games.ending[rows].tolist(),
        "forfeits": np.flatnonzero(games.forfeited[rows]).tolist(),
        "against": np.flatnonzero(against_claims(report)[rows]).tolist(),
        "openings": _openings(report, rows),
        "moves": None if lines is None else _fitting(lines),
        "command": _command(report),
        "run": next(iter(commands(report)), None),
        "values": None,
    }
    if lines is not None and board_rules(report.plan.of)["kind"] == "text":
        boards = text_boards(report.plan.of, rows, lines)
        content["boards"], content["drawn"] = boards.texts, boards.games
    return in_script(content)


def in_script(content: object) -> str:
    """JSON that no script element ends before its time."""
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def listed_rows(report: Report) -> Rows:
    """The rows of the games that are listed: all, or those that stand out and every nth."""
    games = report.games
    if len(games) <= MOST_LISTED:
        return np.arange(len(games))
    margin = np.abs(games.margin)
    chosen = [
        np.flatnonzero(against_claims(report))[:EACH_QUESTION],
        np.flatnonzero(games.forfeited)[:EACH_QUESTION],
        np.flatnonzero(games.result == 0.5)[:EACH_QUESTION],
        _least(-_surprise(report)),
        _least(np.where(margin > 0, margin, margin.max() + 1)),
        _least(games.plies),
        _least(-games.plies),
    ]
    out = np.unique(np.concatenate(chosen))
    rest = MOST_LISTED - len(out)
    evenly = np.arange(rest, dtype=np.int64) * len(games) // rest
    return np.unique(np.concatenate([out, evenly]))


def _least(numbers: NDArray[np.int64] | NDArray[np.float64]) -> Rows:
    return np.argpartition(numbers, EACH_QUESTION)[:EACH_QUESTION]


def _surprise(report: Report) -> NDArray[np.float64]:
    """By how much the winner's rating lies below the loser's."""
    elos = np.array([elo or 0.0 for elo in _elos(report)])
    games = report.games
    surprise: NDArray[np.float64] = elos[games.second] - elos[games.first]
    surprise *= np.sign(games.result - 0.5)
    return surprise


def _elos(report: Report) -> list[float | None]:
    """The ratings by the places of the agents; None for all where there is a standing."""
    known = {row.agent: row.elo for row in report.ratings}
    found = [known.get(name) for name in report.games.names]
    return [None] * len(found) if report.standing else found


def against_claims(report: Report) -> NDArray[np.bool_]:
    """The games that speak against a check that fails."""
    games, found = report.games, np.zeros(len(report.games), np.bool_)
    places = {name: place for place, name in enumerate(games.names)}
    for check in report.checks:
        winner, beats, loser = (part.strip() for part in str(check["that"]).partition(BEATS))
        if check["status"] != FAILS:
            continue
        if check["test"] == "no_forfeits":
            found |= games.forfeited
        if beats and winner in places and loser in places:
            a, b = places[winner], places[loser]
            found |= (games.first == a) & (games.second == b) & (games.result < 1.0)
            found |= (games.first == b) & (games.second == a) & (games.result > 0.0)
    return found


def _openings(report: Report, rows: Rows) -> dict[str, str]:
    """The moves of the openings that are listed, by their numbers."""
    numbers, firsts = np.unique(report.games.opening[rows], return_index=True)
    moves = report.games.texts("opening_moves", rows[firsts].tolist()) or []
    return {str(number): line for number, line in zip(numbers.tolist(), moves, strict=False)}


def _fitting(lines: object) -> list[str | None]:
    """The moves of as many games as fit on a page, the shortest lines first kept whole."""
    texts: list[str | None] = [str(line) for line in lines]  # type: ignore[attr-defined]
    lengths = np.array([len(text or "") for text in texts])
    if lengths.sum() <= MOST_MOVES:
        return texts
    share = MOST_MOVES / lengths.sum()
    kept = np.floor(np.arange(1, len(texts) + 1) * share) > np.floor(np.arange(len(texts)) * share)
    return [text if keep else None for text, keep in zip(texts, kept.tolist(), strict=True)]


def _command(report: Report) -> str:
    """The command that shows a game, without its moves."""
    return replay_command(report.plan.of, ()).removesuffix('""')


def board_rules(of: Game) -> dict[str, object]:
    """What the page has to know of the rules to draw the boards; text for every other game."""
    kind = DRAWN.get(of.package) if of.source is None else None
    if kind == "sowing":
        return {"kind": kind, **asdict(of.rules)}
    if kind == "othello":
        return {"kind": kind, "size": of.rules.size, "adjacency": bool(of.rules.adjacency)}
    return {"kind": "text"}


def text_boards(of: Game, rows: Rows, lines: object) -> Boards:
    """The boards of as many games as fit, each as `draw` prints it; the first games first."""
    places: dict[str, int] = {}
    games: dict[int, list[int]] = {}
    plies = size = 0
    for row, line in zip(rows.tolist(), lines, strict=True):  # type: ignore[call-overload]
        if plies > MOST_PLIES or size > MOST_BOARDS:
            break
        boards = [of.draw(position) for position in of.replay(line)]
        for board in boards:
            if board not in places:
                places[board] = len(places)
                size += len(board)
        games[row] = [places[board] for board in boards]
        plies += len(boards)
    return Boards(list(places), games)
