"""Rewrite and serve the page while games are played."""

import asyncio
import contextlib
import json
import secrets
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType

from arena.analysis.checks.claims import Check
from arena.planning.plan import Plan
from arena.playing.play import Tick
from arena.showing.live_page import LivePage, Parts
from arena.terminal.progress_line import Pace
from games.base.errors import say

HEAD_SECONDS = 5.0  # for a request to arrive
WRITE_SECONDS = 10.0  # for a reader to take what it asked for
ALIVE_SECONDS = 5.0
LEAVING_SECONDS = 5.0  # at the end, for open pages to fetch the report
LONGEST_HEAD = 8192
MOST_CONNECTIONS = 64
MOST_FOLLOWERS = 16
HEADERS = (
    "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n"
    "Connection: close\r\n"
)
WORDS = {
    200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    408: "Request Timeout", 431: "Request Header Fields Too Large", 503: "Service Unavailable",
}  # fmt: skip
WATCHED_SECONDS = 1.0
UNWATCHED_SECONDS = 5.0  # a state must be there when somebody comes
SHARE = 0.02  # of a core's time may be spent on making the parts of a state


class LiveServer:
    """Serves a page, its events and at the end the report; nothing else, to nobody else."""

    def __init__(self, page: str) -> None:
        """Nothing listens yet."""
        self.page = page.encode()
        self.token = secrets.token_urlsafe(18)
        self.report: bytes | None = None
        self.state = b""
        self.last = b""  # the event that ends the stream
        self.number = 0  # of the latest state
        self.connections = self.followers = 0
        self.fetching = 0  # followers that have not fetched the report
        self.loop = asyncio.new_event_loop()
        self.news, self.closing = asyncio.Event(), asyncio.Event()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self._run, name="live page", daemon=True)

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self.port}/{self.token}/"

    def __enter__(self) -> "LiveServer":
        """Begin to listen."""
        self.thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Listen no more."""
        with contextlib.suppress(RuntimeError):  # it has ended already
            self.loop.call_soon_threadsafe(self.closing.set)
        self.thread.join(LEAVING_SECONDS)
        self.socket.close()

    def publish(self, state: object) -> None:
        """Show this state to all who follow."""
        self._tell(state=f"data: {json.dumps(state)}\n\n".encode())

    def end(self, event: str, words: str, report: str | None = None) -> None:
        """End the stream with words; with a report, wait a little for open pages to fetch it."""
        self.report = None if report is None else report.encode()
        self.fetching = 0 if report is None else self.followers
        left = threading.Event()
        self._tell(last=f"event: {event}\ndata: {json.dumps(words)}\n\n".encode())
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(lambda: self.loop.create_task(self._leave(left)))
            left.wait(LEAVING_SECONDS)

    def _tell(self, state: bytes = b"", last: bytes = b"") -> None:
        def tell() -> None:
            self.state, self.last = state or self.state, last or self.last
            self.number += 1
            news, self.news = self.news, asyncio.Event()
            news.set()

        with contextlib.suppress(RuntimeError):  # the server has ended
            self.loop.call_soon_threadsafe(tell)

    async def _leave(self, left: threading.Event) -> None:
        while self.followers or self.fetching > 0:
            await asyncio.sleep(0.02)
        left.set()

    def _run(self) -> None:
        with contextlib.closing(self.loop):
            self.loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._client, sock=self.socket, limit=LONGEST_HEAD)
        await self.closing.wait()
        server.close()
        clients = asyncio.all_tasks() - {asyncio.current_task()}
        for task in clients:
            task.cancel()
        await asyncio.gather(*clients, return_exceptions=True)

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with self._counted(), contextlib.suppress(OSError, asyncio.TimeoutError):
            try:
                if self.connections > MOST_CONNECTIONS:
                    await _answer(writer, 503)
                else:
                    await self._answered(reader, writer)
            finally:
                if writer.transport.get_write_buffer_size():
                    writer.transport.abort()
                writer.close()

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        self.connections += 1
        try:
            yield
        finally:
            self.connections -= 1

    async def _answered(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(HEAD_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            await _answer(writer, 431)
            return
        except TimeoutError:
            await _answer(writer, 408)
            return
        except asyncio.IncompleteReadError:
            return
        status, what = self._asked(head)
        if status != 200:
            await _answer(writer, status)
        elif what == b"events":
            await self._follow(writer)
        elif what == b"":
            await _answer(writer, 200, self.page)
        elif what == b"report" and self.report is not None:
            await _answer(writer, 200, self.report)
            self.fetching -= 1
        else:
            await _answer(writer, 404)

    def _asked(self, head: bytes) -> tuple[int, bytes]:
        """The status of a request, and which of our answers it asks for."""
        first, *lines = head[:-4].split(b"\r\n")
        words = first.split(b" ")
        if len(words) != 3 or not words[2].startswith(b"HTTP/1."):
            return 400, b""
        hosts = [line[5:].strip().lower() for line in lines if line[:5].lower() == b"host:"]
        # A page of another site may have its name point here: it does not know this one.
        ours = [f"{name}:{self.port}".encode() for name in ("127.0.0.1", "localhost")]
        if len(hosts) != 1 or hosts[0] not in ours:
            return 403, b""
        if words[0] != b"GET":
            return 405, b""
        _, _, rest = words[1].partition(b"/")
        token, slash, what = rest.partition(b"/")
        if not slash or not secrets.compare_digest(token, self.token.encode()):
            return 404, b""
        return 200, what

    async def _follow(self, writer: asyncio.StreamWriter) -> None:
        """Send the latest state whenever there is a newer one; states between are left out."""
        if self.followers >= MOST_FOLLOWERS:
            await _answer(writer, 503)
            return
        self.followers += 1
        try:
            await _send(writer, _head(200, "text/event-stream") + b"\r\n")
            sent = -1
            while not self.last:
                news, self_number = self.news, self.number
                if self_number != sent and self.state:
                    await _send(writer, self.state)
                sent = self_number
                if self.number == sent and not self.last:
                    await self._rest(writer, news)
            await _send(writer, self.last)
        finally:
            self.followers -= 1

    async def _rest(self, writer: asyncio.StreamWriter, news: asyncio.Event) -> None:
        """Wait for news; say now and then that the run is alive."""
        try:
            async with asyncio.timeout(ALIVE_SECONDS):
                await news.wait()
        except TimeoutError:
            await _send(writer, b"event: alive\ndata: 0\n\n")


def _head(status: int, kind: str) -> bytes:
    return (
        f"HTTP/1.1 {status} {WORDS[status]}\r\nContent-Type: {kind}; charset=utf-8\r\n{HEADERS}"
    ).encode()


async def _answer(writer: asyncio.StreamWriter, status: int, page: bytes | None = None) -> None:
    content = f"{WORDS[status]}\n".encode() if page is None else page
    head = _head(status, "text/plain" if page is None else "text/html")
    await _send(writer, head + f"Content-Length: {len(content)}\r\n\r\n".encode() + content)


async def _send(writer: asyncio.StreamWriter, content: bytes) -> None:
    """Send it, to readers that take it in time."""
    writer.transport.set_write_buffer_limits(0)
    writer.write(content)
    async with asyncio.timeout(WRITE_SECONDS):
        await writer.drain()


class LiveView:
    """Makes states for the page, not too often, and ends it with the report."""

    def __init__(self, page: LivePage, server: LiveServer) -> None:
        """The run begins."""
        self.page, self.server = page, server
        self.begun = time.monotonic()
        self.next = self.parts_next = self.begun
        self.parts: Parts = {}
        self.pace = Pace()
        self.line = "no games were played"

    def show(self, tick: Tick) -> None:
        """Show a state if it is time to."""
        self.pace.take(tick.played)
        self.line = f"{2 * tick.done:,} of {2 * tick.total:,} games"
        now = time.monotonic()
        wait = 0.0 if self.server.followers or not self.server.state else UNWATCHED_SECONDS
        over = tick.done == tick.total
        if now < self.next + wait and not over:
            return
        self.next = now + WATCHED_SECONDS
        begun = time.thread_time()
        if now >= self.parts_next or over:
            self.parts = self.page.parts(tick)
        line = self.page.line(tick, max(now - self.begun, 1e-6), self.pace)
        self.server.publish({**self.parts, **line})
        if now >= self.parts_next:
            # The line is made for every look: what takes long must not let it stand still.
            self.parts_next = now + (time.thread_time() - begun) / SHARE

    def finish(self, report: Path) -> None:
        """End with the page of the run."""
        page = report.read_text() if report.exists() else None
        self.server.end("finished", f"Finished: {self.line}.", page)


@contextlib.contextmanager
def live_view(experiment: str, plan: Plan, checks: Sequence[Check]) -> Iterator[LiveView]:
    """The view of a run on a page of its own; it says where, and when it is stopped."""
    page = LivePage(experiment, plan, checks)
    with LiveServer(page.document()) as server:
        say(f"live: {server.address}")
        view = LiveView(page, server)
        try:
            yield view
        except BaseException:
            server.end("stopped", f"Stopped after {view.line}; the same command goes on.")
            raise
