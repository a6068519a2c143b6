"""What `python -m` is given: a command of ours, or one line that names them."""

import subprocess
import sys

import pytest

from tests.arena.running import ROOT

NEAR = {
    "arena": "arena is no command",
    "arena.rnu": 'did you mean "arena.run"?',
    "arena.pipeline": "arena.pipeline is no command",
    "games.kernels": "games.kernels is no command",
    "agents.chekc": 'did you mean "agents.check"?',
}


@pytest.mark.parametrize("module", NEAR)
def test_a_module_that_is_no_command_is_answered_in_one_line(module):
    words = [sys.executable, "-m", module]
    ended = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    (line,) = ended.stderr.splitlines()
    assert NEAR[module] in line
    assert "games.shell_commands" not in line
