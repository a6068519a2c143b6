"""A user's Python bot and its faults."""

import pickle
import re
import signal
from pathlib import Path

import pytest

from agents.core import AgentFailure, AgentSpec, SpecError
from agents.registry import build
from games import game
from tests.agents.helpers import OF_EVERY_FAMILY, few, play_moves, positions

OF = "kalah(6,4)"
POSITION = 9  # of a random game: North is to move


def bot(directory: Path, text: str, name: str = "", of: str = OF, **options):
    path = directory / "mine.py"
    path.write_text(text)
    spec = AgentSpec("python", file=f"{path}{name and ':'}{name}", options=options)
    return build(spec, game(of))


def answer(value: str) -> str:
    return f"def choose(view, legal, rng):\n    return {value}\n"


@pytest.mark.parametrize("name", OF_EVERY_FAMILY)
def test_function_gets_view_moves_and_generator(tmp_path, name):
    text = """
def choose(view, legal, rng):
    assert legal == view.legal and type(legal) is tuple
    assert not view.over and view.mover in (0, 1) and view.side in (0, 1)
    assert view.text and str(view) and view.rows
    return rng.choice(legal)
"""
    of = game(name)
    first, second = (bot(tmp_path, text, of=name) for _ in range(2))
    assert play_moves(first, of, 3, few(200, 5)) == play_moves(second, of, 3, few(200, 5))
    assert play_moves(first, of, 3, 30) != play_moves(first, of, 4, 30)


def test_view_plays_moves(tmp_path):
    text = """
def choose(view, legal, rng):
    return max(legal, key=lambda move: margin_after(view, move))

def margin_after(view, move):
    after = view.play(move)
    return after.margin if after.mover == view.mover else -after.margin
"""
    of = game(OF)
    greedy = build(AgentSpec("greedy"), of)
    for position in positions(OF, 2)[:-1]:
        move = bot(tmp_path, text).choose(position).move
        after, best = of.play(position, move), of.play(position, greedy.choose(position).move)
        mine = 1 if position.mover == 0 else -1
        assert mine * of.margin(after) >= mine * of.margin(best)


def test_rows_begin_with_mover(tmp_path):
    text = """
def choose(view, legal, rng):
    rows = view.rows
    assert (rows.own, rows.own_pot, rows.other_pot) == ((0, 2, 3), 4, 1)
    return legal[0]
"""
    of = game("kalah(3,2)")
    position = of.parse("S 1 1 0, N 3 2 0, pots 1-4, North to move")
    assert bot(tmp_path, text, of="kalah(3,2)").choose(position).move == 1


@pytest.mark.parametrize(
    "value", ["4", "'4'", "' 4 '", "numpy.int64(4)", "legal[view.legal.index(4)]"]
)
def test_answer_is_number_or_text(tmp_path, value):
    of = game(OF)
    asked = bot(tmp_path, f"import numpy\n{answer(value)}")
    assert asked.choose(of.start()).move == 3


def test_class_gets_options_and_seeds(tmp_path):
    text = """
class Patient:
    def __init__(self, hole=0):
        self.hole, self.games = hole, []
    def start(self, seed):
        self.games.append(seed)
    def choose(self, view, legal, rng):
        return self.hole
"""
    agent = bot(tmp_path, text, "Patient", hole=3)
    for seed in (5, 6):
        agent.start(seed)
        assert agent.choose(game(OF).start()).move == 2
    assert agent.bot.games == [5, 6]


def test_instances_are_independent(tmp_path):
    text = """
class Counting:
    def __init__(self):
        self.asked = 0
    def choose(self, view, legal, rng):
        self.asked += 1
        return self.asked
"""
    first, second = bot(tmp_path, text, "Counting"), bot(tmp_path, text, "Counting")
    assert [agent.choose(game(OF).start()).move for agent in (first, first, second)] == [0, 1, 0]


def failure(directory: Path, text: str, name: str = "") -> AgentFailure:
    """Return the failure of the bot in a middle-game position."""
    agent = bot(directory, text, name)
    agent.start(1)
    with pytest.raises(AgentFailure) as failed:
        agent.choose(positions(OF, 0)[POSITION])
    error = failed.value
    assert str(directory / "mine.py") in error.bot
    assert error.bot in str(error)
    assert game(OF).parse(error.position) == positions(OF, 0)[POSITION]
    assert f"'{error.position}'" in str(error)
    assert files_in(error.trace) <= {"mine.py"}
    return error


def files_in(trace: str) -> set[str]:
    return {Path(name).name for name in re.findall(r'^  File "(.*?)"', trace, re.MULTILINE)}


@pytest.mark.parametrize(
    "value",
    ["99", "-1", "None", "2.0", "True", "'z9'", "''", "[3]", "legal", "view", "10**30", "b'3'"],
)
def test_illegal_answer_lists_legal_moves(tmp_path, value):
    error = failure(tmp_path, answer(value))
    assert error.kind == "illegal"
    of, position = game(OF), positions(OF, 0)[POSITION]
    legal = [int(of.move_text(position, move)) for move in of.legal(position)]
    assert f"the legal moves are {legal}" in str(error)
    assert "answered" in str(error)


def test_empty_hole_is_illegal(tmp_path):
    of, position = game(OF), positions(OF, 0)[POSITION]
    empty = of.move_text(position, min(set(range(6)) - set(of.legal(position))))
    assert failure(tmp_path, answer(str(empty))).kind == "illegal"


RAISES = """
import json

def choose(view, legal, rng):
    return look(view)

def look(view):
    return {what}
"""


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("view.play(77)", "IllegalMove: kalah(6,4): move 77 is not legal"),
        ("json.loads('{')", "JSONDecodeError"),
        ("look(view)", "RecursionError"),
        ("exit()", "SystemExit"),
        ("view.nothing", "AttributeError"),
        ("(_ for _ in ()).throw(GeneratorExit)", "GeneratorExit"),
    ],
)
def test_exception_shows_only_user_lines(tmp_path, what, told):
    error = failure(tmp_path, RAISES.format(what=what))
    assert error.kind == "raised"
    assert told in error.trace
    assert files_in(error.trace) == {"mine.py"}
    assert f"return {what}" in error.trace
    assert "in look" in error.trace
    assert len(error.trace.splitlines()) < 40


def test_ctrl_c_belongs_to_person_unless_ignored(tmp_path):
    text = RAISES.format(what="(_ for _ in ()).throw(KeyboardInterrupt)")
    with pytest.raises(KeyboardInterrupt):
        failure(tmp_path, text)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in a worker
    try:
        assert "KeyboardInterrupt" in failure(tmp_path, text).trace
    finally:
        signal.signal(signal.SIGINT, before)


def test_exception_in_start_is_a_failure(tmp_path):
    text = """
class Bad:
    def start(self, seed):
        1 / 0
    def choose(self, *_):
        return 0
"""
    with pytest.raises(AgentFailure, match="ZeroDivisionError") as failed:
        bot(tmp_path, text, "Bad").start(1)
    assert failed.value.kind == "raised"


def test_failure_is_picklable(tmp_path):
    error = failure(tmp_path, RAISES.format(what="1 / 0"))
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    parts = ("kind", "bot", "position", "message", "trace")
    assert [getattr(copy, part) for part in parts] == [getattr(error, part) for part in parts]


@pytest.mark.parametrize(
    ("text", "name", "told"),
    [
        ("def choose(view, legal, rng)\n    return 1", "", "SyntaxError"),
        ("import nothing_like_this", "", "ModuleNotFoundError"),
        ("1 / 0", "", "ZeroDivisionError"),
        ("exit()", "", "SystemExit"),
        ("def chose(view, legal, rng):\n    return 1", "", r'it has chose\); did you mean "chose"'),
        ("", "", "it has nothing"),
        ("choose = 3", "", "choose is int, not a function"),
        ("class Bot:\n    pass", "Bot", "class Bot has no method choose"),
        ("class Bot:\n    choose = 3", "Bot", "class Bot has no method choose"),
        ("class Bot:\n    def __init__(self):\n        1 / 0", "Bot", "ZeroDivisionError"),
        ("class Bot:\n    def __init__(self, must):\n        pass", "Bot", "TypeError"),
    ],
)
def test_unloadable_file_is_explained(tmp_path, text, name, told):
    with pytest.raises(AgentFailure, match=told) as failed:
        bot(tmp_path, text, name)
    error = failed.value
    assert (error.kind, error.position) == ("unloadable", "")
    assert "mine.py" in str(error)
    assert files_in(error.trace) <= {"mine.py"}


def test_missing_bot_file_suggests_nearest(tmp_path):
    (tmp_path / "mine.py").write_text(answer("1"))
    with pytest.raises(AgentFailure, match=r'there is no file .*; did you mean "mine\.py"'):
        build(AgentSpec("python", file=str(tmp_path / "mina.py")), game(OF))
    with pytest.raises(AgentFailure, match="there is no file"):
        build(AgentSpec("python", file=str(tmp_path / "nowhere" / "mine.py")), game(OF))


def test_file_option_is_required():
    with pytest.raises(SpecError, match=r'file is missing, as in file = "bots/mine\.py"'):
        build(AgentSpec("python"), game(OF))


def test_options_need_a_class(tmp_path):
    with pytest.raises(SpecError, match="options are for a class"):
        bot(tmp_path, answer("1"), hole=3)
