"""Serve pages on this machine at an address with a random token."""

import secrets
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
HTML, JSON = "text/html; charset=utf-8", "application/json"


class LocalServer(ThreadingHTTPServer):
    """A server for readers on this machine who know the address."""

    daemon_threads = True

    def __init__(self, handler: type["LocalHandler"]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.token = secrets.token_urlsafe(18)
        self.hosts = {f"{name}:{self.server_port}" for name in ("127.0.0.1", "localhost")}

    @property
    def address(self) -> str:
        """Return the address of the page."""
        return f"http://127.0.0.1:{self.server_port}/{self.token}/"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore readers that close their connection."""


class LocalHandler(BaseHTTPRequestHandler):
    """Refuses requests with another host name or token."""

    server: LocalServer
    timeout = 5.0  # seconds for a request to arrive and for its answer to be read

    def requested_name(self) -> str | None:
        """Return the part of the path after the token; None if the request is refused."""
        # DNS rebinding: the name of another site may resolve to this server.
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self.server.hosts:
            self.reply(403)
            return None
        start = f"/{self.server.token}/"
        given, name = self.path[: len(start)], self.path[len(start) :]
        if not secrets.compare_digest(given.encode(), start.encode()):
            self.reply(404)
            return None
        return name

    def reply(self, status: int, content: bytes = b"", kind: str = HTML) -> None:
        """Send a whole response; a HEAD request gets no content."""
        self.send_response(status)
        headers: Mapping[str, str] = {
            **HEADERS, "Content-Type": kind, "Content-Length": str(len(content)),
        }  # fmt: skip
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Log nothing: the terminal has a line about progress."""
