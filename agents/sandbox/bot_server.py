"""Inside the sandbox: answer questions with the user's code."""

import atexit
import gc
import json
import logging
import math
import os
import random
import signal
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

from numba.core import caching

from agents.core import AgentFailure, AgentSpec, Choice, Limit, SpecError, limit_on_clock
from agents.search_info import LONGEST_LINE, limit_data
from agents.view import View
from games import Game
from games.board import Board
from games.kernels.compile_cache import on_compilation
from games.kernels.context import HEAD, LEFT

# The first byte of a message is its kind, the second the number of the question.
QUESTION, GAME, CHANGE = 1, 2, 3  # ours
READY, ALIVE, STARTED, MOVED, SEARCHED, FAILED, THOUGHT = range(1, 8)  # theirs
FAILURE_KINDS = ("illegal", "raised", "memory", "unloadable", "unreadable")  # that a bot reports
MOVE = struct.Struct("<BBh")  # message, question, slot
SEARCH = struct.Struct("<BBhqd")  # and nodes, value
THINK = struct.Struct("<BBhqdh")  # and depth; then JSON: a line of slots, or a bot's data
LONGEST_TEXT = 3900  # bytes; with its head a pipe takes it in one piece
SCORE_UNIT = 1000.0  # of a kernel's score
ERROR_TEXT_SECONDS = 1.0  # to make the text of a user's error


def reset_interpreter() -> None:
    """Clear our handlers, hooks and arguments from a bot that goes on in a fork."""
    atexit._clear()
    logging.getLogger().handlers.clear()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    sys.argv = ["bot"]
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout, sys.stderr = (
        os.fdopen(each, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
        for each in (1, 2)
    )
    random.seed(0)


def disable_cache_writes() -> None:
    """Ignore errors when compiled code is cached: a bot can only read the cache."""
    cache: Any = caching.Cache  # it has no types
    save = cache.save_overload

    def attempt(*arguments: Any) -> None:
        with suppress(OSError):
            save(*arguments)

    cache.save_overload = attempt


def prepare(spec: AgentSpec, of: Game, thoughts: bool) -> None:
    """Before the forks, load what every bot of this game needs, but none of the user's code.

    With `thoughts` also the search of one move: a bot's process does not cache compiled code, so
    that every `pitflip game GAME explain` took 4 to 9 seconds.
    """
    board = Board(of)
    board.play(board.slots[0])
    exercise_view(View(of, of.start()))
    agents = import_module("agents.registry")
    agents.kind_of(spec)
    if spec.kind != "python":  # it searches; the simplest agent loads the kernels of all
        agents.build(AgentSpec("random"), of).choose(of.start())
        if thoughts and of.has_part("features"):  # bots always compile a user's rules
            search_one_move(agents.build(AgentSpec("alphabeta", {"depth": 1}), of), of)
    gc.freeze()  # the collector of a fork does not look at, and so copy, these objects


def search_one_move(agent: Any, of: Game) -> None:
    """Search one move."""
    agent.start(0)
    agent.search_move(of.start(), of.legal(of.start())[0], 1)


def exercise_view(view: View) -> None:
    """Use a view as bots do, so that everything it needs is compiled and loaded."""
    after = view.play(view.legal[0])
    view.move_text(view.legal[0])
    for each in (view, after):
        repr((each.margin, each.rows, each.text, str(each), each.over, each.mover, each.legal))


def serve(spec: AgentSpec, of: Game, questions: int, answers: int) -> int:
    """Answer questions until they end; return the exit status."""
    writer = AnswerWriter(answers)
    board = Board(of)
    writer.is_loading = True
    on_compilation(writer.send_alive)
    disable_cache_writes()
    try:
        server = create_server(spec, of)
    except BaseException as error:  # a user's code may raise anything
        writer.send_failure(0, error, "unloadable")
        return 1
    writer.is_loading = False
    writer.send(READY, 0)
    while size := os.readv(questions, [board.bytes]):
        kind, number = int(board.words[HEAD]) & 0xFF, int(board.words[HEAD]) >> 8 & 0xFF
        try:
            if kind == GAME:
                server.start(int(board.words[LEFT]))
                writer.send(STARTED, number)
            elif kind == CHANGE:
                server.change(json.loads(read_all_bytes(questions, int(board.words[LEFT]))))
                writer.send(STARTED, number)
            else:
                board.decode(size)
                os.write(answers, server.answer_bytes(board, number))
        except BaseException as error:  # as above
            if type(exit_request := original_error(error)) is SystemExit:
                return exit_status(exit_request)
            writer.send_failure(number, error, "raised")
    return 0


def read_all_bytes(descriptor: int, size: int) -> bytes:
    """Read exactly `size` bytes from a pipe."""
    content = b""
    while len(content) < size:
        content += os.read(descriptor, size - len(content))
    return content


def original_error(error: BaseException) -> BaseException | None:
    """Return the error that the user's code raised."""
    return error.__cause__ if isinstance(error, AgentFailure) else error


def exit_status(request: SystemExit) -> int:
    """Return the exit status that `sys.exit` was called with."""
    code = request.code
    return code if isinstance(code, int) else 0 if code is None else 1


class AnswerWriter:
    """Writes messages, each in one piece."""

    def __init__(self, answers: int) -> None:
        """`answers` is the descriptor for them."""
        self.answers = answers
        self.is_loading = False

    def send_alive(self) -> None:
        """Report that a loading bot compiles something."""
        if self.is_loading:
            self.send(ALIVE, 0)

    def send(self, kind: int, number: int, text: bytes = b"") -> None:
        """Write one message."""
        with suppress(OSError):
            os.write(self.answers, bytes([kind, number]) + text[:LONGEST_TEXT])

    def send_failure(self, number: int, error: BaseException, kind: str) -> None:
        """Report how the bot failed; the text of its error must be ready in time."""
        if isinstance(original_error(error), MemoryError) and kind != "illegal":
            kind = "memory"
        elif isinstance(error, AgentFailure):
            kind = error.kind
        text = call_with_timeout(
            ERROR_TEXT_SECONDS, lambda: failure_text(error), "raised an error without words"
        )
        place = FAILURE_KINDS.index(kind) if kind in FAILURE_KINDS else 1
        self.send(FAILED, number, bytes([place]) + text.encode(errors="backslashreplace"))


def failure_text(error: BaseException) -> str:
    """Return the text of a failure: its message, then the lines of the user's file."""
    if isinstance(error, AgentFailure):
        return f"{error.message}\n{error.trace}"
    if isinstance(error, SpecError):
        return str(error)
    return f"raised\n{type(error).__name__}: {error}"


def call_with_timeout(seconds: float, make_text: Callable[[], str], otherwise: str) -> str:
    """Return the text if it is made in time, else `otherwise`."""

    def late(*_: object) -> None:
        raise TimeoutError

    with suppress(BaseException):
        signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            return make_text()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return otherwise


class SearchServer:
    """Answers with a compiled search that evaluates by a user's code."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent
        compiled = import_module("agents.search.compiled_agent")  # it imports this package
        self.decide = compiled.choose_fast
        self.limit: Limit | None = None  # None: the agent's own
        self.searches = True  # False: it answers with its evaluation of the position
        self.sends_info = False  # whether it sends depth and line, too
        self.move: tuple[int, int] | None = None  # only this slot is searched, to this depth

    def start(self, seed: int) -> None:
        """Begin a game."""
        self.agent.start(seed)

    def change(self, changes: dict[str, Any]) -> None:
        """Change weights or the limit of the next moves, or only evaluate from now on."""
        self.searches = changes.get("searches", self.searches)
        self.sends_info = changes.get("thoughts", self.sends_info)
        self.move = changes.get("move", self.move)
        if "weights" in changes:
            self.agent.set_weights(changes["weights"])
        if "limit" in changes:
            self.limit = Limit(**changes["limit"]) if changes["limit"] else None

    def answer_bytes(self, board: Board, number: int) -> bytes:
        """Return the answer to a question."""
        if not self.searches:
            score = self.agent.kernels.position_value(self.agent.context, board.position.state)
            return SEARCH.pack(SEARCHED, number, board.slots[0], 0, int(score) / SCORE_UNIT)
        if self.move:
            slot, depth = self.move
            move = board.game.moves_of(slot)
            found = self.agent.search_move(board.position, move, depth)
            choice = Choice(move, found.score / SCORE_UNIT, depth, found.nodes, found.line)
            return self._answer_with_info(board, number, choice, found.score)
        limit, left = self.limit, int(board.words[LEFT])
        if left:  # nanoseconds of the game's clock
            limit = limit_on_clock(self.agent.spec, self.agent.limit, left / 1e9)
        choice = self.decide(self.agent, board.position, limit)
        if self.sends_info:
            explained = self.agent.add_line(board.position, choice)
            return self._answer_with_info(board, number, explained, self.agent.score)
        slot = board.game.slots_of(choice.move)
        value = choice.value if choice.value is not None else float("nan")
        return SEARCH.pack(SEARCHED, number, slot, choice.nodes, value)

    def _answer_with_info(self, board: Board, number: int, choice: Choice, score: int) -> bytes:
        slot = board.game.slots_of(choice.move)
        value = choice.value if choice.value is not None else math.nan
        line = board.game.slots_of(list(choice.line[:LONGEST_LINE])).tolist()
        text = json.dumps({"line": line, "exact": choice.exact, "score": score}).encode()
        return THINK.pack(THOUGHT, number, slot, choice.nodes, value, choice.depth) + text


class BotServer:
    """Answers with a user's function, whose agent has a method `answer`."""

    def __init__(self, agent: Any) -> None:
        self.start, self.answer = agent.start, agent.answer
        self.agent, self.sends_info = agent, False

    def change(self, changes: dict[str, Any]) -> None:
        """Send also the data that the bot notes about its moves, from now on."""
        self.sends_info = changes.get("thoughts", self.sends_info)

    def answer_bytes(self, board: Board, number: int) -> bytes:
        """Return the answer to a question."""
        if not self.sends_info:
            return MOVE.pack(MOVED, number, self.answer(board))
        slot = self.answer(board)
        data = [*limit_data(self.agent.data.items()).items()]
        while len(text := json.dumps({"data": dict(data)}).encode()) > LONGEST_TEXT:
            data.pop()
        return THINK.pack(THOUGHT, number, slot, 0, math.nan, 0) + text


def create_server(spec: AgentSpec, of: Game) -> SearchServer | BotServer:
    """Build the agent of the spec in this process."""
    agent = (
        import_module("agents.registry").kind_of(spec).build(spec, of)
    )  # it imports this package
    return BotServer(agent) if hasattr(agent, "answer") else SearchServer(agent)
