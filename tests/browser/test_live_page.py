"""The live page in a real browser follows a running experiment to its end, at one address."""

import contextlib
import re
import signal
import subprocess
import sys
import time

import pytest

from tests.arena.running import ROOT, experiment_file

pytestmark = pytest.mark.slow

LADDER = (
    'game = "kalah(6,4)"\npairs = 60\nseed = 5\nopenings = { random_plies = 4 }\n'
    '[agents."<img src=x onerror=alert(1)>"]\nkind = "random"\n'
    '[agents.greedy]\nkind = "greedy"\n'
    '[agents.slow]\nkind = "python"\nfile = "slow.py"\n'
    '[[checks]]\nthat = "slow beats greedy"\nscore_at_least = 0.9\n'
)
SLOW = "import time\ndef choose(view, legal, rng):\n"
SLOW += "    time.sleep(0.02)\n    return rng.choice(legal)\n"
PATIENCE_SECONDS = 120.0


RACE = (  # nobody is better than the others: it goes on to its last opening
    'game = "kalah(4,3)"\npairs = 30\nseed = 5\nschedule = { best = 1 }\n'
    "openings = { random_plies = 4 }\n"
    '[agents.random]\nkind = "random"\n'
    '[agents.slow]\nkind = "python"\nfile = "slow.py"\n'
    '[agents.other]\nkind = "python"\nfile = "slow.py"\n'
)
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


@contextlib.contextmanager
def running_live(path, tmp_path):
    """A running experiment and the address of its page."""
    (path.parent / "slow.py").write_text(SLOW)
    command = [
        sys.executable, "-m", "arena.run", path, "--live", "--known", "off", "--workers", "2",
        "--results", tmp_path / "results",
    ]  # fmt: skip
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as running:
        try:
            address = next(
                re.search(r"http://\S+", line) for line in running.stderr if "http" in line
            )
            yield running, address[0]
            running.stderr.read()
        finally:
            running.kill()


@pytest.fixture
def live(tmp_path):
    """A round robin."""
    with running_live(experiment_file(tmp_path, LADDER), tmp_path) as running:
        yield running


@pytest.fixture
def race(tmp_path):
    """A race for the best agent."""
    with running_live(experiment_file(tmp_path, RACE), tmp_path) as running:
        yield running


def follow(tab, address):
    """Open the page, with the network on."""
    tab.call(
        "Network.emulateNetworkConditions",
        offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1,
    )  # fmt: skip
    tab.call("Page.navigate", url=address)


def until(tab, expression):
    """Wait until an expression is true on the page."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not tab.value(expression):
        assert time.monotonic() < end, tab.value("document.body.innerText")
        time.sleep(0.1)


def test_the_page_follows_the_run_and_becomes_its_report(browser, live, shots):
    running, address = live
    with browser.tab() as tab:
        follow(tab, address)
        until(tab, "document.querySelectorAll('#standings tbody tr').length === 3")
        assert "games/s" in tab.value("document.getElementById('now').textContent")
        assert tab.value("document.getElementById('answer').textContent").startswith("So far")
        until(tab, "/so far/i.test(document.getElementById('checks').innerText)")
        tab.screenshot(shots / "live.png", whole=True)
        until(tab, "document.querySelector('#replay') !== null")
        assert tab.value("location.href") == address
        assert running.wait(PATIENCE_SECONDS) == 1  # the check fails
        # The server is gone; the report works on.
        until(tab, "document.querySelectorAll('#list tbody tr').length > 0")
        assert tab.value("document.querySelectorAll('img').length") == 0
        complaints = [
            each for each in tab.complaints() if not each.startswith("asked for " + address)
        ]
        assert complaints == []
        tab.screenshot(shots / "live-end.png")


def test_a_race_shows_its_rounds_to_everybody(browser, race, axe, shots):
    running, address = race
    with browser.tab() as tab:
        follow(tab, address)
        until(
            tab, "/is played|After round/.test((document.querySelector('#rounds') || {}).innerText)"
        )
        until(tab, "document.querySelectorAll('#standings tbody tr').length > 1")
        for width, dark in ((1280, False), (1280, True), (360, False), (360, True)):
            tab.screen(width, 800, dark)
            found = tab.value(
                f"{axe};axe.run(document, {{runOnly: {WCAG}}})"
                ".then((answer) => answer.violations.map((each) => each.id))"
            )
            assert found == []
            assert tab.value("document.documentElement.scrollWidth") == width
            colours = "dark" if dark else "light"
            tab.screenshot(shots / f"live-race-{width}-{colours}.png", whole=True)
        # Whoever reads a table by keyboard keeps his place, while its numbers change.
        tab.key("Tab")
        until(tab, "document.activeElement.matches('.wide')")
        before = tab.value(
            "(window.read = document.activeElement) && document.getElementById('now').textContent"
        )
        until(tab, f"document.getElementById('now').textContent !== {before!r}")
        assert tab.value("document.activeElement === window.read && window.read.isConnected")
        until(tab, "document.querySelector('#replay') !== null")
        assert running.wait(PATIENCE_SECONDS) == 0


def test_a_run_that_is_stopped_says_how_it_goes_on(browser, live):
    running, address = live
    with browser.tab() as tab:
        follow(tab, address)
        until(tab, "document.querySelectorAll('#standings tbody tr').length > 1")
        running.send_signal(signal.SIGINT)
        until(tab, "/^Stopped after .* games; the same command goes on/"
                   ".test(document.getElementById('now').textContent)")  # fmt: skip
        assert running.wait(PATIENCE_SECONDS) == 3


def test_a_page_without_news_says_so(browser, live):
    running, address = live
    with browser.tab() as tab:
        follow(tab, address)
        until(tab, "document.querySelectorAll('#standings tbody tr').length > 1")
        running.kill()
        running.wait(PATIENCE_SECONDS)
        until(tab, "/no news for/.test(document.getElementById('now').textContent)")
