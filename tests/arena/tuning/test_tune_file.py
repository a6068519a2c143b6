import sys
from dataclasses import replace
from pathlib import Path

import pytest

from arena.config.experiment import ExperimentError
from arena.tuning.budget import StudyBudget, budget_from_file, budget_from_seconds
from arena.tuning.study_config import load_study

GOOD = """\
game = "kalah(6,4)"
openings = { random_plies = 6 }
[agents.mine]
kind = "alphabeta"
depth = 2
weights = { pot = 1.0 }
[agents.greedy]
kind = "greedy"
[tune]
agent = "mine"
games = 40
trials = 20
[tune.weights]
pot = [0.5, 5.0]
in_play = { range = [-1, 1] }
capture = 0.25
"""

BROKEN = {
    'agent = "mine"': ('agent = "mien"', 10, 'there is no agent "mien"', 'did you mean "mine"?'),
    'agent = "mine"\n': ('agent = ""\n', 10, 'there is no agent ""', "there are mine, greedy"),
    "pot = [0.5, 5.0]": ("pto = [0.5, 5.0]", 14, 'unknown weight "pto"', 'did you mean "pot"?'),
    "in_play = { range = [-1, 1] }": ("in_play = [1, -1]", 15, "empty range", "[1, -1]"),
    "capture = 0.25": ("capture = [0.5, 1.0]", 16, "no room for the seed weight", "it is 0"),
    "trials = 20": ("trials = 3", 12, "3 trials are too few", "at least 10"),
    "games = 40": ("games = 4", 11, "from 20 to", "got 4"),
    "games = 40\n": ("games = 41\n", 11, "games must be even", "40 and 42 are, got 41"),
    "[agents.greedy]": ("[agents.greedie]", 0, "", ""),
}


def written(directory: Path, text: str) -> Path:
    path = directory / "tune_test.toml"
    path.write_text(text)
    return path


def problems(directory: Path, text: str) -> list[str]:
    with pytest.raises(ExperimentError) as caught:
        load_study(written(directory, text))
    return caught.value.problems


def test_a_good_file_says_everything(tmp_path: Path) -> None:
    tuning = load_study(written(tmp_path, GOOD))
    assert tuning.space.names == ("pot", "in_play")
    assert tuning.seed_values == {"pot": 1.0, "in_play": 0.0}
    assert tuning.space.fixed == {"capture": (0.25,)}
    assert tuning.opponents == (("mine", 1.0),)
    assert (tuning.trials, tuning.games, tuning.method) == (20, 40, "spsa")
    assert tuning.chosen


@pytest.mark.parametrize("before", [key for key, value in BROKEN.items() if value[1]])
def test_a_problem_names_its_line_and_a_fix(tmp_path: Path, before: str) -> None:
    after, line, told, hint = BROKEN[before]
    (found,) = problems(tmp_path, GOOD.replace(before, after))
    assert found.startswith(f"{tmp_path / 'tune_test.toml'}:{line}: ")
    assert told in found
    assert hint in found


def test_a_switch_of_a_range_is_true_or_false(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, GOOD.replace("[-1, 1] }", "[-1, 1], integer = 1 }"))
    assert found.endswith("in_play: integer must be true or false, got 1")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("{ range = [-1, 1], lgo = true }", 'unknown key "lgo"'),
        ("{ range = [-1, 1], phases = 9 }", "phases must be a whole number from 1 to 8, got 9"),
        ("{ phases = 3 }", "range is missing"),
        ("{ choices = [1, 2], log = true }", "choices stand alone, without log"),
        ("{ choices = [1] }", "choices must be 2 to 50 different numbers or texts"),
        ("[0, 1e308]", "must lie within ±100000"),
        ('"x"', "must be a number, a range like"),
    ],
)
def test_one_problem_of_a_range_is_one_line(tmp_path: Path, table: str, message: str) -> None:
    (found,) = problems(tmp_path, GOOD.replace("{ range = [-1, 1] }", table))
    assert message in found


def test_capitals_are_understood(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, GOOD.replace("in_play =", "IN_PLAY ="))
    assert 'did you mean "in_play"?' in found


def test_all_problems_are_listed_at_once(tmp_path: Path) -> None:
    text = GOOD
    for before, (after, line, _, _) in BROKEN.items():
        if line and not before.startswith("agent"):
            text = text.replace(before, after)
    assert len(problems(tmp_path, text)) >= 4


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('method = "annealing"', 'method must be "auto", "spsa", "tpe", "cmaes", "random" or'),
        ('method = "gp"', 'was removed; take "tpe", or "optuna.samplers:GPSampler"'),
        ('method = "fit"', "pitflip learn"),
        ('method = "QMCSampler"', 'did you mean "optuna.samplers:QMCSampler"?'),
        ('method = "optuna.samplers:RandmSampler"', 'mean "optuna.samplers:RandomSampler"?'),
        ('method = "optuna.samplers:GridSampler"', "GridSampler does not suit a study"),
        ('method = "optuna.samplers:BaseSampler"', "method must be"),
        ('method = "os:system"', "method must be"),
        ('opponents = ["gredy"]', 'there is no agent "gredy"'),
        ("opponents = { mine = 0 }", "opponents must be names, or shares"),
        ("opponents = { mine = inf }", "opponents must be names, or shares"),
        ("validation = { elo0 = 0, elo1 = 5, pairs = 100 }", "100 pairs cannot tell 5 Elo from 0"),
        ("validation = { elo0 = 5, elo1 = 0 }", "elo0 < elo1 must hold"),
        ("validation = { elo1 = 1e-300 }", "elo1 must be at least 0.1 above elo0"),
        ("validation = { elo0 = 5, elo1 = 5.0000001 }", "no match can tell 5 Elo from 5"),
        ("gmaes = 3", 'did you mean "games"?'),
        ("total_games = 100", "write trials and games"),
        ("validation = { alpha = 0.1 }", "the matches of tune and learn have fixed error rates"),
        (
            'constraints = ["pot >= in_play"]',
            'unknown key "constraints"; it was removed',
        ),
        (
            'start = "learned"',
            'unknown key "start"; it was removed',
        ),
        ('equal = "time"', "give mine nodes"),
        ("options = { epsilon = { choices = [0.5, 0.7] } }", "none of its choices"),
    ],
)
def test_impossible_studies_are_refused(tmp_path: Path, line: str, told: str) -> None:
    found = problems(tmp_path, GOOD.replace("[tune.weights]", f"{line}\n[tune.weights]"))
    assert any(told in each for each in found), found


def test_a_file_without_the_table_says_so(tmp_path: Path) -> None:
    text = GOOD[: GOOD.index("[tune]")]
    assert any("tune is missing" in each for each in problems(tmp_path, text))


def test_a_weight_may_be_cut_into_phases(tmp_path: Path) -> None:
    text = GOOD.replace("{ range = [-1, 1] }", "{ range = [-1, 1], phases = 2 }")
    text = text.replace("pot = 1.0", "pot = 1.0, in_play = [0.25, 0.5]")
    tuning = load_study(written(tmp_path, text))
    assert tuning.space.names == ("pot", "in_play.1", "in_play.2")
    assert tuning.seed_values == {"pot": 1.0, "in_play.1": 0.25, "in_play.2": 0.5}
    point = tuning.space.point(tuning.seed_values)
    assert tuning.space.weights(point)["in_play"] == (0.25, 0.5)


def test_a_candidate_at_equal_time_has_its_share_of_the_nodes(tmp_path: Path) -> None:
    usual = GOOD.replace("depth = 2\n", "").replace("alphabeta", "smart_classic")
    for text, nodes in ((GOOD.replace("depth = 2", "nodes = 1000"), 1000), (usual, 20_000)):
        tuning = load_study(written(tmp_path, text))
        assert tuning.candidate == tuning.spec
        assert replace(tuning, share=0.9).candidate.options["nodes"] == 0.9 * nodes


def test_few_values_are_for_tpe(tmp_path: Path) -> None:
    line = "options = { random_ties = { choices = [true, false] } }\n"
    text = GOOD.replace("[tune.weights]", f"{line}[tune.weights]")
    assert load_study(written(tmp_path, text)).method == "tpe"
    (found,) = problems(tmp_path, text.replace(line, f'method = "spsa"\n{line}'))
    assert "random_ties has few values" in found


def test_opponents_have_shares(tmp_path: Path) -> None:
    text = GOOD.replace("[tune.weights]", "opponents = { mine = 3, greedy = 1 }\n[tune.weights]")
    assert load_study(written(tmp_path, text)).opponents == (("mine", 0.75), ("greedy", 0.25))


def test_15_percent_of_the_games_are_for_the_claim(tmp_path: Path) -> None:
    text = GOOD.replace("games = 40\ntrials = 20", "games = 200\ntrials = 85")
    plan = budget_from_file(load_study(written(tmp_path, text)))
    assert plan.total * plan.games == 17_000
    assert plan.claim_pairs == 1500
    assert plan._replace(total=10).claim_pairs == 400  # at least
    assert plan._replace(validation_pairs=200).claim_pairs == 200  # the match has no more


def test_a_budget_shrinks_trials_before_it_drops_them(tmp_path: Path) -> None:
    words = ["tune.trials=100", "tune.games=400", "tune.method=tpe"]
    tuning = load_study(written(tmp_path, GOOD), words)
    assert budget_from_seconds(tuning, 1e6, 1000.0) == StudyBudget(100, 400, 2000, 100)
    small = budget_from_seconds(tuning, 10.0, 1000.0)
    assert small.trials == 40
    assert small.games == 150
    assert budget_from_seconds(tuning, 0.1, 100.0) == StudyBudget(10, 20, 50, 10)


@pytest.mark.parametrize("games", [20, 400, 8000])
def test_steps_of_spsa_stay_small_whatever_the_budget(tmp_path: Path, games: int) -> None:
    tuning = load_study(written(tmp_path, GOOD), [f"tune.games={games}"])
    plan = budget_from_file(tuning)
    assert (plan.games, plan.trials, plan.size) == (20, 20 * games // 20, games // 20)


@pytest.mark.parametrize("name", ["tune_kalah", "tune_othello", "tune_owari"])
def test_the_shipped_files_are_good(name: str) -> None:
    tuning = load_study(Path(f"experiments/{name}.toml"))
    assert tuning.trials * tuning.games >= 30_000


@pytest.mark.parametrize(("name", "package"), [("QMCSampler", "scipy"), ("GPSampler", "torch")])
def test_a_sampler_without_its_package_names_the_package(
    tmp_path: Path, name: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (package, f"{package}.stats", f"{package}.stats.qmc"):
        monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    text = GOOD.replace("[tune.weights]", f'method = "optuna.samplers:{name}"\n[tune.weights]')
    (found,) = problems(tmp_path, text)
    assert f":{text[: text.index('method')].count(chr(10)) + 1}: " in found
    assert f"{name} needs the package {package}, which is not installed: pip install" in found


def test_any_sampler_of_optuna_is_accepted(tmp_path: Path) -> None:
    method = "optuna.samplers:NSGAIISampler"
    assert load_study(written(tmp_path, GOOD), [f"tune.method={method}"]).method == method
