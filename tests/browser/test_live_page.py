"""The live page in a browser, from the first games to the report."""

import contextlib
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
SLOW += "    time.sleep(0.02)\n    return rng.choice(legal)\n"
PATIENCE_SECONDS = 120.0


@contextlib.contextmanager
def running_live(path, tmp_path):
    (path.parent / "slow.py").write_text(SLOW)
    command = [
        sys.executable, "-m", "arena.run", path, "--live", "--cache", "off", "--workers", "2",
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
    with running_live(experiment_file(tmp_path, LADDER), tmp_path) as running:
        yield running


def follow(tab, address):
    tab.call(
        "Network.emulateNetworkConditions",
        offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1,
    )  # fmt: skip
    tab.call("Page.navigate", url=address)


def until(tab, expression):
    end = time.monotonic() + PATIENCE_SECONDS
    while not tab.value(expression):
        assert time.monotonic() < end, tab.value("document.body.innerText")
        time.sleep(0.1)


def test_the_page_follows_the_run_and_becomes_its_report(browser, live, shots):
    running, address = live
    with browser.tab() as tab:
        follow(tab, address)
        until(
            tab,
            "document.querySelector('#live') !== null"
            " && document.querySelector('#matrix') !== null",
        )
        assert "games so far" in tab.value("document.getElementById('live').textContent")
        assert "AT THE END" in tab.value("document.querySelector('.checks').innerText")
        assert tab.value("document.querySelectorAll('img').length") == 0
        tab.screenshot(shots / "live.png", whole=True)
        before = tab.value("document.getElementById('live').textContent")
        until(tab, f"document.querySelector('#live')?.textContent !== {before!r}")
        until(tab, "document.readyState === 'complete' && document.querySelector('#live') === null")
        assert tab.value("location.href") == address
        assert running.wait(PATIENCE_SECONDS) == 1  # the check fails
        # The report works without the server.
        until(tab, "document.querySelectorAll('#list tbody tr').length > 0")


def test_the_page_of_a_killed_run_says_that_it_stopped(browser, live):
    running, address = live
    with browser.tab() as tab:
        follow(tab, address)
        until(tab, "document.querySelector('#live') !== null")
        running.kill()
        running.wait(PATIENCE_SECONDS)
        until(tab, "/^No news/.test(document.getElementById('live').textContent)")
