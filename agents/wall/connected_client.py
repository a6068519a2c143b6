"""A bot that somebody else has started: it connects to us and plays like one of ours."""

import os
import select
import socket
import time
from collections.abc import Mapping
from typing import NoReturn

from agents.core import AgentFailure
from agents.wall.bot_process import CHUNK
from agents.wall.requests import BotLimits

HOST = "127.0.0.1"
BILLION = 1_000_000_000


class ConnectedClient:
    """One connection at a time; a client that has left may connect again for the next game."""

    def __init__(self, name: str, port: int, limits: BotLimits) -> None:
        """Not listening yet."""
        self.name, self.port, self.limits = name, port, limits
        self.listener: socket.socket | None = None
        self.connection: socket.socket | None = None
        self.owner = 0

    @property
    def alive(self) -> bool:
        """Whether it is connected to this process."""
        return self.connection is not None and self.owner == os.getpid()

    @property
    def gone(self) -> bool:
        """Whether it has hung up between two games."""
        return bool(self._heard(0.0)) and not self._peeked()

    def begin(self, program: Mapping[str, object], cores: tuple[int, ...] = ()) -> None:
        """Wait until a client connects, as long as a program may take to start."""
        listener, seconds = self.listen(), self.limits.start_seconds
        wait = select.poll()
        wait.register(listener, select.POLLIN)
        if not wait.poll(seconds * 1000):
            raise self._unloadable(f"no client has connected to port {self.port} in {seconds:g} s")
        self.connection = listener.accept()[0]
        # Else a line waits for the receipt of the one before, which takes 40 ms to come.
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connection.setblocking(False)
        self.poll = select.poll()
        self.poll.register(self.connection, select.POLLIN)

    @property
    def has_written(self) -> bool:
        """Whether something can be read at once, its end too."""
        return self._heard(0.0)

    def new_game(self) -> None:
        """Nothing is known of how long it waits for its machine."""

    def listen(self) -> socket.socket:
        """Listen in this process, from now on."""
        if self.listener is None or self.owner != os.getpid():
            made = socket.socket()
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                made.bind((HOST, self.port))
            except OSError as error:
                made.close()
                raise self._unloadable(f"cannot listen on port {self.port}: {error}") from None
            made.listen(1)
            self.listener, self.owner = made, os.getpid()
        return self.listener

    def _unloadable(self, message: str) -> AgentFailure:
        return AgentFailure("unloadable", self.name, "", message)

    def _heard(self, seconds: float) -> bool:
        return bool(self.poll.poll(max(0.0, seconds * 1000)))

    def _peeked(self) -> bytes:
        assert self.connection is not None  # it is alive
        try:
            return self.connection.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return b" "
        except OSError:
            return b""

    def send(self, content: bytes | memoryview, seconds: float) -> None:
        """Write everything; a client that does not read gets as long as for an answer."""
        assert self.connection is not None  # it is alive
        self.connection.settimeout(seconds)
        try:
            self.connection.sendall(content)
        except TimeoutError:
            self.fault("timeout", f"did not read its question for {seconds:g} s")
        except OSError:
            self.died()
        self.connection.setblocking(False)

    def receive(self, seconds: float, since: int) -> bytes | None:
        """What it has written, as soon as it comes: nothing when it has hung up, None too late."""
        assert self.connection is not None  # it is alive
        if not self._heard(seconds - (time.monotonic_ns() - since) / BILLION):
            return None
        try:
            return self.connection.recv(CHUNK)
        except OSError:
            return b""

    def died(self) -> NoReturn:
        """It has closed its connection."""
        self.fault("crashed", "closed its connection")

    def fault(self, kind: str, message: str) -> NoReturn:
        """Hang up because it has broken a rule."""
        self.end()
        raise AgentFailure(kind, self.name, "", message)

    def stop_listening(self) -> None:
        """Whoever connects from now on is refused."""
        if self.listener is not None:
            self.listener.close()
        self.listener = None

    def end(self) -> None:
        """Hang up."""
        if self.connection is not None:
            self.connection.close()
        self.connection = None
