"""Every kind of agent with something to tune is read, changed and played."""

import json
import tomllib
from pathlib import Path

import pytest

from agents.core import AgentSpec
from agents.protocols import PROTOCOLS
from agents.registry import AGENTS, kind_of, kinds_for
from agents.sandbox.sandbox import Sandbox
from arena.config.toml_file import ExperimentError
from arena.planning.openings.registry import make_openings
from arena.planning.tasks import Task
from arena.tuning.budget import trial_opponents
from arena.tuning.ranges import tunable_options
from arena.tuning.study_config import StudyConfig, load_study
from arena.tuning.trial_games import TrialTask, decode_trial, trial_games
from games import game
from games.base.files import format_toml
from games.base.schema import Key
from tests.agents.helpers import required_options

TUNABLE = tuple(
    kind for kind in AGENTS if kind_of(kind).option("weights") or tunable_options(kind_of(kind))
)
PLAYED = tuple(kind for kind in TUNABLE if kind not in PROTOCOLS)
BOT = """\
class Bot:
    def __init__(self, from_left=0, name="x"):
        self.from_left = from_left
    def choose(self, view, legal, rng):
        return legal[0 if self.from_left else -1]
choose = Bot
"""


def ranged(key: Key) -> object:
    """A range of an option."""
    if key.type == "bool":
        return {"choices": [True, False]}
    if key.choices:
        return {"choices": list(key.choices[:2])}
    low = key.low if key.low > -1e9 else 0.0
    return [int(low), int(low) + 1] if key.type == "int" else [low, min(low + 1.0, key.high)]


def options_of(kind: str) -> tuple[dict[str, object], dict[str, object]]:
    """The options of an agent of a kind, and the ranges of all that can be tuned."""
    own, ranges = {} if kind in PROTOCOLS else required_options(kind), dict[str, object]()
    for key in kind_of(kind).options:
        if f"{key.name}.NAME" in tunable_options(kind_of(kind)):
            own[key.name], ranges[key.name] = {"from_left": 0}, {"from_left": [0, 1]}
        elif key.name in tunable_options(kind_of(kind)):
            ranges[key.name] = ranged(key)
    if kind_of(kind).option("nodes"):
        own["nodes"] = 50
    if "depth" in ranges:
        own |= {"depth": 1}
    if "endgame" in ranges:
        own |= {"endgame": 0}
    return own, ranges


def study_of(kind: str, directory: Path) -> StudyConfig:
    """A study of everything that a kind has to tune."""
    own, ranges = options_of(kind)
    for key in kind_of(kind).options:
        if key.required:
            (directory / "bot.py").write_text(BOT)
            own[key.name] = ["python3", "bot.py"] if key.type == "command" else "bot.py"
    for name, value in ranges.items():
        if isinstance(value, dict) and "choices" in value:
            own[name] = value["choices"][0]
        elif isinstance(value, list):
            own[name] = value[0]
    weights = {"pot": [0.5, 2.0]} if kind_of(kind).option("weights") else {}
    if weights:
        own["weights"] = {"pot": 1.0}
    of = "kalah(6,4)" if kind in kinds_for(game("kalah(6,4)")) else "othello"
    lines = [f"{name} = {format_toml(value)}" for name, value in own.items()]
    path = directory / "tune.toml"
    path.write_text(
        f'game = "{of}"\n[agents.a]\nkind = "{kind}"\n' + "\n".join(lines) + "\n[tune]\n"
        f'agent = "a"\ngames = 20\ntrials = 60\nweights = {format_toml(weights)}\n'
        f"options = {format_toml(ranges)}\n"
    )
    tomllib.loads(path.read_text())
    return load_study(path)


@pytest.mark.parametrize("kind", TUNABLE)
def test_every_option_that_can_be_tuned_is_read(kind: str, tmp_path: Path) -> None:
    space = (tuning := study_of(kind, tmp_path)).space
    low, high = (space.changes([end] * len(space.axes)) for end in (0.0, 1.0))
    first, last = (tuning.spec.replace(**changes) for changes in (low, high))
    for axis in space.axes:
        assert value_at(first, axis.place) != value_at(last, axis.place), axis.name


def value_at(spec: AgentSpec, place: tuple[str, ...]) -> object:
    """The value at a place in the table of an agent."""
    value: object = spec.options
    for name in place:
        value = value.get(name) if isinstance(value, dict) else None
    return value


@pytest.mark.slow
@pytest.mark.parametrize("kind", PLAYED)
def test_candidates_of_every_kind_play(kind: str, tmp_path: Path) -> None:
    played_by_both_ends(study_of(kind, tmp_path))


def played_by_both_ends(tuning: StudyConfig) -> list[bytes]:
    """The games of the candidates at both ends of every range."""
    openings = make_openings(tuning.plan.game, tuning.plan.openings, 10, 1)
    sandbox = Sandbox()
    games = trial_games(
        tuning.plan, tuning.spec, tuning.space, trial_opponents(tuning, 20), openings, 1, 1, sandbox
    )
    found = []
    for end in (0.0, 1.0):
        changes = tuning.space.changes([end] * len(tuning.space.axes))
        part = TrialTask(0, 0, Task(0, 10, {}), changes, True)
        found.append(games.worker.play(part).games)
        assert len(decode_trial(games, 0, found[-1:])) == 20
    return found


def test_a_candidate_with_other_options_plays_other_games(tmp_path: Path) -> None:
    first, last = played_by_both_ends(study_of("fewest", tmp_path))
    assert first != last


CANNOT = {
    ("alphabeta", "nodes = [100, 200]"): "nodes is not tuned: more of it is always better",
    ("alphabeta", "endgame = [0, 9]"): "endgame is tuned at equal nodes only",
    ("alphabeta", "evaluate = [0, 9]"): "evaluate is not tuned: it is a file like",
    ("alphabeta", "memory = [0, 9]"): "it says what a bot may use",
    ("alphabeta", "depht = [1, 9]"): 'unknown key "depht"; did you mean "depth"?',
    ("alphabeta", "epsilon = [0, 9]"): "epsilon must be a number from 0 to 1, got 9",
    ("alphabeta", "random_ties = [0, 9]"): "random_ties must be",
    ("alphabeta", "weights = [0, 9]"): "weights belong in [tune.weights]",
    ("alphabeta", "mobility = [0, 9]"): "mobility is a weight: tune it in [tune.weights]",
    (
        "alphabeta",
        "weights = 3\n[tune.weights]\ndepth = [1, 3]",
    ): "depth is no weight but an option",
    ("random", "epsilon = [0, 1]"): "no options that could be tuned (these have: first, last,",
}


@pytest.mark.parametrize(("kind", "line"), CANNOT)
def test_the_reason_why_an_option_cannot_be_tuned_is_named(
    kind: str, line: str, tmp_path: Path
) -> None:
    path = tmp_path / "tune.toml"
    path.write_text(
        f'game = "kalah(6,4)"\n[agents.a]\nkind = "{kind}"\n[tune]\nagent = "a"\n'
        f"[tune.options]\n{line}\n"
    )
    with pytest.raises(ExperimentError) as caught:
        load_study(path)
    assert any(CANNOT[kind, line] in each for each in caught.value.problems), json.dumps(
        caught.value.problems
    )


@pytest.mark.parametrize(
    ("own", "ends", "tuned"),
    [("1", "[0, 3]", True), ("1.0", "[0, 3]", False), ("1", "[0.0, 3.0]", False)],
)
def test_whole_numbers_of_a_bot_stay_whole(
    own: str, ends: str, tuned: bool, tmp_path: Path
) -> None:
    (axis,) = load_study(bot_study(own, ends, tmp_path)).space.axes
    assert (axis.name, axis.integer) == ("options.from_left", tuned)


def test_a_number_in_quotes_is_no_number(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="write 3 without quotes there, or"):
        load_study(bot_study('"3"', "[0, 9]", tmp_path))


def bot_study(own: str, ends: str, directory: Path) -> Path:
    """A study of one argument of a bot."""
    (directory / "bot.py").write_text(BOT)
    path = directory / "tune.toml"
    path.write_text(
        'game = "kalah(6,4)"\n[agents.a]\nkind = "python"\nfile = "bot.py"\n'
        f'options = {{ from_left = {own} }}\n[tune]\nagent = "a"\n'
        f"options = {{ options = {{ from_left = {ends} }} }}\n"
    )
    return path
