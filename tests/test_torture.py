"""A run that is disturbed ends with the same tables."""

import subprocess
import sys

import pytest

from tests.arena.running import ROOT


@pytest.mark.slow
def test_twenty_disturbances_change_nothing(tmp_path):
    words = [sys.executable, "-m", "tools.torture", "--disturbances", "20", "--seed", "5"]
    ended = subprocess.run(
        [*words, "--state", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr
    assert "20 disturbances" in ended.stdout
