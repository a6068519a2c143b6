"""Users' games: they play like ours, and a violated law is reported in one line."""

import json
import os
import pickle
import shutil
from pathlib import Path

import pytest

from agents.core import AgentSpec, SpecError
from agents.registry import build, kind_of, kinds_for
from games import Game, GameError, game
from games.kernels.jit import INTERPRETED
from games.perft import perft as counts
from games.perft import play_random_games
from tests.commands import perft, replay
from tests.forked import forgetful

ROOT = Path(__file__).parents[2]
OWN = ROOT / "tests" / "games" / "own"
CONNECT4 = ROOT / "experiments" / "games" / "connect4.py"
MNK = (OWN / "mnk.py").read_text()
NIM = (OWN / "nim.py").read_text()
LAPS = (OWN / "laps.py").read_text()
SIZES = {"hex": ":hex(3)", "breakthrough": ":breakthrough(4)", "laps": ":laps(2)"}
EVERY = [
    f"{CONNECT4}:connect4(5,4)",
    *(f"{path}{SIZES.get(path.stem, '')}" for path in sorted(OWN.glob("*.py"))),
]


ZERO = ROOT / "tests" / "scripts" / "nothing.py"
WALK = """
from typing import NamedTuple

import numpy as np

from games.kernels.bits import ONE, U, ZERO


class State(NamedTuple):
    left: np.uint64


def start(rules):
    return State(rules[0])


def slots(rules):
    return [0, 63]


def moves(rules, s):
    return ONE | ONE << U(63) if s.left > ZERO else ZERO


def play(rules, s, slot):
    return State(s.left - ONE), slot == U(63)


def turned(s):
    return s


def key(s):
    return s.left + ONE
"""


def leaves(of: Game, depth: int) -> list[int]:
    return [found for found, _ in counts(of, of.start(), depth)]


def test_connect_four_has_the_published_number_of_move_sequences():
    of = game(f"{CONNECT4}:connect4(7,6)")
    assert leaves(of, 8) == [7, 49, 343, 2401, 16807, 117649, 823536, 5673234]


def test_tic_tac_toe_has_the_published_number_of_games():
    of = game(f"{OWN}/mnk.py:mnk(3,3,3)")
    found = counts(of, of.start(), 9)
    assert [leaves for leaves, _ in found] == [
        9,
        72,
        504,
        3024,
        15120,
        54720,
        148176,
        200448,
        127872,
    ]
    assert found[-1][0] + found[-1][1] == 255168


def test_a_search_finds_four_in_a_row():
    of = game(f"{CONNECT4}:connect4(5,4)")
    position = of.replay("1 5 2 5 3 5")[-1]
    choice = build(AgentSpec("alphabeta", depth=2), of).choose(position)
    assert (of.move_text(position, choice.move), choice.value) == ("4", 1)


@pytest.mark.slow  # a search compiled for one more game
def test_the_second_player_wins_nim_with_nim_sum_zero():
    of = game(f"{OWN}/nim.py:nim(1,2,3)")
    agent = build(AgentSpec("alphabeta", depth=10), of)
    assert agent.choose(of.start()).value == -1
    assert agent.choose(of.play(of.start(), 0)).value == 1


def test_a_game_may_have_more_moves_than_a_word_has_bits():
    chess = game(f"{OWN}/breakthrough.py:breakthrough(8)")
    assert leaves(chess, 4) == [22, 484, 11132, 256036]
    assert len(chess.slots) == 192
    assert play_random_games(chess, 20, 1).draws == 0


@pytest.mark.slow  # its functions take long when Python runs them
def test_a_board_may_have_more_cells_than_a_word_has_bits():
    board = game(f"{OWN}/hex.py:hex(9)")
    assert leaves(board, 3) == [81, 81 * 80, 81 * 80 * 79]
    assert play_random_games(board, 20, 1).draws == 0


@pytest.mark.slow  # the longest of all to compile
def test_alphabeta_plays_moves_of_four_words():
    small = game(f"{OWN}/hex.py:hex(2)")
    agent = build(AgentSpec("alphabeta", depth=4, evaluate=str(ZERO)), small)
    assert agent.choose(small.start()).value == 1


def test_a_game_may_be_one_move_long_or_thousands(tmp_path):
    single = game(f"{OWN}/mnk.py:mnk(1,1,1)")
    assert leaves(single, 3) == [1, 0, 0]
    path = tmp_path / "walk.py"
    path.write_text(WALK)
    long = game(f"{path}:walk(3000)")
    assert play_random_games(long, 2, 1).moves == 6000


def test_extra_turns_and_passes_are_those_of_the_file():
    of = game(f"{OWN}/laps.py:laps(2)")
    position = of.play(of.start(), 1)  # the last bean falls in the own pot
    assert position.mover == 0
    passes, dice = 0, 0
    for dice in range(40):
        position = of.start()
        while legal := of.legal(position):
            passes += legal == (of.pass_move,)
            position = of.play(position, legal[dice % len(legal)])
    assert passes > 0
    assert sum(play_random_games(of, 100, 1)[:3]) == 100


# Slow for all files but one.
one_of_a_file = pytest.mark.parametrize(
    "name", [EVERY[0], *(pytest.param(name, marks=pytest.mark.slow) for name in EVERY[1:])]
)


@one_of_a_file
def test_a_game_of_a_file_is_one_object_that_travels_between_processes(name):
    of = game(name)
    assert game(of.name) is of
    assert pickle.loads(pickle.dumps(of)) is of
    assert of.replay(of.write(of.legal(of.start())[:1]))[-1] == of.play(
        of.start(), of.legal(of.start())[0]
    )


@one_of_a_file
def test_every_kind_plays_it_unless_a_part_is_missing(name):
    of = game(name)
    assert {"random", "first", "last"} <= set(kinds_for(of))
    needless = [
        kind for kind in kinds_for(of) if not any(o.required for o in kind_of(kind).options)
    ]
    for kind in set(needless) - {"human"}:
        agent, position = build(AgentSpec(kind), of), of.start()
        agent.start(1)
        for _ in range(3):
            position = of.play(position, agent.choose(position).move)


def test_a_missing_part_is_named_with_its_remedy():
    of = game(f"{OWN}/mnk.py")
    for kind, advice in (("greedy", "gain"), ("smart", "FEATURES"), ("alphabeta", "evaluate")):
        with pytest.raises(SpecError, match=advice) as refused:
            build(AgentSpec(kind), of)
        assert len(str(refused.value).splitlines()) == 1


def test_the_commands_take_a_path_from_the_working_directory(tmp_path, monkeypatch, capsys):
    shutil.copy(OWN / "mnk.py", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert perft(["mnk.py:mnk(3,3,3)", "2"]) == 0
    assert replay(["mnk.py", "5 1 2", "--json"]) == 0
    assert "72" in capsys.readouterr().out
    assert perft(["nothing.py", "2"]) == 2
    assert "cannot be read" in capsys.readouterr().err


SEED = "np.random.seed(1)\n\n\n"  # so that the same law is violated first
LINE = "def line(discs, rules):\n"
SLOTS = "return range(rules[0] * rules[1])"
HASH = "return pair_key(s.own, s.other)"
TURNED = "return State(s.other, s.own)\n"
ONE_NUMBER = "def score(rules, position):\n    return 3\n\n\n"
PLAY = "return State(s.other, s.own | 1 << slot), False"
BROKEN = {
    "a syntax error": (MNK, "def turned(s):", "def turned(s)", "SyntaxError: expected"),
    "a missing name": (MNK, "def turned", "def turn", "it defines no turned"),
    "an exception": (MNK, "m, n, k = rules[0], rules[1], rules[2]", "m, n, k = rules", ""),
    "a slot of no move": (MNK, "return range(rules[0] * rules[1])", "return range(8)", "slot 8"),
    "slots that are too many": (MNK, SLOTS, "return range(257)", "255"),
    "slots of nothing": (MNK, "return range(rules[0] * rules[1])", "return None", "slots must be"),
    "a score of one": (NIM, "def move_text", f"{ONE_NUMBER}def move_text", "two numbers"),
    "a word too long": (MNK, PLAY, "return State(s.other, 1 << 70), False", "64 bits"),
    "no second value": (MNK, PLAY, "return State(s.other, s.own | 1 << slot)", "play must return"),
    "a move that does nothing": (MNK, PLAY, "return State(s.other, s.own), False", "must change"),
    "another turn": (MNK, TURNED, "return State(s.other, s.own + ONE)\n", "turned twice"),
    "a sign": (MNK, "return -1 if line", "return 1 if line", "final is 1"),
    "a key of nothing": (MNK, HASH, "return s.own & s.other", "never be 0"),
    "a key for two": (MNK, HASH, "return s.own | s.other | ONE", "same key"),
    "no end": (
        NIM,
        "return State(s.heaps - (beans << (U(4) * heap))), False",
        "return State(s.heaps ^ (beans << U(40))), False",
        "must end within 500 plies",
    ),
    "rules that are changed": (
        MNK, "    " + PLAY, "    rules[0] = 2\n    " + PLAY, "play must not change the rules"
    ),
    "a memory": (MNK, LINE, "MET = [0]\n\n\n" + LINE + "    MET[0] += 1\n"
        "    if MET[0] % 2 == 0:\n        return True\n", "must return equal results"),
    "chance": (MNK, LINE, SEED + LINE + "    if np.random.random() < 0.3:\n        return True\n",
        "must return equal results"),
    "no first move": (MNK, "if line(s.other, ", "if not line(s.own, ", "first player"),
    "moves beyond a word": (MNK, SLOTS, "return range(100)", "a Quad of games.kernels.quad"),
    "a decorator": (
        MNK, "def turned(s)", "@__import__('functools').cache\ndef turned(s)", "without a decorator"
    ),
    "a text": (NIM, '"abc"[move // 16]', '"aac"[move // 16]', "reads back differently"),
}  # fmt: skip
SCORE = """

def score(rules, position):
    mover, waiting = (int(line(discs, rules)) for discs in position.state)
    return (mover, waiting) if position.mover == 0 else (waiting, mover)
"""


# Signed numbers and words can be combined only in compiled code.
SIGNED, WORD = "((1 << (rules[0] * rules[1])) - 1)", "(U(1 << (rules[0] * rules[1])) - ONE)"
REFUSED = """
import contextlib, io, json, sys
from games import game
from games.base.errors import run_command
from games.user_games import validation
validation.LONGEST = 500  # longer than any game here
refused = []
for name in sys.argv[1:]:
    with contextlib.redirect_stderr(io.StringIO()) as err:
        refused.append((run_command("game", lambda: game(name) and 0), err.getvalue()))
print(json.dumps(refused))
"""


def broken(directory: Path, name: str) -> str:
    """The name of a game in a file that violates the law."""
    text, right, wrong, _ = BROKEN[name]
    assert right in text
    text = text.replace(right, wrong).replace(SIGNED, WORD)
    if name == "an exception":
        text = text.replace("if run == k:", "if 1 // (run - run) == k:")
    of_mnk = right in MNK and right not in NIM
    path = directory / f"{name.replace(' ', '_')}.py"
    path.write_text(text + (SCORE if of_mnk else ""))
    return f"{path}:{'mnk' if of_mnk else 'nim'}"


@pytest.fixture(scope="module")
def refusals(tmp_path_factory) -> dict[str, tuple[int, str]]:
    """Status and message for every broken file, all in one process that compiles none of them."""
    directory = tmp_path_factory.mktemp("broken")
    names = [broken(directory, name) for name in BROKEN]
    done = forgetful(ROOT, REFUSED, *names, env={**os.environ, "NUMBA_DISABLE_JIT": "1"})
    return dict(zip(BROKEN, json.loads(done.stdout), strict=True))


def assert_one_line(status: int, err: str, name: str, message: str) -> None:
    assert status == 2
    lines = [line for line in err.splitlines() if "compiling" not in line]
    assert len(lines) == 1
    assert f"{name.replace(' ', '_')}.py" in lines[0]
    assert message in lines[0]


@pytest.mark.parametrize("name", BROKEN)
def test_a_violated_law_is_reported_in_one_line(name, refusals):
    assert_one_line(*refusals[name], name, BROKEN[name][-1])


# Compiled shifts wrap around, Python's do not.
WRAPS = "(rules[0] << 62) % 3"
COMPILED = {
    "what does not compile": (
        "nim", "return mixed(s.heaps) | ONE", "return {1: s.heaps | ONE}[1]", "cannot be compiled"
    ),
    "a turn that wraps": ("mnk", PLAY, f"{PLAY[:-5]}{WRAPS} == 2", "compiled play differs"),
    "an end that wraps": (
        "mnk",
        "def final(",
        f"def over(rules, s):\n    return {WRAPS} != 2\n\n\ndef final(",
        "compiled over differs",
    ),
}  # fmt: skip


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
@pytest.mark.parametrize("name", COMPILED)
def test_a_difference_after_compilation_is_reported_in_one_line(name, tmp_path, capsys):
    function, right, wrong, message = COMPILED[name]
    text = {"mnk": MNK, "nim": NIM}[function]
    assert right in text
    path = tmp_path / f"{name.replace(' ', '_')}.py"
    path.write_text(text.replace(right, wrong))
    status = perft([f"{path}:{function}", "2"])
    assert_one_line(status, capsys.readouterr().err, name, message)


def test_an_edited_file_is_another_game_and_cannot_be_unpickled(tmp_path):
    path = tmp_path / "mnk.py"
    path.write_text(MNK)
    first = game(str(path))
    sent = pickle.dumps(first)
    path.write_text(MNK + "# edited\n")
    assert game(str(path)) is not first
    with pytest.raises(GameError, match="was changed"):
        pickle.loads(sent)
