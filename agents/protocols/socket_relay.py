"""Runs in a client's process: listens where the client connects, and carries lines both ways.

It is executed as a file by a Python without libraries, and so imports nothing of ours:

    python -IS socket_relay.py PORT COMMAND...

`{port}` and `{host}` in the command are replaced by where it listens: PORT, unless it is taken.
"""

import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress

HOST = "127.0.0.1"
CHUNK = 1 << 16
MOST_CONNECTIONS = 4  # one that is closed without a word, such as a look whether we are there


def listener(port: int) -> socket.socket:
    """Bound to the port, or to a free one."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((HOST, port))
    except OSError:
        made.bind((HOST, 0))
    made.listen(MOST_CONNECTIONS)
    return made


def main(words: list[str]) -> int:
    """Start the client, carry what it says until it hangs up; its exit status."""
    with listener(int(words[0])) as listening:
        port = str(listening.getsockname()[1])
        command = [word.replace("{port}", port).replace("{host}", HOST) for word in words[1:]]
        # What it prints is for people: the log of the bot.
        client = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=2, stderr=2)
        ended = threading.Thread(target=watch, args=(client, listening), daemon=True)
        ended.start()
        try:
            connection, _ = listening.accept()
        except OSError:
            return client.wait() & 0xFF or 1
    threading.Thread(target=carry, args=(0, connection), daemon=True).start()
    with suppress(OSError):
        while content := connection.recv(CHUNK):
            write_all(1, content)
    client.kill()
    return client.wait() & 0xFF


def watch(client: "subprocess.Popen[bytes]", listening: socket.socket) -> None:
    """Stop listening for a client that has ended."""
    client.wait()
    with suppress(OSError):
        listening.shutdown(socket.SHUT_RDWR)


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
