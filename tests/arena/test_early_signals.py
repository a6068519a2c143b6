"""A signal once everything is written: no traceback, and no message that the run was stopped."""

import signal

from tests.arena.running import experiment_file, run_in_fork, small
from tests.arena.test_kill import PATIENCE_SECONDS

GREEDY = '[agents.greedy]\nkind = "greedy"\n'


def test_ctrl_c_after_the_tables_changes_nothing(tmp_path):
    path = experiment_file(tmp_path, small(5) + GREEDY)
    with run_in_fork(path, "--results", tmp_path / "results", "--cache", "off") as process:
        for line in process.stderr:
            if line.startswith("tables: "):
                process.send_signal(signal.SIGINT)
                break
        _, rest = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0
    assert "stopped" not in rest
    assert "Traceback" not in rest
