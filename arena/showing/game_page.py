"""The page of one game that was played at the terminal: its replay, at an address of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from arena.showing.html import Html, isolated, joined, name_of, tag
from arena.showing.report.games_on_page import board_rules, changed, in_script
from arena.showing.report.whole_page import document
from games import Game, Position
from games.transcripts import command_of


@dataclass(frozen=True, slots=True)
class ShownGame:
    """A game as far as it was played; `ending` is its last sentence."""

    of: Game
    names: tuple[str, str]
    positions: Sequence[Position]
    moves: Sequence[int]
    ending: str


def game_page(shown: ShownGame) -> str:
    """The page, opened at the last move."""
    first, second = shown.names
    heading = f"{isolated(first)} against {isolated(second)} at {shown.of.name}"
    lead = tag("p", shown.ending, class_="answer")
    header = tag("header", tag("h1", name_of(first), " against ", name_of(second),
                               f" at {shown.of.name}"), lead)  # fmt: skip
    return document(heading, joined([header, _replay()]), in_script(_content(shown)))


def _replay() -> Html:
    return tag(
        "section",
        tag("h2", "The game", id="games-h"),
        tag("div", id="replay"),
        tag("div", id="list", hidden=True),
        tag("noscript", tag("p", "The replay needs JavaScript.", class_="nothing")),
        id="games",
        aria_labelledby="games-h",
    )


def _content(shown: ShownGame) -> dict[str, object]:
    """What the script reads: a list of one game."""
    of, start = shown.of, shown.positions[0]
    from_start = start == of.start()
    board = board_rules(of) if from_start else {"kind": "text"}
    margin = of.margin(shown.positions[-1]) if of.over(shown.positions[-1]) else 0
    one: dict[str, object] = {
        "n": [0], "f": [0], "s": [1], "r": [1 + (margin > 0) - (margin < 0)], "m": [margin],
        "p": [len(shown.moves)], "o": [0], "e": [0],
    }  # fmt: skip
    if board["kind"] == "text":
        boards = [of.draw(position, shown.names) for position in shown.positions]
        movers = "".join(str(of.mover(position)) for position in shown.positions)
        one["drawn"] = {0: [movers, boards[0], *(changed(*each) for each in pairwise(boards))]}
    before, _, after = command_of(of, "", start).partition('""')
    ending = "normal" if of.over(shown.positions[-1]) else "unfinished"
    nothing = dict.fromkeys(("values", "usual", "run", "explain"))
    return one | nothing | {
        "game": of.name, "board": board, "agents": list(shown.names), "elo": [None, None],
        "endings": [ending], "total": 1, "forfeits": [], "against": [], "openings": {},
        "moves": [of.write(shown.moves, start)], "command": f"{before.rstrip()}{after} ",
    }  # fmt: skip
