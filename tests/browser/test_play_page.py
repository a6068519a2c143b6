"""A game against an agent in a real browser: clicks, keys, hints, undo and the checker of pages."""

import contextlib
import re
import subprocess
import sys
import time

import pytest

from tests.arena.running import ROOT

pytestmark = pytest.mark.slow
PATIENCE_SECONDS = 120.0
TOLD = "document.getElementById('told').textContent"
MARKS = "[...document.querySelectorAll('.choice')]"


@contextlib.contextmanager
def opened(browser, game, *options):
    command = [sys.executable, "-m", "pitflip", "play", game, "--browser", *options]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as running:
        try:
            address = next(
                re.search(r"http://\S+", line) for line in running.stdout if "http" in line
            )
            with browser.tab() as tab:
                tab.call(
                    "Network.emulateNetworkConditions",
                    offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1,
                )  # fmt: skip
                tab.call("Page.navigate", url=address[0])
                until(tab, f"document.getElementById('told') && /choose/.test({TOLD})")
                yield tab
        finally:
            running.terminate()
            running.stdout.read()


def until(tab, expression):
    end = time.monotonic() + PATIENCE_SECONDS
    while not tab.value(expression):
        assert time.monotonic() < end, tab.value("document.body.innerText")
        time.sleep(0.1)


def click(tab, selector):
    event = "new MouseEvent('click', {bubbles: true})"
    tab.value(f"document.querySelector({selector!r}).dispatchEvent({event})")


@pytest.mark.parametrize("game", ["kalah(6,4)", "owari(6,3)", "othello"])
def test_a_click_moves_and_the_agent_answers(browser, game, shots):
    with opened(browser, game, "--second", "greedy") as tab:
        before = tab.value(f"{MARKS}.length")
        assert before == 6 if game != "othello" else before == 4
        click(tab, ".choice")
        until(tab, f"document.querySelectorAll('.moves li').length >= 2 && /choose/.test({TOLD})")
        tab.screenshot(shots / f"play-{game[:5]}.png")
        click(tab, ".controls button")  # undo
        until(tab, "document.querySelectorAll('.moves li').length === 0")


def test_keys_move_without_a_mouse(browser):
    with opened(browser, "kalah(6,4)", "--second", "greedy") as tab:
        tab.value(f"{MARKS}[0].focus()")
        tab.key("ArrowRight")
        assert tab.value("document.activeElement.getAttribute('aria-label')") == "hole 2, 4 beans"
        tab.key("Enter")
        until(tab, "document.querySelector('.moves li')?.textContent === '2'")
        until(tab, f"/choose/.test({TOLD})")
        tab.key("u")
        until(tab, "document.querySelectorAll('.moves li').length === 0")
        tab.key("3")
        until(tab, "document.querySelector('.moves li')?.textContent === '3'")


def test_a_hint_has_a_value_for_every_move(browser):
    with opened(browser, "kalah(4,3)", "--second", "smart") as tab:
        tab.key("h")
        until(tab, "document.querySelectorAll('.hints tbody tr').length === 4")
        assert tab.value("document.querySelectorAll('.hints .best').length") == 1


@pytest.mark.parametrize("dark", [False, True])
def test_the_page_passes_the_accessibility_checker(browser, axe, dark):
    with opened(browser, "othello", "--second", "greedy") as tab:
        tab.screen(dark=dark)
        tab.value(axe + "; 0")
        found = tab.value(
            "axe.run().then(r => r.violations.map(v => v.id + ': ' + v.nodes[0].html))"
        )
        assert found == [], found
