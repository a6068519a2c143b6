"""Signals while modules are loaded, and once all is written: no traceback, no lie."""

import importlib
import os
import signal
import subprocess
import sys

import pytest

from arena.playing.options import Interrupts
from tests.arena.running import ROOT, experiment_file, forked, small
from tests.arena.test_kill import PATIENCE_SECONDS

GREEDY = '[agents.greedy]\nkind = "greedy"\n'

STOPPED_INSIDE = """
import os, signal
os.kill(os.getpid(), signal.SIGINT)
whole = True
"""
THREADS = """
import sys, threading
class Finder:
    def find_spec(self, name, path=None, target=None):
        if threading.current_thread() is not threading.main_thread():
            seen.append(name)
seen = []
sys.meta_path.insert(0, Finder())
from arena.run import main
assert main(sys.argv[1:]) == 0
print("pandas" in sys.modules, seen, file=sys.stderr)
"""


@pytest.mark.parametrize(
    "module", ["arena.run", "arena.tune", "pitflip.__main__", "agents.serve", "games.perft"]
)
def test_ctrl_c_while_a_command_loads_ends_it_by_the_signal(module):
    words = [sys.executable, "-X", "importtime", "-m", module, "--help"]
    with subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        read = []
        for line in process.stderr:  # one for every module that is loaded
            read.append(line)
            if line.endswith("| argparse\n") or " games.terminal" in line or "ast\n" in line:
                process.send_signal(signal.SIGINT)
                break
        read += process.stderr
        assert process.wait() == -signal.SIGINT
    assert "Traceback" not in "".join(read)


def test_a_signal_waits_until_a_module_is_loaded(tmp_path, monkeypatch):
    (tmp_path / "stopped_inside.py").write_text(STOPPED_INSIDE)
    monkeypatch.syspath_prepend(str(tmp_path))
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(KeyboardInterrupt), Interrupts().installed():
            importlib.import_module("stopped_inside")
            signal.pause()
        assert sys.modules.pop("stopped_inside").whole
    finally:
        signal.signal(signal.SIGINT, handlers[0])
        signal.signal(signal.SIGTERM, handlers[1])
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def test_no_module_is_loaded_for_the_first_time_in_a_thread(tmp_path):
    path = experiment_file(tmp_path, small(5) + GREEDY)
    words = [path, "--results", tmp_path / "results", "--quiet", "--known", "off"]
    ended = subprocess.run(
        [sys.executable, "-c", THREADS, *map(str, words)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    # Nor pandas at all, which a run takes a fifth longer with: tables are written without it.
    assert ended.stderr.splitlines()[-1] == "False []"


def test_ctrl_c_after_the_tables_changes_nothing(tmp_path):
    path = experiment_file(tmp_path, small(5) + GREEDY)
    with forked(path, "--results", tmp_path / "results", "--known", "off") as process:
        for line in process.stderr:
            if line.startswith("tables: "):
                process.send_signal(signal.SIGINT)
                break
        _, rest = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0
    assert "stopped" not in rest
    assert "Traceback" not in rest
