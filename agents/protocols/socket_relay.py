"""Runs in a client's process: listens where the client connects, and carries lines both ways.

It is executed as a file by a Python without libraries, and so imports nothing of ours:

    python -IS socket_relay.py PORT COMMAND...

`{port}` and `{host}` in the command are replaced by where it listens: PORT, unless it is taken.
"""

import os
import select
import socket
import subprocess
import sys
import threading
from contextlib import suppress

HOST = "127.0.0.1"
CHUNK = 1 << 16
LOOK_SECONDS = 0.05
MOST_CONNECTIONS = 4  # one that is closed without a word, such as a look whether we are there


def open_listeners(port: int) -> "list[socket.socket]":
    """Bound to the port, or to a free one, by the old addresses and, where there are, the new."""
    made = [bind_listener(socket.AF_INET, HOST, port)]
    port = made[0].getsockname()[1]
    with suppress(OSError):  # without IPv6 nobody asks for it
        made.append(bind_listener(socket.AF_INET6, "::1", port))
    return made


def bind_listener(family: int, host: str, port: int) -> socket.socket:
    """Listening at an address; at another port if this one is taken."""
    made = socket.socket(family)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except OSError:
        made.bind((host, 0))
    made.listen(MOST_CONNECTIONS)
    return made


def accept_client(
    listening: "list[socket.socket]", client: "subprocess.Popen[bytes]"
) -> socket.socket:
    """The connection of the client; OSError if it ends without one."""
    while True:
        ready, _, _ = select.select(listening, [], [], LOOK_SECONDS)
        if ready:
            connection = ready[0].accept()[0]
            # Else a line waits for the receipt of the one before, which takes 40 ms to come.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
        if client.poll() is not None:
            raise OSError("the client has ended")


def main(words: "list[str]") -> int:
    """Run the client, carry what it says until it hangs up; its exit status."""
    listening = open_listeners(int(words[0]))
    port = str(listening[0].getsockname()[1])
    command = [word.replace("{port}", port).replace("{host}", HOST) for word in words[1:]]
    # What it prints is for people: the log of the bot.
    client = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=2, stderr=2)
    try:
        connection = accept_client(listening, client)
    except OSError:
        return client.wait() & 0xFF or 1
    threading.Thread(target=carry, args=(0, connection), daemon=True).start()
    with suppress(OSError):
        while content := connection.recv(CHUNK):
            write_all(1, content)
    client.kill()
    return client.wait() & 0xFF


def carry(source: int, connection: socket.socket) -> None:
    """What we are told goes to the client; at its end we hang up."""
    with suppress(OSError):
        while content := os.read(source, CHUNK):
            connection.sendall(content)
        connection.shutdown(socket.SHUT_WR)


def write_all(target: int, content: bytes) -> None:
    """Write all of it."""
    while content:
        content = content[os.write(target, content) :]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
