"""Stand-alone relays between a host on standard input and output and a bot with sockets or files.

It is executed as a file by a Python without libraries, so it imports nothing of ours:

    python -IS relay.py socket PORT COMMAND...
    python -IS relay.py files COMMAND...

`socket` listens on PORT, or on a free port if it is in use, and replaces `{port}` and `{host}` in
the command. `files` runs the command for one state, with the paths of the files `state` and
`action`.
"""

import os
import select
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

HOST = "127.0.0.1"
CHUNK = 1 << 16
SOCKET_SECONDS, FILE_SECONDS = 0.05, 0.002  # between two checks for a connection or an action
MOST_CONNECTIONS = 4  # including short probes of the port
STATE, ACTION = "state", "action"


def open_listeners(port: int) -> "list[socket.socket]":
    """Listen on the port, or on a free one, for IPv4 and, if available, IPv6."""
    listeners = [bind_listener(socket.AF_INET, HOST, port)]
    port = listeners[0].getsockname()[1]
    with suppress(OSError):  # no IPv6
        listeners.append(bind_listener(socket.AF_INET6, "::1", port))
    return listeners


def bind_listener(family: int, host: str, port: int) -> socket.socket:
    """Listen on an address, with a free port if this one is in use."""
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError:
        listener.bind((host, 0))
    listener.listen(MOST_CONNECTIONS)
    return listener


def accept_client(
    listeners: "list[socket.socket]", client: "subprocess.Popen[bytes]"
) -> socket.socket:
    """Return the client's connection; OSError if the client ends without one."""
    while True:
        ready, _, _ = select.select(listeners, [], [], SOCKET_SECONDS)
        if ready:
            connection = ready[0].accept()[0]
            # Otherwise a line waits 40 ms for the acknowledgement of the previous one.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
        if client.poll() is not None:
            raise OSError("the client has ended")


def run_client(port: str, command: "list[str]") -> int:
    """Run a client until it disconnects; return its exit status."""
    listeners = open_listeners(int(port))
    port = str(listeners[0].getsockname()[1])
    command = [word.replace("{port}", port).replace("{host}", HOST) for word in command]
    # Its standard output goes to the bot's log.
    client = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=2, stderr=2)
    try:
        connection = accept_client(listeners, client)
    except OSError:
        return client.wait() & 0xFF or 1
    threading.Thread(target=forward_input, args=(0, connection), daemon=True).start()
    with suppress(OSError):
        while content := connection.recv(CHUNK):
            write_all(1, content)
    client.kill()
    return client.wait() & 0xFF


def forward_input(source: int, connection: socket.socket) -> None:
    """Forward standard input to the client; disconnect at its end."""
    with suppress(OSError):
        while content := os.read(source, CHUNK):
            connection.sendall(content)
        connection.shutdown(socket.SHUT_WR)


def write_all(target: int, content: bytes) -> None:
    """Write all of the content."""
    while content:
        content = content[os.write(target, content) :]


def read_state() -> str:
    """Read one state, whose length depends on its content."""
    lines = [sys.stdin.readline(), sys.stdin.readline()]
    size = len(lines[1].split())
    lines += [sys.stdin.readline() for _ in range(size)]
    lines += [sys.stdin.readline() for _ in range(int(lines[1 + size]))]
    return "".join(lines)


class ActionFile:
    """The lines that a bot appends to a file, which may not exist yet."""

    def __init__(self, path: Path) -> None:
        self.path, self.at, self.rest = path, 0, b""

    def forward(self) -> None:
        """Write the complete lines to standard output."""
        with suppress(OSError), self.path.open("rb") as file:
            if os.fstat(file.fileno()).st_size < self.at:
                self.at, self.rest = 0, b""  # the file was truncated
            file.seek(self.at)
            while content := file.read(CHUNK):
                self.at += len(content)
                whole, _, self.rest = (self.rest + content).rpartition(b"\n")
                if whole:
                    os.write(1, whole + b"\n")


def run_file_bot(command: "list[str]") -> int:
    """Run a bot for one state; return its exit status."""
    paths = [str(Path(name).absolute()) for name in (STATE, ACTION)]
    state = os.open(STATE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(state, read_state().encode())  # before the bot starts
    os.close(state)
    bot = subprocess.Popen([*command, *paths], stdin=subprocess.DEVNULL, stdout=2, stderr=2)
    actions = ActionFile(Path(ACTION))
    while bot.poll() is None:
        actions.forward()
        time.sleep(FILE_SECONDS)
    actions.forward()
    return bot.returncode & 0xFF


def main(words: "list[str]") -> int:
    """Run the bot behind the relay that the first word names; return its exit status."""
    return run_client(words[1], words[2:]) if words[0] == "socket" else run_file_bot(words[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
