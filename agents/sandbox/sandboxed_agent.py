"""An agent whose user code runs in the sandbox."""

import json
import math
import pickle
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from agents.core import (
    AgentFailure,
    AgentSpec,
    Choice,
    HostSettings,
    Limit,
    SearchedMove,
    Weights,
    require_unfinished,
)
from agents.sandbox import bot_server
from agents.sandbox.bot_server import (
    CHANGE,
    FAILED,
    FAILURE_KINDS,
    GAME,
    MOVE,
    QUESTION,
    SEARCH,
    THINK,
)
from agents.sandbox.messages import BotLimits
from agents.sandbox.sandbox import ROOT
from agents.sandbox.transports import BILLION, BotProcess, VoidGame, bot_seed
from agents.sandbox.usage import spare_address_space
from agents.search.context import HIGHEST
from agents.search_info import (
    LONGEST_LINE,
    SearchInfo,
    info_from_choice,
    info_from_data,
    limit_data,
)
from games import Game, Position
from games.base.errors import printable
from games.base.file_trees import file_tree
from games.base.schema import KeyValues
from games.board import Board
from games.kernels.context import HEAD, LOOK, STATE

MOVED, SEARCHED, THOUGHT = bot_server.MOVED, bot_server.SEARCHED, bot_server.THOUGHT
MAX_START_FACTOR = 10  # times `start_seconds`, for a bot that compiles
ALIVE_SECONDS = 0.005  # between two reads: a bot may report without end that it is alive
MAX_NODES = 1 << 40  # that a bot may report for a move: their sum must not overflow


class SandboxedAgent:
    """An agent that is started with its first game and again after a fault."""

    def __init__(
        self,
        spec: AgentSpec,
        of: Game,
        host: HostSettings,
        files: tuple[Path, ...],
        limits: BotLimits,
    ) -> None:
        """`files` are the bot's files; nothing is started yet."""
        self.spec, self.game, self.host = spec, of, host
        self.seconds = host.move_seconds
        self.readable = (
            *python_directories(),
            *map(str, files),
            *map(str, file_tree(of.source).top_level_paths if of.source else []),
        )
        self.bot = BotProcess(", ".join(map(str, files)), host.sandbox, limits, host.name)
        self.board = Board(of)
        self.count = 0
        self.limit: Limit | None = None  # sent to it last; None: its own
        self.searches = "evaluate" in spec.options
        self.answers = (SEARCHED, SEARCH.size) if self.searches else (MOVED, MOVE.size)
        self.last_info: bytes | None = None  # its last answer, if the host wants search info
        if host.search_info:
            self.answers = (THOUGHT, THINK.size)

    def start(self, seed: int) -> None:
        """Begin a game; a bot that has ended is started first."""
        if self.bot.alive and self.bot.is_at_end:
            self.bot.end()  # between two games: no fault
        if not self.bot.alive:
            self._begin()
        limit = self.bot.limits.start_seconds
        self.bot.send(self._write_header(GAME).encode(bot_seed(seed)), limit)
        since = time.monotonic_ns()
        self._await_answer(bot_server.STARTED, limit, since, "did not begin the game")

    def _write_header(self, kind: int) -> Board:
        """Return our board with the head of a new message."""
        self.count = self.count + 1 & 0xFF
        self.board.words[HEAD] = kind | self.count << 8
        return self.board

    def set_weights(self, weights: Weights) -> None:
        """Give a search other weights, now and after every new start."""
        self.spec = self.spec.replace(weights=weights)
        self._change({"weights": {name: list(each) for name, each in weights.items()}})

    def _change(self, changes: dict[str, object]) -> None:
        """Send new settings to the bot if it is running."""
        if not self.bot.alive:
            return
        content, limit = json.dumps(changes).encode(), self.bot.limits.start_seconds
        board, since = self._write_header(CHANGE), time.monotonic_ns()
        board.encode(len(content))
        self.bot.send(board.bytes, limit)  # all of it: the content comes next
        self.bot.send(content, limit)
        self._await_answer(
            bot_server.STARTED, limit, since, "did not take its new weights or limit"
        )

    def close(self) -> None:
        """End the process; a further game would start another."""
        self._end()

    def pickle_spec(self) -> bytes:
        """Return what the bot is built from."""
        return pickle.dumps((self.spec, self.game))

    def prepare(self) -> None:
        """Have the spawner load the libraries of such bots; raise VoidGame if it cannot."""
        problem = self.bot.sandbox.connection().prepare(self.pickle_spec(), self.host.search_info)
        if problem:
            raise VoidGame(f"bots of {self.game.name} cannot be prepared: {problem}")

    def _begin(self) -> None:
        self.prepare()
        program = {"command": (), "recipe": self.pickle_spec(), "readable": self.readable}
        self.bot.start(program, self.host.cores)
        self.limit = None
        limit = self.bot.limits.start_seconds
        try:
            self._check_answer(self._await_ready(limit), bot_server.READY)
        except AgentFailure as failure:
            spare = spare_address_space(self.host.sandbox.spawner_id)
            if failure.kind == "memory" and spare < self.bot.limits.memory:
                self._end()
                raise VoidGame(
                    f"{failure.bot} could not be started: the limit on memory here "
                    "(ulimit -v) is too small"
                ) from None
            message = failure.message
            if failure.kind in ("timeout", "crashed"):
                message = f"cannot be used: {message}"
            kind = "unloadable" if failure.kind not in ("memory", "flooded") else failure.kind
            self._end()
            raise AgentFailure(kind, failure.bot, "", message, failure.trace) from None
        if self.host.search_info:
            self._change({"thoughts": True})

    def _await_ready(self, limit: float) -> bytes:
        """Return the first answer; compiling extends the limit, up to MAX_START_FACTOR times."""
        begun = time.monotonic_ns()
        while True:
            since = time.monotonic_ns()
            left = MAX_START_FACTOR * limit - (since - begun) / BILLION
            if left <= 0:
                total = MAX_START_FACTOR * limit
                self.bot.raise_fault("timeout", f"was not ready within {total:g} s in all")
            answer = self.bot.answer(min(limit, left), since, "was not ready")
            if rest := answer.lstrip(bytes([bot_server.ALIVE, 0])):
                return rest
            time.sleep(ALIVE_SECONDS)

    def _end(self) -> None:
        if self.bot.alive:
            self.bot.end()

    def _await_answer(
        self, kind: int, limit: float, since: int, silence: str, answer: bytes | None = None
    ) -> bytes:
        """Return the answer to the last question; more output than that is a fault."""
        answer = answer or self.bot.answer(limit, since, silence)
        if len(answer) < 2 or answer[1] != self.count:
            self._raise_unreadable(answer)
        return self._check_answer(answer, kind)

    def _raise_unreadable(self, answer: bytes) -> NoReturn:
        self.bot.raise_fault("unreadable", f"wrote {answer[:40]!r} into the pipe of its answers")

    def _check_answer(self, answer: bytes, kind: int) -> bytes:
        """Return an answer of the right kind; raise a failure that the bot reports."""
        if answer[0] == FAILED and len(answer) > 2 and answer[2] < len(FAILURE_KINDS):
            failure = FAILURE_KINDS[answer[2]]
            message, _, trace = answer[3:].decode(errors="backslashreplace").partition("\n")
            trace = "\n".join(printable(line) for line in trace.splitlines())
            if failure in ("memory", "unloadable"):
                self._end()
            raise AgentFailure(failure, self.bot.name, "", printable(message), trace)
        if answer[0] != kind:
            self._raise_unreadable(answer)
        return answer

    def answer(
        self, board: Board, rest: float | None = None, think: float | None = None
    ) -> tuple[int, int, float]:
        """Return the slot it chooses on a referee's board, its nodes and its value of the move.

        It has at most `rest` seconds; a compiled search should take `think` seconds.
        """
        limit = self.seconds if rest is None else rest
        shown = think if self.searches else limit
        self.count = self.count + 1 & 0xFF
        board.words[HEAD] = QUESTION | self.count << 8
        message = board.encode(int(shown * BILLION) if shown else 0)
        bot = self.bot
        try:
            bot.send(message, limit)
            since = time.monotonic_ns()
            answer = bot.quick_answer(limit)
            if not answer or len(answer) != MOVE.size or answer[:2] != bytes([MOVED, self.count]):
                answer = self._await_answer(self.answers[0], limit, since, "did not answer", answer)
            if not self._is_complete(answer):
                self._raise_unreadable(answer)
        except AgentFailure as failure:
            place = self.game.text(board.position)
            raise AgentFailure(
                failure.kind, failure.bot, place, failure.message, failure.trace
            ) from None
        if self.host.search_info:
            self.last_info = answer
            slot, nodes, value = THINK.unpack_from(answer)[2:5]
        elif self.searches:
            slot, nodes, value = SEARCH.unpack(answer)[2:]
        else:
            slot, nodes, value = MOVE.unpack(answer)[2], 0, math.nan
        if slot not in board.slots:
            self.bot.raise_fault("illegal", f"answered slot {slot}, which is not legal,")
        return slot, min(max(0, nodes), MAX_NODES), value if math.isfinite(value) else math.nan

    def _is_complete(self, answer: bytes) -> bool:
        """Return whether an answer has the kind and the size that it must have."""
        kind, size = self.answers
        longer = kind == THOUGHT and len(answer) > size
        return answer[0] == kind and (len(answer) == size or longer)

    def search_info(self, position: Position, move: int) -> SearchInfo | None:
        """Return its search information about its last move; None if it has none."""
        if self.searches:
            choice = self._last_choice(position, move)
            return None if choice is None else info_from_choice(self.game, position, choice)
        try:
            return info_from_data(limit_data(self._answer_json()["data"].items()))
        except (ValueError, TypeError, KeyError, AttributeError):
            return None

    def _answer_json(self) -> KeyValues:
        """Return the table at the end of its last answer; empty if it cannot be read."""
        if self.last_info is None:
            return {}
        try:
            table = json.loads(self.last_info[THINK.size :])
        except (ValueError, RecursionError):
            return {}
        return table if isinstance(table, dict) else {}

    def _last_choice(self, position: Position, move: int) -> Choice | None:
        """Return the choice of its last answer with depth and line; None if it has none."""
        table = self._answer_json()
        if self.last_info is None or "line" not in table:
            return None
        _, _, _, nodes, value, depth = THINK.unpack_from(self.last_info)
        if not math.isfinite(value):
            return None
        line, exact = self._legal_line(position, table["line"]), table.get("exact") is True
        return Choice(move, value, depth, min(max(0, nodes), MAX_NODES), line, exact)

    @property
    def score(self) -> int:
        """The kernels' score of its last choice, if the host wants search info; 0 if unknown."""
        score = self._answer_json().get("score")
        return score if isinstance(score, int) and abs(score) <= HIGHEST else 0

    def search_move(self, position: Position, move: int, depth: int) -> SearchedMove:
        """Search a legal move to a depth, without a limit, if the host wants search info."""
        self._change({"move": (int(self.game.slots_of(move)), depth)})
        try:
            self.board.set_position(position)
            nodes = self.answer(self.board)[1]
        finally:
            self._change({"move": None})
        choice = self._last_choice(position, move)
        return SearchedMove(self.score, nodes, choice.line if choice else (move,))

    def _legal_line(self, position: Position, slots: object) -> tuple[int, ...]:
        """Return the moves of a line of slots, up to the first that cannot be played."""
        line: list[int] = []
        for slot in slots[:LONGEST_LINE] if isinstance(slots, list) else []:
            legal = () if self.game.over(position) else self.game.legal(position)
            move = next((each for each in legal if self.game.slots_of(each) == slot), None)
            if move is None:
                break
            line.append(move)
            position = self.game.play(position, move)
        return tuple(line)

    def evaluate_rows(self, rows: NDArray[np.uint64]) -> list[float]:
        """Return its evaluations of unfinished positions, given by the words of their states."""
        words, first = self.board.words, self.board.first_slot
        values = []
        self._change({"searches": False})
        try:
            for row in rows:
                words[:] = 0
                words[STATE:first] = row
                self.board.play(LOOK)
                values.append(self.answer(self.board)[2])
        finally:
            self._change({"searches": True})
        return values

    def choose(self, position: Position, limit: Limit | None = None) -> Choice:
        """Return its move; a forced pass needs no question."""
        require_unfinished(self.game, position)
        if limit != self.limit:
            self.limit = limit
            self._change({"limit": asdict(limit) if limit else None})
        self.board.set_position(position)
        if self.board.move_count == 0:
            return Choice(self.game.legal(position)[0])
        slot, nodes, value = self.answer(self.board)
        move = self.game.moves_of(slot)
        choice = self._last_choice(position, move) if self.searches else None
        return choice or Choice(move, None if math.isnan(value) else value, nodes=nodes)


def python_directories() -> tuple[str, ...]:
    """Return the directories of Python and of our packages."""
    packages = (str(ROOT / name) for name in ("games", "agents"))
    return tuple(dict.fromkeys([sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve()),
                                *packages]))  # fmt: skip
