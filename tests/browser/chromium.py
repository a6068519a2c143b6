"""A headless Chromium over two pipes, with the standard library alone.

Commands go to its descriptor 3 and answers come from 4, as JSON ended by a NUL byte: no port is
open, and nobody else can connect.
"""

import base64
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--force-color-profile=srgb", "--hide-scrollbars",
    "--remote-debugging-pipe",
)  # fmt: skip
PATIENCE_SECONDS = 60
LOCAL = ("file:", "data:", "blob:", "about:")
KEYS = {
    "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35,
    "Enter": 13, "Escape": 27, "Tab": 9,
}  # fmt: skip


class NoBrowser(Exception):  # noqa: N818  # the answer to a question
    """There is no browser; the message says what to install."""


def browser_path() -> str:
    named = os.environ.get("PITFLIP_BROWSER")
    for name in (named,) if named else NAMES:
        if path := shutil.which(name):
            return path
    raise NoBrowser(
        "the browser tests need Chromium: apt-get install chromium, or name one in PITFLIP_BROWSER"
    )


class Chromium:
    """A running browser, which ends with all its processes."""

    def __init__(self) -> None:
        self.home = tempfile.mkdtemp(prefix="pitflip-browser-")
        to_read, self.write_end = os.pipe()
        self.read_end, to_write = os.pipe()
        command = [browser_path(), *FLAGS, f"--user-data-dir={self.home}", "about:blank"]
        # The browser expects its pipes at 3 and 4, which may be in use here: a shell moves them.
        moved = f'exec 3<&{to_read} 4>&{to_write}; exec "$@"'
        self.process = subprocess.Popen(
            ["/bin/bash", "-c", moved, "chromium", *command],
            pass_fds=(to_read, to_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_read)
        os.close(to_write)
        self.number = 0
        self.waiting = b""
        self.events: list[dict] = []

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE_SECONDS)
        for end in (self.read_end, self.write_end):
            os.close(end)
        shutil.rmtree(self.home, ignore_errors=True)

    def call(self, method: str, session: str | None = None, **parameters) -> dict:
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write_end, data) :]
        number = self.number
        answer = self.until(lambda each: each.get("id") == number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def until(self, wanted, seconds: float = PATIENCE_SECONDS) -> dict:
        """Read messages until one is wanted, and keep the others as events."""
        for place, event in enumerate(self.events):
            if wanted(event):
                return self.events.pop(place)
        end = time.monotonic() + seconds
        while True:
            message = self.message(end - time.monotonic())
            if wanted(message):
                return message
            self.events.append(message)

    def message(self, seconds: float) -> dict:
        while b"\0" not in self.waiting:
            ready, _, _ = select.select([self.read_end], [], [], max(seconds, 0.0))
            if not ready:
                raise TimeoutError("the browser did not answer in time")
            data = os.read(self.read_end, 1 << 20)
            if not data:
                raise RuntimeError("the browser has ended")
            self.waiting += data
        text, _, self.waiting = self.waiting.partition(b"\0")
        return json.loads(text)

    @contextlib.contextmanager
    def tab(self, **screen) -> Iterator["Tab"]:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        tab = Tab(self, attached["sessionId"])
        tab.prepare(**screen)
        yield tab
        self.call("Target.closeTarget", targetId=target)


class Tab:
    """One page in the browser, offline."""

    def __init__(self, browser: Chromium, session: str) -> None:
        self.browser, self.session = browser, session

    def call(self, method: str, **parameters) -> dict:
        return self.browser.call(method, self.session, **parameters)

    def prepare(self, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call(
            "Network.emulateNetworkConditions",
            offline=True, latency=0, downloadThroughput=0, uploadThroughput=0,
        )  # fmt: skip
        self.screen(width, height, dark)

    def screen(self, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, path: Path, fragment: str = "") -> None:
        # A new fragment alone would not load the page again.
        for url in ("about:blank", path.absolute().as_uri() + fragment):
            self.call("Page.navigate", url=url)
            self.browser.until(self.is_loaded)

    def is_loaded(self, event: dict) -> bool:
        loaded = event.get("method") == "Page.loadEventFired"
        return loaded and event.get("sessionId") == self.session

    def value(self, expression: str):
        answer = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description"))
        return answer["result"].get("value")

    def key(self, name: str) -> None:
        parameters = {"key": name, "code": name}
        if name in KEYS:
            parameters["windowsVirtualKeyCode"] = KEYS[name]
        else:
            parameters["text"] = name
        self.call("Input.dispatchKeyEvent", type="keyDown", **parameters)
        self.call("Input.dispatchKeyEvent", type="keyUp", **parameters)

    def complaints(self) -> list[str]:
        """Return console errors, policy violations and requests to a network."""
        self.value("0")  # everything said before has arrived
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            method, told = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(told["exceptionDetails"]["exception"].get("description", "exception"))
            elif method == "Runtime.consoleAPICalled" and told["type"] == "error":
                found.append(str(told["args"]))
            elif method == "Log.entryAdded" and told["entry"]["level"] == "error":
                found.append(told["entry"]["text"])
            elif method == "Network.requestWillBeSent":
                url = told["request"]["url"]
                if not url.startswith(LOCAL):
                    found.append(f"asked for {url}")
            elif method == "Page.javascriptDialogOpening":
                found.append("opened a dialogue")
        return found

    def screenshot(self, path: Path, whole: bool = False) -> None:
        parameters = {"format": "png", "captureBeyondViewport": whole}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            parameters["clip"] = {**size, "scale": 1}
        path.write_bytes(
            base64.b64decode(self.call("Page.captureScreenshot", **parameters)["data"])
        )

    def printed(self, path: Path) -> None:
        answer = self.call(
            "Page.printToPDF", printBackground=False, paperWidth=8.27, paperHeight=11.7
        )
        path.write_bytes(base64.b64decode(answer["data"]))


@contextlib.contextmanager
def chromium() -> Iterator[Chromium]:
    browser = Chromium()
    try:
        yield browser
    finally:
        browser.close()
