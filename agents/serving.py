"""Our agent as the bot: runs what a protocol serves on two streams of text, pipes or a socket."""

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

LOOK_SECONDS = 0.01  # between two looks at what arrives while the agent thinks
LONGEST_LINE = 1 << 16  # a longer one is taken for several
MOST_WAITING = 10_000  # lines; who sends more waits until we have read some


def read_lines(stream: TextIO) -> Iterator[str]:
    """The lines of a stream, none longer than anybody writes."""
    return iter(lambda: stream.readline(LONGEST_LINE), "")


class ProtocolServer:
    """Lines in, text out; a thread reads, so that a host is heard while the agent thinks."""

    def __init__(
        self,
        lines: Iterable[str],
        write: Callable[[str], object],
        of: Game,
        agent: Agent,
        built: Callable[[Game], Agent],
        seed: int,
    ) -> None:
        """`built` gives an agent for another game than that of `agent`."""
        self.lines, self.write, self.built = lines, write, built
        self.agents = {of.name: agent}
        self.of = of
        self.random = random.Random(seed)
        # None: no more will come.
        self.arrived: queue.Queue[str | None] = queue.Queue(MOST_WAITING)
        self.since = time.monotonic()

    def run(self, steps: Steps[None]) -> None:
        """Until the protocol says that it is over, or the host is gone."""
        threading.Thread(target=self._listen, daemon=True).start()
        reply: Reply = None
        try:
            while True:
                reply = self._done(steps.send(reply))
        except (StopIteration, BrokenPipeError, ConnectionError):
            return

    def _listen(self) -> None:
        try:
            for line in self.lines:
                self.arrived.put(line.strip())
        except (OSError, ValueError):  # the host hung up, or we did
            pass
        self.arrived.put(None)

    def _done(self, request: object) -> Reply:
        match request:
            case Write(text, aside):
                self.write(text)
                if not aside:
                    self.since = time.monotonic()
                return None
            case Read():
                return self._line(request)
        assert isinstance(request, Choose)
        return self._choice(request)

    def _line(self, request: Read) -> str | NoLine:
        wait = None
        if NoLine.TIME_UP in request.allowed and request.seconds is not None:
            wait = max(0.0, self.since + request.seconds - time.monotonic())
        try:
            line = self.arrived.get(timeout=wait)
        except queue.Empty:
            self.since = time.monotonic()
            return NoLine.TIME_UP
        if line is None:
            self.arrived.put(None)  # for whoever asks again
            return NoLine.ENDED
        return line

    def _choice(self, request: Choose) -> int:
        """The agent's move; its lots are new ones for each."""
        of = request.of or self.of
        if of.name not in self.agents:
            self.agents[of.name] = self.built(of)
        agent = self.agents[of.name]
        agent.start(self.random.getrandbits(63))
        if request.meanwhile is None:
            return agent.choose(request.position, request.limit).move
        with ThreadPoolExecutor(1) as thinker:
            thought = thinker.submit(agent.choose, request.position, request.limit)
            while not thought.done():
                self._hear(request.meanwhile)
        return thought.result().move

    def _hear(self, meanwhile: Callable[[str], str]) -> None:
        """Answer at once what has arrived."""
        try:
            line = self.arrived.get(timeout=LOOK_SECONDS)
        except queue.Empty:
            return
        if line is None:
            self.arrived.put(None)
            time.sleep(LOOK_SECONDS)
        elif answer := meanwhile(line):
            self.write(answer)
