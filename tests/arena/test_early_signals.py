"""Signals while modules are loaded, and once all is written: no traceback, no lie."""

import importlib
import signal
import sys

import pytest

from arena.playing.options import Interrupts
from tests.arena.running import experiment_file, forked, small
from tests.arena.test_kill import PATIENCE_SECONDS

GREEDY = '[agents.greedy]\nkind = "greedy"\n'

STOPPED_INSIDE = """
import os, signal
os.kill(os.getpid(), signal.SIGINT)
whole = True
"""


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


def test_ctrl_c_after_the_tables_changes_nothing(tmp_path):
    path = experiment_file(tmp_path, small(5) + GREEDY)
    with forked(path, "--results", tmp_path / "results", "--cache", "off") as process:
        for line in process.stderr:
            if line.startswith("tables: "):
                process.send_signal(signal.SIGINT)
                break
        _, rest = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0
    assert "stopped" not in rest
    assert "Traceback" not in rest
