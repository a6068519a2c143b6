"""Serve one of our agents to another program over two text streams."""

import queue
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TextIO

from agents.core import Agent
from agents.protocols.conversation import Choose, NoLine, Read, Reply, Steps, Write
from games import Game

LOOK_SECONDS = 0.01  # between two checks for input while the agent thinks
LONGEST_LINE = 1 << 16  # longer lines are split
MOST_WAITING = 10_000  # lines; a full queue blocks the reader and so the host


def read_lines(stream: TextIO) -> Iterator[str]:
    """Yield the lines of a stream; longer lines are split."""
    return iter(lambda: stream.readline(LONGEST_LINE), "")


class ProtocolServer:
    """Runs a protocol over text streams; a thread reads while the agent thinks.

    `create_agent` creates an agent for any game other than that of `agent`.
    """

    def __init__(
        self,
        lines: Iterable[str],
        write: Callable[[str], object],
        game: Game,
        agent: Agent,
        create_agent: Callable[[Game], Agent],
        seed: int,
    ) -> None:
        self.lines, self.write, self.create_agent = lines, write, create_agent
        self.agents = {game.name: agent}
        self.game = game
        self.random = random.Random(seed)
        # None marks the end of the input.
        self.arrived: queue.Queue[str | None] = queue.Queue(MOST_WAITING)
        self.since = time.monotonic()

    def run(self, steps: Steps[None]) -> None:
        """Run until the protocol ends or the host disconnects."""
        threading.Thread(target=self._listen, daemon=True).start()
        reply: Reply = None
        try:
            while True:
                reply = self._handle(steps.send(reply))
        except (StopIteration, BrokenPipeError, ConnectionError):
            return

    def _listen(self) -> None:
        try:
            for line in self.lines:
                self.arrived.put(line.strip())
        except (OSError, ValueError):  # one side closed the stream
            pass
        self.arrived.put(None)

    def _handle(self, request: object) -> Reply:
        match request:
            case Write(text, aside):
                self.write(text)
                if not aside:
                    self.since = time.monotonic()
                return None
            case Read():
                return self._next_line(request)
        assert isinstance(request, Choose)
        return self._choose_move(request)

    def _next_line(self, request: Read) -> str | NoLine:
        wait = None
        if NoLine.TIME_UP in request.allowed and request.seconds is not None:
            wait = max(0.0, self.since + request.seconds - time.monotonic())
        try:
            line = self.arrived.get(timeout=wait)
        except queue.Empty:
            self.since = time.monotonic()
            return NoLine.TIME_UP
        if line is None:
            self.arrived.put(None)  # for later reads
            return NoLine.ENDED
        return line

    def _choose_move(self, request: Choose) -> int:
        """Return the agent's move; every move gets a new seed."""
        game = request.game or self.game
        if game.name not in self.agents:
            self.agents[game.name] = self.create_agent(game)
        agent = self.agents[game.name]
        agent.start(self.random.getrandbits(63))
        if request.meanwhile is None:
            return agent.choose(request.position, request.limit).move
        with ThreadPoolExecutor(1) as thinker:
            choice = thinker.submit(agent.choose, request.position, request.limit)
            while not choice.done():
                self._answer_next_line(request.meanwhile)
        return choice.result().move

    def _answer_next_line(self, meanwhile: Callable[[str], str]) -> None:
        try:
            line = self.arrived.get(timeout=LOOK_SECONDS)
        except queue.Empty:
            return
        if line is None:
            self.arrived.put(None)
            time.sleep(LOOK_SECONDS)
        elif answer := meanwhile(line):
            self.write(answer)
