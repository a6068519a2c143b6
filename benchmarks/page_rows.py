"""Benchmarks of the page of a run: seconds, bytes and memory, and its share of a run."""

import contextlib
import re
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.fresh import ROOT, fresh
from benchmarks.table import Row

SMALL = """
game = "kalah(6,4)"
pairs = {pairs}
[agents.smart]
kind = "alphabeta"
depth = 4
[agents.bad]
kind = "random"
"""
LONG = SMALL.replace("[agents.smart]", "openings = {{ random_plies = 8 }}\n[agents.smart]")
LARGE = """
game = "kalah(6,4)"
pairs = {pairs}
keep_moves = false
openings = {{ random_plies = 8, repeat = true }}
[agents.a]
kind = "random"
[agents.b]
kind = "random"
"""
WRITE_PAGE = """
import resource, sys, time
from pathlib import Path
begun = time.perf_counter()
from arena.report.page import write_page
from arena.report.data import stored_report
directory = Path(sys.argv[1])
write_page(stored_report(directory), directory / "report.html")
unit = 1 if sys.platform == "darwin" else 1024
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
print(time.perf_counter() - begun, (directory / "report.html").stat().st_size, peak)
"""
# A process inherits the peak of its parent, so a small process starts the measured one.
ALONE = "import subprocess, sys; subprocess.run([sys.executable, '-c', *sys.argv[1:]], check=True)"
SMALL_PAIRS, LARGE_PAIRS = 1_000, 500_000
LIVE_PAIRS, MOST_OF_LIVE = 50_000, 1.03
SMALL_SECONDS, SMALL_BYTES = 1.5, 3e6
LARGE_SECONDS, LARGE_BYTES, LARGE_MEMORY = 10.0, 5e6, 1e9


def page_2000(rounds: int) -> Row:
    """Measure the page of 2,000 games in a new process; the tightest limit decides."""
    return _row(rounds, SMALL, SMALL_PAIRS, (SMALL_SECONDS, SMALL_BYTES, float("inf")))


def page_million(rounds: int) -> Row:
    """Measure the page of a million games, which shows a sample of the games."""
    limits = LARGE_SECONDS, LARGE_BYTES, LARGE_MEMORY
    return _row(min(rounds, 3), LARGE, LARGE_PAIRS, limits)


def _row(rounds: int, text: str, pairs: int, limits: tuple[float, float, float]) -> Row:
    with run_directory(text, pairs) as directory:
        found = [_page_costs(directory) for _ in range(rounds)]
    seconds, size, peak = (min(each) for each in zip(*found, strict=True))
    ratio = min(limit / it for limit, it in zip(limits, (seconds, size, peak), strict=True))
    ours = f"{seconds:.2f} s, {size / 1e6:.2f} MB, {peak / 1e6:.0f} MB of memory"
    against = f"{limits[0]:g} s, {limits[1] / 1e6:g} MB"
    return Row(f"page of {2 * pairs:,} games: the limits", ours, against, ratio, 1.0)


def page_in_a_run(rounds: int) -> Row:
    """Compare summarising a finished run of 2,000 games with its page and without."""
    with tempfile.TemporaryDirectory() as results:
        words = _words(SMALL, SMALL_PAIRS, Path(results))
        fresh(words)  # plays the games; the measured runs only summarise them
        without = min(fresh([*words, "--no-page"]).seconds for _ in range(rounds))
        page = min(fresh(words).seconds for _ in range(rounds))
    what = "a run's end, 2,000 games, with its page: without"
    return Row(what, f"{page:.2f} s", f"{without:.2f} s", without / page)


def live_in_a_run(rounds: int) -> Row:
    """Compare the CPU seconds of a run with a live page that is read and without a page."""
    with tempfile.TemporaryDirectory() as results:
        words = [*_words(LONG, LIVE_PAIRS, Path(results)), "--cache", "off", "--fresh"]
        words.remove("--quiet")
        _cpu_seconds(words, followed=False)  # warms the caches
        found = [
            (_cpu_seconds([*words, "--live"], True), _cpu_seconds(words, False))
            for _ in range(rounds)
        ]
    live, without = (min(each) for each in zip(*found, strict=True))
    what = f"a run of {2 * LIVE_PAIRS:,} games with --live: without"
    return Row(what, f"{live:.2f} s", f"{without:.2f} s", without / live, 1 / MOST_OF_LIVE)


def _cpu_seconds(words: Sequence[str], followed: bool) -> float:
    """Return the CPU seconds of a command and its children; read its page if `followed`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(
        [sys.executable, *words], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True,
    ) as running:  # fmt: skip
        assert running.stderr is not None
        for line in running.stderr:
            if followed and (address := re.search(r"http://\S+", line)):
                with contextlib.suppress(OSError):  # until the run ends
                    while True:
                        with urllib.request.urlopen(address[0]) as it:
                            it.read()
                        time.sleep(3.0)  # the reload interval of the page
    if running.returncode:
        raise subprocess.CalledProcessError(running.returncode, words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@contextmanager
def run_directory(text: str, pairs: int) -> Iterator[Path]:
    """Play a run and yield its directory."""
    with tempfile.TemporaryDirectory() as results:
        fresh([*_words(text, pairs, Path(results)), "--no-page"])
        (directory,) = (path.parent for path in Path(results).glob("*/*/games.parquet"))
        yield directory


def _words(text: str, pairs: int, results: Path) -> list[str]:
    path = results / "bench.toml"
    path.write_text(text.format(pairs=pairs))
    return ["-m", "arena.run", str(path), "--results", str(results), "--quiet"]


def _page_costs(directory: Path) -> tuple[float, float, float]:
    seconds, size, peak = fresh(["-c", ALONE, WRITE_PAGE, str(directory)]).printed.split()
    return float(seconds), float(size), float(peak)
