"""The live page in a real browser follows a running experiment to its end, at one address."""

import re
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
SLOW += "    time.sleep(0.005)\n    return rng.choice(legal)\n"
PATIENCE_SECONDS = 120.0


@pytest.fixture
def live(tmp_path):
    """A running experiment and the address of its page."""
    path = experiment_file(tmp_path, LADDER)
    (path.parent / "slow.py").write_text(SLOW)
    command = [
        sys.executable, "-m", "arena.run", path, "--live", "--known", "off", "--workers", "2",
        "--results", tmp_path / "results",
    ]  # fmt: skip
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        try:
            address = next(
                re.search(r"http://\S+", line) for line in running.stderr if "http" in line
            )
            yield running, address[0]
            running.stderr.read()
        finally:
            running.kill()


def until(tab, expression):
    """Wait until an expression is true on the page."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not tab.value(expression):
        assert time.monotonic() < end, tab.value("document.body.innerText")
        time.sleep(0.1)


def test_the_page_follows_the_run_and_becomes_its_report(browser, live, shots):
    running, address = live
    with browser.tab() as tab:
        tab.call(
            "Network.emulateNetworkConditions",
            offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1,
        )  # fmt: skip
        tab.call("Page.navigate", url=address)
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
