"""A reader that has heard enough of a finished study is no fault."""

import subprocess
import sys

import pytest

from tests.arena.running import ROOT

STUDY = """
game = "kalah(4,3)"
seed = 1
openings = { random_plies = [2, 6] }
[agents.a]
kind = "alphabeta"
depth = 2
weights = { pot = 1.0, mobility = 0.5 }
[tune]
agent = "a"
games = 40
trials = 10
[tune.weights]
pot = 1.0
mobility = [-1.0, 1.0]
[tune.validation]
elo1 = 100
pairs = 100
"""


@pytest.mark.slow
def test_a_finished_study_says_nothing_when_nobody_reads_on(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    words = f"{sys.executable} -m arena.tune {path} --results {tmp_path / 'results'} --quiet"
    # The second time it is finished: only its answer is printed.
    for more in ("> /dev/null", "2> errors | true; echo ${PIPESTATUS[0]} >> errors; cat errors"):
        line = f"cd {ROOT}; {words} {more.replace('errors', str(tmp_path / 'errors'))}"
        ended = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    assert ended.stdout == "0\n"
