"""Keys of earlier versions name their substitute."""

from pathlib import Path

import pytest

from arena.config.experiment import load_experiment
from arena.config.toml_file import ExperimentError
from arena.learning.config import load_learn_config
from arena.tuning.study_config import load_study

HEAD = 'game = "kalah(4,3)"\npairs = 2\n'
AGENTS = '[agents.a]\nkind = "random"\n[agents.b]\nkind = "greedy"\n'
TOP = {
    "thoughts = true": "search_info",
    "game_seconds = 60": "game_time",
    "increment = 1": "game_time",
    'unloadable = "forfeit"': "excluded from a [roster]",
    "mixed_machines = true": "nodes",
    'standings = { by = "points" }': '"points"',
    "openings = { plies = [4, 10] }": "random_plies = [4, 10]",
    "openings = { none = true }": '"none"',
    "openings = { within = 2 }": "exact = 2",
    "schedule = { round_robin = true }": '"round_robin"',
    "schedule = { swiss = 3, pairings = 2 }": "pairs",
    'schedule = { place = "a", order = ["b"] }': "as in the file",
    "schedule = { couples = true }": "match",
    "schedule = { knockout = true }": "best",
    'roster = { directory = ".", positions = "x" }': "must_survive",
}
CHECKS = {
    'score_at_least = 0.5\nlooks = "many"': "removed",
    "never_slower_than_seconds = 3": "max_seconds",
    "faster_than_seconds_per_move = 3": 'per = "mean move"',
}
OPTIONS = {
    ("alphabeta", "trusted = true"): 'compile = "unchecked"',
    ("alphabeta", "probcut = 1"): "smart",
    ("alphabeta", "game_seconds = 60"): "game_time",
    ("alphabeta", "increment = 1"): "game_time",
    ("perfect", "database_beans = 3"): "removed",
    ("lines", "new_process_per_game = true"): 'process = "game"',
    ("lines", 'fields = ["own"]'): "question",
    ("lines", 'separator = ","'): "question",
    ("lines", 'first_arguments = ["1"]'): "{seat}",
    ("lines", 'second_arguments = ["2"]'): "{seat}",
    ("lines", "max_restarts = 3"): "removed",
    ("gtp", "tell_time = true"): "game_time",
    ("nboard", "version = 1"): "NBoard 2",
    ("kgp", "think_seconds = 1"): "1 s",
}
TUNE = {
    'constraints = ["pot >= far"]': "range",
    "total_games = 1000": "trials",
    "validation = { alpha = 0.1 }": "fixed error rates",
    "validation = { beta = 0.1 }": "fixed error rates",
}
LEARN = {
    "ridge = 3": "several values",
    "trust = 0.8": "0.8",
    "held_out = 0.1": "0.05",
    "curve = true": "learn.games",
    "matters = true": "learn.patterns",
    "match = { alpha = 0.1 }": "fixed error rates",
}


def messages(tmp_path: Path, text: str, reader=load_experiment) -> str:
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(ExperimentError) as caught:
        reader(path)
    return "\n".join(caught.value.problems)


@pytest.mark.parametrize("line", TOP)
def test_a_key_of_the_file(line, tmp_path):
    assert TOP[line] in messages(tmp_path, f"{HEAD}{line}\n{AGENTS}")


@pytest.mark.parametrize("line", CHECKS)
def test_a_key_of_a_check(line, tmp_path):
    text = f'{HEAD}{AGENTS}[[checks]]\nthat = "a beats b"\n{line}\n'
    assert CHECKS[line] in messages(tmp_path, text)


@pytest.mark.parametrize(("kind", "line"), OPTIONS)
def test_an_option_of_an_agent(kind, line, tmp_path):
    text = f'{HEAD}{AGENTS}[agents.c]\nkind = "{kind}"\ncommand = ["true"]\n{line}\n'
    if kind in ("gtp", "nboard"):
        text = text.replace("kalah(4,3)", "othello(8)")
    if kind in ("alphabeta", "perfect"):
        text = text.replace('command = ["true"]\n', "")
    assert OPTIONS[kind, line] in messages(tmp_path, text)


@pytest.mark.parametrize("line", TUNE)
def test_a_key_of_tune(line, tmp_path):
    agent = '[agents.a]\nkind = "alphabeta"\ndepth = 1\n'
    text = f'{HEAD}{agent}[tune]\nagent = "a"\nweights = {{ pot = [0.5, 2.0] }}\n{line}\n'
    assert TUNE[line] in messages(tmp_path, text, load_study)


@pytest.mark.parametrize("line", LEARN)
def test_a_key_of_learn(line, tmp_path):
    agent = '[agents.a]\nkind = "alphabeta"\nnodes = 9\n'
    text = f'{HEAD}{agent}[learn]\nteacher = "a"\n{line}\n'
    assert LEARN[line] in messages(tmp_path, text, load_learn_config)
