"""Play a game in the browser: the page, its server and the game behind it."""

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

from agents.core import Agent, AgentFailure, AgentSpec, Resignation
from agents.kinds.human import Dialogue
from agents.registry import build
from agents.search.explanation import has_own_values, move_values, value_meaning
from arena.report.document import BOARDS, document
from arena.report.games import board_rules, json_for_script
from arena.report.html import isolate, join, name_of, tag
from arena.report.local_server import JSON, LocalHandler, LocalServer
from arena.report.page import PlayedGame, game_page
from arena.terminal.human_game import HumanGame, MoveValues, bounds_text
from games import Game

SCRIPTS = (*BOARDS, "play.js")
MAX_BODY = 1 << 10  # bytes of a request
HINT_SECONDS = 2.0  # of solving


class SilentDialogue(Dialogue):
    """Keeps the last line that would be printed."""

    def __init__(self) -> None:
        super().__init__()
        self.last = ""

    def say(self, text: str = "") -> None:
        """Keep the text."""
        self.last = text.strip() or self.last


class BrowserGame:
    """A game between people and agents; one request at a time changes it."""

    def __init__(self, game: HumanGame) -> None:
        self.game, self.lock = game, threading.Lock()
        self.failure: AgentFailure | None = None
        self.is_stopped = False  # by a resignation or a fault
        self.values: MoveValues | None = None

    def state(self) -> dict[str, object]:
        """Return everything that the page shows of the game."""
        shown, game = self.game, self.game.game
        over = self.is_stopped or game.over(shown.position)
        waits = not over and self._person_moves()
        legal = game.legal(shown.position) if waits else ()
        start = shown.positions[0]
        return {
            "words": [
                game.move_text(before, move)
                for before, move in zip(shown.positions, shown.moves, strict=False)
            ],
            "legal": [game.move_text(shown.position, move) for move in legal],
            "mover": None if over else game.mover(shown.position),
            "waits": waits,
            "over": over,
            "ending": self._ending() if over else "",
            "score": list(game.score(shown.position)),
            "text": game.draw(shown.position, self._names()) if is_text(game, start) else None,
        }

    def move(self, word: str) -> None:
        """Make a person's move; moves that are not legal are ignored, as after a double click."""
        game, position = self.game.game, self.game.position
        legal = {game.move_text(position, move): move for move in game.legal(position)}
        if self._person_moves() and word in legal:
            self.game.make_move(legal[word])

    def answer(self) -> None:
        """Make the next move of an agent, or a forced pass."""
        shown = self.game
        if self.is_stopped or shown.game.over(shown.position) or self._person_moves():
            return
        try:
            shown.play_ply()
        except Resignation:
            shown.finish(shown.resignation_text())
            self.is_stopped = True
        except AgentFailure as error:
            self.failure, self.is_stopped = error, True
            shown.ending = str(error).partition("\n")[0]

    def undo(self) -> None:
        """Take back the last move of a person."""
        self.game.take_back()
        self.is_stopped = False

    def restart(self) -> None:
        """Start again from the first position."""
        self.game.restart()
        self.is_stopped = False

    def hint(self) -> dict[str, object]:
        """Return the value of each move, by an agent and exactly where it can be solved."""
        game, position = self.game.game, self.game.position
        agent, name = self._adviser()
        choice = agent.choose(position)
        values = {each.move: each for each in move_values(agent, game, position, choice)}
        self.values = self.values or MoveValues(game, HINT_SECONDS)
        exact = dict(self.values.solve(position).moves)
        return {
            "agent": name,
            "meaning": value_meaning(agent) or "its evaluation",
            "moves": [
                {
                    "word": game.move_text(position, move),
                    "value": f"{each.bound}{each.value:+.4g}" if each.value is not None else "",
                    "exact": bounds_text(exact[move]) if move in exact else "?",
                    "chosen": move == choice.move,
                }
                for move, each in values.items()
            ],
        }

    def replay(self) -> str:
        """Return the page that replays the game."""
        shown = self.game
        ending = self._ending() if self.is_stopped or self._is_over() else shown.ending
        return game_page(
            PlayedGame(shown.game, self._names(), shown.positions, shown.moves, ending)
        )

    def _is_over(self) -> bool:
        return self.game.game.over(self.game.position)

    def _ending(self) -> str:
        if not self.is_stopped:
            self.game.ending = self.game.result_text().splitlines()[-1]
        return self.game.ending

    def _names(self) -> tuple[str, str]:
        return self.game.players[0].name, self.game.players[1].name

    def _person_moves(self) -> bool:
        shown = self.game
        legal = shown.game.legal(shown.position)
        player = shown.players[shown.game.mover(shown.position)]
        return player.is_person and bool(legal) and legal != (shown.game.pass_move,)

    def _adviser(self) -> tuple[Agent, str]:
        """Return an opponent with values of moves, or `smart`."""
        for player in self.game.players:
            if has_own_values(player.agent):
                return player.agent, player.name
        agent = build(AgentSpec("smart"), self.game.game)
        agent.start(self.game.seed)
        return agent, "smart"


def is_text(game: Game, start: object) -> bool:
    """Return whether the page shows the board as text."""
    return board_rules(game)["kind"] == "text" or start != game.start()


def play_page(game: HumanGame) -> str:
    """Return the page on which a person plays."""
    names = [player.name for player in game.players]
    of, start = game.game, game.positions[0]
    title = f"{isolate(names[0])} against {isolate(names[1])} at {of.name}"
    heading = tag("h1", name_of(names[0]), " against ", name_of(names[1]), f" at {of.name}")
    data: Mapping[str, object] = {
        "agents": names,
        "people": [player.is_person for player in game.players],
        "board": {"kind": "text"} if is_text(of, start) else board_rules(of),
    }
    no_script = tag("noscript", tag("p", "Playing needs JavaScript.", class_="nothing"))
    body = join([tag("header", heading), tag("div", id="play"), no_script])
    return document(
        title, body, json_for_script(data), scripts=SCRIPTS, connects=True, main_part="board"
    )


class GameServer(LocalServer):
    """Serves one game to a browser."""

    def __init__(self, game: BrowserGame) -> None:
        super().__init__(_Handler)
        self.game = game


class _Handler(LocalHandler):
    server: GameServer

    def do_GET(self) -> None:
        name = self.requested_name()
        if name is None:
            return
        with self.server.game.lock:
            if name == "":
                self.reply(200, play_page(self.server.game.game).encode())
            elif name == "state":
                self._send(self.server.game.state())
            elif name == "replay":
                self.reply(200, self.server.game.replay().encode())
            else:
                self.reply(404)

    do_HEAD = do_GET

    def do_POST(self) -> None:
        name = self.requested_name()
        if name is None:
            return
        body = self._body()
        game = self.server.game
        actions: dict[str, Callable[[], object]] = {
            "move": lambda: game.move(str(body.get("move", ""))),
            "answer": game.answer,
            "undo": game.undo,
            "restart": game.restart,
            "hint": game.hint,
        }
        if name not in actions:
            self.reply(404)
            return
        with game.lock:
            found = actions[name]()
            self._send(found if name == "hint" else game.state())

    def _body(self) -> dict[str, Any]:
        length = self.headers.get("Content-Length", "0")
        size = min(int(length), MAX_BODY) if length.isdigit() else 0
        try:
            found = json.loads(self.rfile.read(size) or b"{}")
        except ValueError:
            found = {}
        return found if isinstance(found, dict) else {}

    def _send(self, content: object) -> None:
        self.reply(200, json.dumps(content).encode(), JSON)
