"""The methods text of a run says what was done in this run, and nothing else."""

import json
import re
import shutil

from arena.report.data import load_report
from arena.report.methods import _methods, method_section, methods_paragraph
from tests.arena.running import experiment_file, only_run, run_experiment_file

HEAD = 'game = "kalah(4,3)"\npairs = 12\n'
TWO = '[agents.a]\nkind = "greedy"\n[agents.b]\nkind = "first"\n'
CLOCK = '[agents.c]\nkind = "alphabeta"\nseconds = 0.001\n'


def report_of(tmp_path, text, good=True):
    assert run_experiment_file(experiment_file(tmp_path, HEAD + text), tmp_path / "results") == good
    return load_report(only_run(tmp_path / "results"))


def test_two_agents_have_half_the_estimate_of_their_pair(tmp_path):
    words = methods_paragraph(report_of(tmp_path, TWO))
    assert "half the Elo difference of the pair" in words
    assert "bootstrap" not in words
    assert "Bradley" not in words


def test_three_agents_are_rated_and_a_clock_is_no_chance(tmp_path):
    report = report_of(tmp_path, TWO + CLOCK)
    words = methods_paragraph(report)
    assert "Bradley" in words
    assert "bootstrap" in words
    assert "c searches by the clock" in words
    assert "chance" not in words


def test_a_swiss_claims_no_proof_and_names_its_pairs(tmp_path):
    third = '[agents.c]\nkind = "last"\n'
    report = report_of(tmp_path, "schedule = { swiss = 2, pairs = 3 }\n" + TWO + third)
    words = methods_paragraph(report)
    assert "for 3 pairs of games" in words
    assert "betting" not in words
    assert "at most" not in words


def test_a_race_says_that_its_intervals_hold_less(tmp_path):
    report = report_of(tmp_path, "schedule = { rank = true }\n" + TWO)
    assert "less often than they say" in str(method_section(report))


def test_every_agent_that_loses_too_much_is_named_and_no_more_beans_than_there_are(tmp_path):
    check = '[[checks]]\nthat = "all"\nmax_mean_loss = 0.0\nlast_beans = 32\n'
    report = report_of(tmp_path, TWO + check, good=False)
    (check,) = json.loads((report.directory / "summary.json").read_text())["checks"]
    assert "a loses" in check["detail"]
    assert "b loses" in check["detail"]
    assert "32 beans" not in check["detail"]


AGENTS = """[agents.deep]
kind = "alphabeta"
depth = 2
weights = { pot = 1, in_play = -0.5 }
[agents.usual]
kind = "smart"
nodes = 1000
[agents.own]
kind = "python"
file = "own.py"
[agents.lots]
kind = "greedy"
epsilon = 0.25
"""


def test_methods_describe_agents_schedule_and_seed(tmp_path):
    (tmp_path / "own.py").write_text("def choose(view, legal, rng):\n    return legal[0]\n")
    report = report_of(tmp_path, "seed = 77\n" + AGENTS)
    words = methods_paragraph(report)
    weights = re.search(r"deep is of the kind alphabeta, with depth 2, the weights in_play -0.5, "
                        r"pot 1 \(digest ([0-9a-f]{16})\)\.", words)  # fmt: skip
    assert weights is not None
    assert re.search(
        r"usual is of the kind smart, with 1,000 nodes a move,? .*\(digest \w{16}\)\.", words
    )
    (digest,) = report.run["files"].values()
    assert f"own is of the kind python, with file = own.py:choose (digest {digest})." in words
    assert "lots is of the kind greedy, with epsilon = 0.25." in words
    assert "in 6 matches, each agent against each other one." in words
    assert "the seed 77, which decides openings" in words
    assert str(tmp_path) not in words
    assert all(str(method).rstrip(".") in words for method in [*_methods(report)])
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(tmp_path / "own.py", other)
    other = report_of(other, AGENTS.replace("-0.5", "-0.6"))
    assert weights[1] not in methods_paragraph(other)


def test_many_agents_are_counted_by_kind(tmp_path):
    report = report_of(tmp_path, "".join(f'[agents.a{n}]\nkind = "greedy"\n' for n in range(13)))
    assert "The agents are of the kinds greedy (13); run.json has" in methods_paragraph(report)
