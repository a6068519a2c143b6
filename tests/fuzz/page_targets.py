"""Requests that no browser sends to the live page: its server answers, and goes on."""

import errno
import socket
from functools import cache
from pathlib import Path

from arena.report.live import WORDS, LiveServer
from games.base.errors import DONE
from tests.fuzz.hostile_lines import streams
from tests.fuzz.law import Target

PAGE = "<p>the page</p>"
TOKEN, PORT = b"{token}", b"{port}"
MOST_SECONDS = 60.0  # on a busy machine
PIECE = 1 << 16
REQUESTS = (
    "GET /{token}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r",
    "GET /{token}/events HTTP/1.1\r\nHost: localhost:{port}\r\n\r",
    "GET /{token}/ HTTP/1.1\r", "GET /{token}/events HTTP/1.1\r", "GET /{token}/report HTTP/1.0\r",
    "POST /{token}/ HTTP/1.1\r", "GET / HTTP/1.1\r", "Host: 127.0.0.1:{port}\r", "\r", "\r", "\r",
    "Host: localhost:{port}\r", "Host: evil.example\r", "Content-Length: 99\r", "Accept: */*\r",
    "GET //{token}/ HTTP/2\r", "OPTIONS * HTTP/1.1\r", "Connection: keep-alive\r",
)  # fmt: skip
HEADERS = ("GET", "HEAD", "/", "/..", "%2e%2e", "?a=1", "HTTP/1.1", "Host:", "{token}", "{port}")


class Watched:
    """A server, with what its tasks leave uncaught."""

    def __init__(self) -> None:
        """It serves one page and shows one state."""
        self.faults: list[str] = []
        self.server = LiveServer(PAGE)
        self.server.loop.set_exception_handler(
            lambda _, context: self.faults.append(repr(context.get("exception", context)))
        )
        self.server.__enter__()
        self.server.publish({"games": 1})

    def answer_to(self, content: bytes) -> bytes:
        """What comes back; of a stream of events only its beginning."""
        with socket.create_connection(("127.0.0.1", self.server.port), MOST_SECONDS) as link:
            try:
                link.sendall(content)
                link.shutdown(socket.SHUT_WR)
                answer = b""
                while (piece := link.recv(PIECE)) and b"event-stream" not in answer:
                    answer += piece
            except OSError as error:  # it has hung up on who sends more than a request
                if not isinstance(error, ConnectionError) and error.errno != errno.ENOTCONN:
                    raise
                return b""
        return answer


@cache
def watched() -> Watched:
    """One server for all requests: it must survive them."""
    return Watched()


def requested(content: bytes, _: Path) -> int:
    """One connection; then a right request, which must be answered."""
    page = watched()
    token, port = page.server.token.encode(), str(page.server.port).encode()
    right = b"GET /%s/ HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n" % (token, port)
    sent = content.replace(TOKEN, token).replace(PORT, port)
    answer = page.answer_to(sent)
    status = answer[9:12]
    assert not answer or (answer[:9] == b"HTTP/1.1 " and int(status) in WORDS), answer[:80]
    assert token in sent or PAGE.encode() not in answer, "the page without its token"
    assert PAGE.encode() in page.answer_to(right), "the server does not answer any more"
    assert not page.faults, page.faults
    return DONE


PAGES = {"live page": Target(streams(REQUESTS, HEADERS), requested)}
