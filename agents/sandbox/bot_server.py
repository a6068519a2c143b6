"""Inside the sandbox: answer questions with the user's code."""

import gc
import json
import math
import os
import signal
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import Any

from numba.core import caching

from agents.core import AgentFailure, AgentSpec, Choice, Limit, SpecError
from agents.search_info import LONGEST_LINE, limit_data
from agents.view import View
from games import Game
from games.board import Board
from games.kernels.board_layout import HEAD, LEFT
from games.kernels.compile_cache import on_compilation

# What a message is, in its first byte; the second is the number of the question, which comes back.
QUESTION, GAME, CHANGE = 1, 2, 3  # ours
READY, ALIVE, STARTED, MOVED, SEARCHED, FAILED, THOUGHT = range(1, 8)  # theirs
KINDS = (
    "illegal",
    "raised",
    "memory",
    "unloadable",
    "unreadable",
)  # of failures that a bot tells itself
MOVE = struct.Struct("<BBh")  # message, question, slot
SEARCH = struct.Struct("<BBhqd")  # and nodes, value
THINK = struct.Struct("<BBhqdh")  # and depth; then JSON: a line of slots, or a bot's own words
LONGEST_TEXT = 3900  # bytes; with its head it is written at once
UNIT = 1000.0  # of a kernel's score
TALK_SECONDS = 1.0  # for an error to say what it is


def disable_cache_writes() -> None:
    """What is compiled behind the wall is not kept: the cache can only be read there."""
    numbas: Any = caching.Cache  # it has no types
    save = numbas.save_overload

    def attempt(*arguments: Any) -> None:
        with suppress(OSError):
            save(*arguments)

    numbas.save_overload = attempt


def prepare(spec: AgentSpec, of: Game, thoughts: bool) -> None:
    """Load in the spawner what every bot of this game needs, but none of the user's code.

    With `thoughts` also what searches one move: what is compiled in a bot's process is not kept,
    and took 4 to 9 seconds at every `pitflip game GAME explain`.
    """
    board = Board(of)
    board.play(board.slots[0])
    exercise_view(View(of, of.start()))
    agents = import_module("agents.registry")
    agents.kind_of(spec)
    if spec.kind != "python":  # it searches: the simplest agent loads the kernels of all
        agents.build(AgentSpec("random"), of).choose(of.start())
        if thoughts and of.has("features"):  # rules of a user's are compiled anew in any case
            move_search(agents.build(AgentSpec("alphabeta", {"depth": 1}), of), of)
    gc.freeze()  # bots, which are forks, neither look through what is there now nor copy it


def move_search(agent: Any, of: Game) -> None:
    """Search one move."""
    agent.start(0)
    agent.search_move(of.start(), of.legal(of.start())[0], 1)


def exercise_view(view: View) -> None:
    """Do with a view what bots do: what is compiled or loaded by it, they find ready."""
    after = view.play(view.legal[0])
    view.move_text(view.legal[0])
    for each in (view, after):
        repr((each.margin, each.rows, each.text, str(each), each.over, each.mover, each.legal))


def serve(spec: AgentSpec, of: Game, questions: int, answers: int) -> int:
    """Answer questions until they end; the exit status."""
    teller = AnswerWriter(answers)
    board = Board(of)
    teller.loads = True
    on_compilation(teller.send_alive)
    disable_cache_writes()
    try:
        answer = create_server(spec, of)
    except BaseException as error:  # whatever a user's code raises
        teller.fail(0, error, "unloadable")
        return 1
    teller.loads = False
    teller.tell(READY, 0)
    while size := os.readv(questions, [board.bytes]):
        kind, number = int(board.words[HEAD]) & 0xFF, int(board.words[HEAD]) >> 8 & 0xFF
        try:
            if kind == GAME:
                answer.start(int(board.words[LEFT]))
                teller.tell(STARTED, number)
            elif kind == CHANGE:
                answer.change(json.loads(read_exactly(questions, int(board.words[LEFT]))))
                teller.tell(STARTED, number)
            else:
                board.read(size)
                os.write(answers, answer.to(board, number))
        except BaseException as error:  # likewise
            if type(wish := original_error(error)) is SystemExit:
                return exit_status(wish)
            teller.fail(number, error, "raised")
    return 0


def read_exactly(descriptor: int, size: int) -> bytes:
    """Read exactly `size` bytes from a pipe."""
    content = b""
    while len(content) < size:
        content += os.read(descriptor, size - len(content))
    return content


def original_error(error: BaseException) -> BaseException | None:
    """What the bot itself raised."""
    return error.__cause__ if isinstance(error, AgentFailure) else error


def exit_status(wish: SystemExit) -> int:
    """The exit status that `sys.exit` was called with."""
    code = wish.code
    return code if isinstance(code, int) else 0 if code is None else 1


class AnswerWriter:
    """Writes messages, each at once."""

    def __init__(self, answers: int) -> None:
        """`answers` is the descriptor for them."""
        self.answers = answers
        self.loads = False

    def send_alive(self) -> None:
        """Report that the bot is still loading, as something is being compiled."""
        if self.loads:
            self.tell(ALIVE, 0)

    def tell(self, kind: int, number: int, text: bytes = b"") -> None:
        """Write one message."""
        with suppress(OSError):
            os.write(self.answers, bytes([kind, number]) + text[:LONGEST_TEXT])

    def fail(self, number: int, error: BaseException, kind: str) -> None:
        """Report how the bot failed; its error gets a moment to describe itself."""
        if isinstance(original_error(error), MemoryError) and kind != "illegal":
            kind = "memory"
        elif isinstance(error, AgentFailure):
            kind = error.kind
        text = call_with_timeout(
            TALK_SECONDS, lambda: failure_text(error), "raised an error without words"
        )
        place = KINDS.index(kind) if kind in KINDS else 1
        self.tell(FAILED, number, bytes([place]) + text.encode(errors="backslashreplace"))


def failure_text(error: BaseException) -> str:
    """The failure in words: what happened, then the lines of the user's file."""
    if isinstance(error, AgentFailure):
        return f"{error.message}\n{error.trace}"
    if isinstance(error, SpecError):
        return str(error)
    return f"raised\n{type(error).__name__}: {error}"


def call_with_timeout(seconds: float, words: Callable[[], str], otherwise: str) -> str:
    """What `words` returns in time; otherwise the text that stands for it."""

    def late(*_: object) -> None:
        raise TimeoutError

    with suppress(BaseException):
        signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            return words()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return otherwise


class SearchServer:
    """A search of this process."""

    def __init__(self, agent: Any) -> None:
        """The agent is compiled, and evaluates by a user's code."""
        self.agent = agent
        self.decided = import_module("agents.search.compiled_agent").decided  # it is above us
        self.limit: Limit | None = None  # None: its own
        self.searches = True  # False: it answers with its evaluation of the position itself
        self.thinks = False  # whether it tells depth and line, too
        self.move: tuple[int, int] | None = None  # it searches this slot alone, to this depth

    def start(self, seed: int) -> None:
        """Begin a game."""
        self.agent.start(seed)

    def change(self, changes: dict[str, Any]) -> None:
        """Give it other weights, another limit for its next moves, or have it only evaluate."""
        self.searches = changes.get("searches", self.searches)
        self.thinks = changes.get("thoughts", self.thinks)
        self.move = changes.get("move", self.move)
        if "weights" in changes:
            self.agent.reweigh(changes["weights"])
        if "limit" in changes:
            self.limit = Limit(**changes["limit"]) if changes["limit"] else None

    def to(self, board: Board, number: int) -> bytes:
        """The answer to a question."""
        if not self.searches:
            score = self.agent.kernels.standing(self.agent.context, board.position.state)
            return SEARCH.pack(SEARCHED, number, board.slots[0], 0, int(score) / UNIT)
        if self.move:
            slot, depth = self.move
            move = board.game.moves_of(slot)
            found = self.agent.search_move(board.position, move, depth)
            told = Choice(move, found.score / UNIT, depth, found.nodes, found.line)
            return self._answer_with_info(board, number, told, found.score)
        limit, left = self.limit, int(board.words[LEFT])
        if left:  # nanoseconds of the game's clock
            own = limit or self.agent.limit
            seconds = min(left / 1e9, own.seconds or math.inf)
            limit = replace(own, seconds=seconds)
        choice = self.decided(self.agent, board.position, limit)
        if self.thinks:
            explained = self.agent.explained(board.position, choice)
            return self._answer_with_info(board, number, explained, self.agent.score)
        slot = board.game.slots_of(choice.move)
        value = choice.value if choice.value is not None else float("nan")
        return SEARCH.pack(SEARCHED, number, slot, choice.nodes, value)

    def _answer_with_info(self, board: Board, number: int, choice: Choice, score: int) -> bytes:
        """An answer with what the search found."""
        slot = board.game.slots_of(choice.move)
        value = choice.value if choice.value is not None else math.nan
        line = board.game.slots_of(list(choice.line[:LONGEST_LINE])).tolist()
        text = json.dumps({"line": line, "exact": choice.exact, "score": score}).encode()
        return THINK.pack(THOUGHT, number, slot, choice.nodes, value, choice.depth) + text


class BotServer:
    """A bot that is asked on the board itself."""

    def __init__(self, agent: Any) -> None:
        """The agent has a method `answer`."""
        self.start, self.answer = agent.start, agent.answer
        self.agent, self.thinks = agent, False

    def change(self, changes: dict[str, Any]) -> None:
        """Have it tell what it noted of its moves: a bot of this sort has no other settings."""
        self.thinks = changes.get("thoughts", self.thinks)

    def to(self, board: Board, number: int) -> bytes:
        """The answer to a question."""
        if not self.thinks:
            return MOVE.pack(MOVED, number, self.answer(board))
        slot = self.answer(board)
        said = [*limit_data(self.agent.said.items()).items()]
        while len(text := json.dumps({"data": dict(said)}).encode()) > LONGEST_TEXT:
            said.pop()
        return THINK.pack(THOUGHT, number, slot, 0, math.nan, 0) + text


def create_server(spec: AgentSpec, of: Game) -> SearchServer | BotServer:
    """The agent of the spec, built in this process, behind the wall."""
    agent = import_module("agents.registry").kind_of(spec).build(spec, of)  # the table is above us
    return BotServer(agent) if hasattr(agent, "answer") else SearchServer(agent)
