"""Valid experiment files: their plans and digests."""

import json
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agents.core import AgentSpec
from agents.registry import AGENTS, kind_of, kinds_for, user_files
from arena.config.experiment import ExperimentError, load_experiment
from arena.planning.plan import RANDOM_OPENINGS, Plan
from games import game

SHIPPED = sorted(Path("experiments").glob("*.toml"))
ISSUE = """\
game = "kalah(6,4)"
pairs = 1000
seed = 2026
openings = { random_plies = 6 }

[agents.smart]
kind = "smart"

[agents.bad]
kind = "random"

[[checks]]
that = "smart beats bad"
always = "winnable"
"""
SMALL = 'game = "kalah"\nagents.a.kind = "smart"\nagents.b.kind = "first"\n'


def loaded(tmp_path, text, *overrides):
    path = tmp_path / "small.toml"
    path.write_text(text)
    return load_experiment(path, overrides)


def test_example_experiment_has_all_values(tmp_path):
    made = loaded(tmp_path, ISSUE)
    assert (made.name, made.plan.game_name, made.plan.pairs, made.plan.seed) == (
        "small",
        "kalah(6,4)",
        1000,
        2026,
    )
    assert made.plan.agents == {"smart": AgentSpec("smart"), "bad": AgentSpec("random")}
    assert (made.plan.openings.method, made.plan.openings.values) == ("random", {"random_plies": 6})
    assert made.checks[0].parties == ("smart", "bad")
    assert (made.checks[0].test, made.checks[0].values["always"]) == ("always", "winnable")
    assert made.plan.base == tmp_path


def test_explicit_defaults_change_neither_plan_nor_digest(tmp_path):
    short = loaded(tmp_path, SMALL).plan
    written = loaded(
        tmp_path,
        SMALL,
        "pairs=100",
        "seed=1",
        'schedule="round_robin"',
        "openings={ random_plies = 6, repeat = false }",
        "move_seconds=60",
        "agents.a.nodes=20000",
        "agents.a.table_bits=16",
        "agents.a.random_ties=false",
        "agents.b.epsilon=0",
    ).plan
    assert written == short
    assert written.digest() == short.digest()
    other = loaded(tmp_path, SMALL, "agents.a.nodes=20000", "agents.a.depth=6").plan
    assert other.digest() != short.digest()


def test_the_shortest_file_has_sensible_defaults(tmp_path):
    made = loaded(tmp_path, SMALL)
    assert (made.plan.game_name, made.plan.pairs, made.plan.seed) == ("kalah(6,4)", 100, 1)
    assert (made.plan.move_seconds, made.plan.stop, made.checks) == (60.0, None, ())
    assert made.plan.openings == RANDOM_OPENINGS
    assert made.plan.matches == ((0, 1),)
    assert made.plan.keep_moves


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_shipped_experiment_loads(path):
    made = load_experiment(path)
    assert made.name == path.stem
    assert made.plan.matches
    assert path.read_text().startswith(("#", 'game = "'))


@pytest.mark.parametrize("kind", [kind for kind in AGENTS if kind != "human"])
def test_required_options_suffice_for_every_kind(tmp_path, kind):
    (tmp_path / "bot.py").write_text("def choose(position, legal, rng): return legal[0]\n")
    needed = {"file": '"bot.py"', "command": '["bot.py", "-x"]'}
    more = "".join(f"{name} = {needed[name]}\n" for name in kind_of(kind).required_options)
    of = next(name for name in ("kalah(6,4)", "othello(8)") if kind in kinds_for(game(name)))
    agents = f'[agents.a]\nkind = "random"\n[agents.c]\nkind = "{kind}"\n{more}'
    made = loaded(tmp_path, f'game = "{of}"\n{agents}')
    assert made.plan.agents["c"].kind == kind
    for file in user_files(made.plan.agents["c"]):
        assert file == tmp_path / "bot.py"


def test_every_field_of_a_spec_can_be_written(tmp_path):
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots" / "my.py").write_text("WEIGHTS = {'lead': 1}\n")
    made = loaded(
        tmp_path,
        """
        game = "kalah"
        [agents.a]
        kind = "alphabeta"
        depth = 5
        nodes = 1000
        seconds = 1
        weights = { lead = 2 }
        evaluate = "bots/my.py:evaluate"
        compile = "unchecked"
        endgame = 3
        table_bits = 10
        random_ties = true
        epsilon = 0.5
        [agents.b]
        kind = "minimax"
        collapse_turns = true
        weights = { pot = [1, 2.5], mobility = 1 }
        [agents.c]
        kind = "python"
        file = "bots/my.py"
        options = { level = 3 }
        """,
    )
    mine = tmp_path / "bots" / "my.py"
    assert made.plan.agents["a"] == AgentSpec(
        "alphabeta",
        depth=5,
        nodes=1000,
        seconds=1.0,
        weights={"lead": (2.0,)},
        evaluate=f"{mine}:evaluate",
        compile="unchecked",
        endgame=3,
        table_bits=10,
        random_ties=True,
        epsilon=0.5,
    )
    weights = {"pot": (1.0, 2.5), "mobility": (1.0,)}
    assert made.plan.agents["b"] == AgentSpec("minimax", collapse_turns=True, weights=weights)
    assert made.plan.agents["c"] == AgentSpec("python", file=f"{mine}:choose", options={"level": 3})
    assert made.plan.to_json()["agents"]["a"]["evaluate"] == "bots/my.py:evaluate"


def test_directory_of_the_experiment_precedes_the_working_directory(tmp_path, monkeypatch):
    here, there = tmp_path / "here", tmp_path / "there"
    for directory, pot in ((here, 1), (there, 2)):
        directory.mkdir()
        (directory / "w.toml").write_text(f"[weights]\npot = {pot}\n")
    text = SMALL + 'agents.a.weights = "w.toml"\n'
    monkeypatch.chdir(here)
    assert loaded(there, text).plan.agents["a"].options["weights"] == {"pot": (2.0,)}
    (there / "w.toml").unlink()
    assert loaded(there, text).plan.agents["a"].options["weights"] == {"pot": (1.0,)}


SCHEDULES = {
    '"round_robin"': ((0, 1), (0, 2), (1, 2)),
    '{ gauntlet = "b" }': ((1, 0), (1, 2)),
    '{ match = ["c", "a"] }': ((2, 0),),
    '{ match = [["c", "a"], ["a", "b"]] }': ((2, 0), (0, 1)),
}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_schedules_give_matches(tmp_path, schedule):
    text = f'schedule = {schedule}\n{SMALL}agents.c.kind = "last"\n'
    assert loaded(tmp_path, text).plan.matches == SCHEDULES[schedule]


def test_two_agents_need_no_names_for_a_match(tmp_path):
    assert loaded(tmp_path, 'schedule = "match"\n' + SMALL).plan.matches == ((0, 1),)


OPENINGS = {
    '"none"': ("none", True, 1),
    "{ random_plies = 0 }": ("none", True, 1),
    "{ random_plies = 0, repeat = true }": ("none", True, 100),
    "{ random_plies = 3, balance = 4 }": ("random", 3, 100),
    "{ enumerate = 4 }": ("enumerate", 4, 100),
    '{ list = ["3 1", "2"] }': ("list", ("3 1", "2"), 2),
    '{ list = ["3 1", "3 1"], repeat = true }': ("list", ("3 1", "3 1"), 100),
}


@pytest.mark.parametrize("openings", OPENINGS)
def test_forms_of_openings(tmp_path, openings):
    made = loaded(tmp_path, f"openings = {openings}\n{SMALL}")
    found = made.plan.openings
    assert (found.method, *found.values.values(), made.plan.pairs) == OPENINGS[openings]
    assert found.repeat == ("repeat" in openings)
    assert found.balance == (4 if "balance" in openings else None)


def test_openings_of_othello_are_squares(tmp_path):
    text = 'openings = { list = ["d3c3", "D3 c5"] }\n' + SMALL.replace("kalah", "othello")
    assert loaded(tmp_path, text).plan.openings.values["list"] == ("d3c3", "D3 c5")


def test_a_sequential_test_becomes_a_plan(tmp_path):
    text = "stop = { sprt = { elo0 = 0, elo1 = 10, alpha = 0.1, model = 'normalized' } }\n" + SMALL
    plan = loaded(tmp_path, text).plan.stop
    assert (plan.elo0, plan.elo1, plan.alpha, plan.beta) == (0, 10, 0.1, 0.05)
    assert plan.model.value == "normalized"


def test_checks_have_parties_and_subjects(tmp_path):
    checks = [
        'that = "a beats b"\nscore_at_least = 0.9\nconfidence = 0.99\nmin_distinct = 20',
        'that = "all"\nno_forfeits = true',
        'that = "a"\nmax_seconds = 0.01\nper = "mean move"',
    ]
    text = SMALL + "".join(f"[[checks]]\n{check}\n" for check in checks)
    first, second, third = loaded(tmp_path, text).checks
    assert (first.test, first.parties, first.subject) == ("score_at_least", ("a", "b"), None)
    assert (first.values["confidence"], first.values["min_distinct"]) == (0.99, 20)
    assert (second.test, second.parties, second.subject) == ("no_forfeits", None, "all")
    assert (third.test, third.subject) == ("max_seconds", "a")


def test_overrides_change_values_anywhere(tmp_path):
    made = loaded(
        tmp_path,
        ISSUE,
        "agents.smart.depth=6",
        "pairs = 50",
        "game=kalah(4,3)",
        "openings={ enumerate = 3 }",
        "checks.0.always=proved",
        "agents.bad.kind=first",
        "agents.smart.weights.pot=[1, 2]",
        "agents.third={ kind = 'last' }",
        "schedule.gauntlet=bad",
    )
    assert made.plan.agents["smart"] == AgentSpec("smart", depth=6, weights={"pot": (1.0, 2.0)})
    assert (made.plan.pairs, made.plan.game_name, made.plan.openings.method) == (
        50,
        "kalah(4,3)",
        "enumerate",
    )
    assert made.checks[0].values["always"] == "proved"
    assert made.plan.matches == ((1, 0), (1, 2))


def test_later_override_wins(tmp_path):
    assert loaded(tmp_path, SMALL, "seed=2", "seed=3").plan.seed == 3


STOCHASTIC = [
    AgentSpec("random"),
    AgentSpec("first", epsilon=0.1),
    AgentSpec("greedy", random_ties=True),
    AgentSpec("smart", seconds=0.1),
    AgentSpec("python", file="bot.py"),
]


def test_only_the_clock_makes_a_run_irreproducible(tmp_path):
    made = loaded(tmp_path, SMALL)
    assert made.plan.is_reproducible
    clocked = replace(made.plan, agents=made.plan.agents | {"a": AgentSpec("smart", seconds=1)})
    assert not clocked.is_reproducible


def test_moves_are_kept_below_a_hundred_thousand_games(tmp_path):
    assert loaded(tmp_path, SMALL, "pairs=49999").plan.keep_moves
    assert not loaded(tmp_path, SMALL, "pairs=50000").plan.keep_moves
    assert loaded(tmp_path, SMALL, "pairs=50000", "keep_moves=true").plan.keep_moves


def test_experiments_and_errors_can_be_pickled(tmp_path):
    made = loaded(tmp_path, ISSUE)
    assert pickle.loads(pickle.dumps(made)) == made
    error = ExperimentError(["x.toml:1: wrong", "x.toml:2: too"])
    assert pickle.loads(pickle.dumps(error)).problems == error.problems


def test_a_stored_plan_is_read_back_whole(tmp_path):
    (tmp_path / "bot.py").write_text("")
    text = (
        'stop = { sprt = { elo0 = 0, elo1 = 10, model = "normalized" } }\nschedule = "match"\n'
        'game = "kalah"\nopenings = { list = ["3 1", "2"] }\n'
        '[agents.a]\nkind = "smart"\nweights = { pot = [1, 2] }\n'
        '[agents.b]\nkind = "python"\nfile = "bot.py"\noptions = { level = 3 }\n'
    )
    plan = loaded(tmp_path, text).plan
    again = Plan.from_json(json.loads(json.dumps(plan.to_json())), tmp_path)
    assert again == plan
    assert again.digest() == plan.digest()


def test_loading_imports_neither_numba_nor_tables():
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from arena.config.experiment import ExperimentError, load_experiment\n"
        "made = load_experiment(Path('experiments/smart_vs_bad.toml'))\n"
        "made.plan.digest(), made.plan.game\n"
        "try:\n"
        "    path = Path('experiments/othello_heuristics.toml')\n"
        "    load_experiment(path, ['openings={list=[\"d9\"]}'])\n"
        "except ExperimentError as error:\n"
        "    assert 'is not a move of othello' in str(error)\n"
        "print({'numba', 'pandas', 'pyarrow', 'optuna'} & set(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


CHANGES = ["seed=2", "pairs=3", "agents.a.depth=3", "game=owari", "openings={random_plies=4}"]


@pytest.mark.parametrize("change", [*CHANGES, "schedule={gauntlet='b'}", "keep_moves=false"])
def test_digest_depends_on_the_plan(tmp_path, change):
    assert loaded(tmp_path, SMALL, change).plan.digest() != loaded(tmp_path, SMALL).plan.digest()


def test_digest_ignores_names_checks_and_layout(tmp_path):
    plain = loaded(tmp_path, SMALL).plan.digest()
    check = '[[checks]]\nthat = "a beats b"\nalways = true\n'
    same = SMALL.replace("kalah", "Kalah(6, 4)").replace('"smart"', '"smart" # comment')
    assert loaded(tmp_path, f'name = "other"\npairs = 100\n{same}{check}').plan.digest() == plain
    (tmp_path / "elsewhere").mkdir()
    assert loaded(tmp_path / "elsewhere", SMALL).plan.digest() == plain


def test_digest_depends_on_user_code_and_weights(tmp_path):
    text = SMALL + 'agents.a.weights = "w.toml"\n[agents.c]\nkind = "python"\nfile = "b.py"\n'
    digests = set()
    for pot, code in ((1, "a = 1\n"), (2, "a = 1\n"), (2, "a = 2\n")):
        (tmp_path / "w.toml").write_text(f"pot = {pot}\n")
        (tmp_path / "b.py").write_text(code)
        digests.add(loaded(tmp_path, text).plan.digest())
    assert len(digests) == 3


def test_a_plan_is_json(tmp_path):
    (tmp_path / "b.py").write_text("")
    text = SMALL + '[agents.c]\nkind = "python"\nfile = "b.py"\noptions = { day = 2026-01-02 }\n'
    said = loaded(tmp_path, text).plan.to_json()
    assert json.loads(json.dumps(said)) == said
    assert said["agents"]["c"]["options"] == {"day": "2026-01-02"}
    assert said["matches"] == [["a", "b"], ["a", "c"], ["b", "c"]]
