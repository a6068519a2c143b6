"""Requests that no browser sends to the live page: its server answers, and goes on."""

import errno
import socket
import sys
import threading
from functools import cache
from pathlib import Path

from arena.report.live import WAITING, LiveServer
from games.base.errors import DONE
from tests.fuzz.hostile_lines import streams
from tests.fuzz.law import Target

TOKEN, PORT = b"{token}", b"{port}"
MOST_SECONDS = 60.0  # on a busy machine
PIECE = 1 << 16
REQUESTS = (
    "GET /{token}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r",
    "HEAD /{token}/ HTTP/1.1\r\nHost: localhost:{port}\r\n\r",
    "GET /{token}/ HTTP/1.1\r", "GET /{token}/report HTTP/1.0\r",
    "POST /{token}/ HTTP/1.1\r", "GET / HTTP/1.1\r", "Host: 127.0.0.1:{port}\r", "\r", "\r", "\r",
    "Host: localhost:{port}\r", "Host: evil.example\r", "Content-Length: 99\r", "Accept: */*\r",
    "GET //{token}/ HTTP/2\r", "OPTIONS * HTTP/1.1\r", "Connection: keep-alive\r",
)  # fmt: skip
HEADERS = ("GET", "HEAD", "/", "/..", "%2e%2e", "?a=1", "HTTP/1.1", "Host:", "{token}", "{port}")


class Watched(LiveServer):
    """A server that notes what its handlers leave uncaught."""

    def __init__(self) -> None:
        """No faults yet."""
        super().__init__()
        self.faults: list[str] = []

    def handle_error(self, request: object, client_address: object) -> None:
        """Readers may hang up; anything else is a fault of ours."""
        error = sys.exception()
        if not isinstance(error, OSError):
            self.faults.append(repr(error))


@cache
def watched() -> Watched:
    """One server for all requests: it must survive them."""
    server = Watched()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def answer_to(server: LiveServer, content: bytes) -> bytes:
    """What comes back."""
    with socket.create_connection(("127.0.0.1", server.server_port), MOST_SECONDS) as link:
        try:
            link.sendall(content)
            link.shutdown(socket.SHUT_WR)
            answer = b""
            while piece := link.recv(PIECE):
                answer += piece
        except OSError as error:  # it has hung up on who sends more than a request
            if not isinstance(error, ConnectionError) and error.errno != errno.ENOTCONN:
                raise
            return b""
    return answer


def requested(content: bytes, _: Path) -> int:
    """One connection; then a right request, which must be answered."""
    server = watched()
    token, port = server.token.encode(), str(server.server_port).encode()
    right = b"GET /%s/ HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n" % (token, port)
    sent = content.replace(TOKEN, token).replace(PORT, port)
    answer = answer_to(server, sent)
    assert token in sent or WAITING not in answer, "the page without its token"
    assert WAITING in answer_to(server, right), "the server does not answer any more"
    assert not server.faults, server.faults
    return DONE


PAGES = {"live page": Target(streams(REQUESTS, HEADERS), requested)}
