"""pitflip check finds problems of bots."""

import pytest

from agents.check import SEED, play_trial
from games import game
from games.base import progress
from games.base.errors import CHECK_FAILED, OK, USER_ERROR
from tests.agents.helpers import BOTS, ROOT
from tests.agents.programs import PYTHON, host_program, other
from tests.commands import check

LOOP = """import os, random, sys, time
games = asked = 0
{before}
for line in sys.stdin:
    position, legal, seconds, chance, game = line.strip().split(";")
    moves, asked = legal.split(), asked + 1
    {answer}
"""
GOOD = "print(moves[0], flush=True)"
BOTH = r"sys.stdout.write(moves[0] + '\nthen\n'); sys.stdout.flush()"  # in one piece
# The code of a bot -> the finding.
WRONG = {
    "no flush": ("", "print(moves[0])", "flush after every answer"),
    "counts from 0": ("", "print(int(moves[0]) - 1, flush=True)", "counted from 0 instead of 1"),
    "no move": ("", "print('hello', flush=True)", "unreadable: answered"),
    "a banner": ("print('hello', flush=True)", GOOD, "wrote a line before its first answer"),
    "a second line": ("", BOTH, "wrote unasked"),
    "slow start": ("time.sleep(1.5)", GOOD, "slow start: its first answer took"),
    "slow answers": ("", "time.sleep(9)", "each question must be answered within the limit"),
    "it dies": ("", "os._exit(7)", "ended with exit status 7"),
    "an exception": ("", "moves[99]", "it wrote: IndexError: list index out of range"),
    "it cannot start": ("import nowhere", GOOD, "it wrote: ModuleNotFoundError"),
    "it remembers": (
        "",
        "print(moves[-1 if asked > 20 else 0], flush=True)",
        "it keeps state between games",
    ),
    "it throws dice": ("", "print(random.choice(moves), flush=True)", "random.choice in bot.py"),
    "it reads a clock": (
        "",
        "print(moves[time.time_ns() // 1000 % len(moves)], flush=True)",
        "different answers to the",
    ),
}


def run_check(capsys, *words: str) -> tuple[int, str]:
    status = check(list(words))
    return status, capsys.readouterr().out


def write_bot(directory, before: str, answer: str) -> str:
    path = directory / "bot.py"
    path.write_text(LOOP.format(before=before, answer=answer))
    return str(path)


SLOW = ("slow start", "slow answers", "it dies", "no move", "an exception")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in WRONG]
)
def test_check_finds_problem(tmp_path, capsys, name):
    before, answer, message = WRONG[name]
    toml = tmp_path / "mine.toml"
    command = f'["{PYTHON}", "{write_bot(tmp_path, before, answer)}"]'
    slow = "2.0" if "slow" in name else "60.0"
    toml.write_text(
        f'[agents.a]\nkind = "lines"\ncommand = {command}\nstart_seconds = {slow}\nprocesses = 9\n'
    )
    # Long games: dice never fall alike in all of one.
    of = "kalah(6,4)" if "dice" in name or "clock" in name else "kalah(4,3)"
    words = [str(toml), "--pairs", "1", "--game", of]
    if name in ("no flush", "slow answers"):
        toml.write_text(toml.read_text().replace(slow, "0.3"))
        words += ["--seconds", "0.3"]
    status, said = run_check(capsys, *words)
    assert status == CHECK_FAILED
    assert message in said
    assert said.count("WRONG") == 1
    assert said.endswith("faults found\n")


VALUES = {
    "1e30 * (pot(rules, position) + 1)": "are clipped at ±999,999.999",
    "0.0001 * pot(rules, position)": "values are rounded to thousandths",
}


@pytest.mark.parametrize("value", VALUES)
def test_check_finds_indistinguishable_values(value, tmp_path, capsys):
    path = tmp_path / "own.py"
    lines = ["from agents.features.sowing import pot", "def evaluate(rules, position):"]
    path.write_text("\n".join([*lines, f"    return {value}", ""]))
    words = [f"{path}:evaluate", "--pairs", "1", "--game", "kalah(4,3)"]
    status, said = run_check(capsys, *words)
    assert status == CHECK_FAILED
    assert VALUES[value] in said


def test_check_finds_exit_after_game(capsys):
    of = game("kalah(4,3)")
    with host_program("lines", of, command=other("lines")) as agent:
        answers = len(play_trial(agent, of, 0, SEED).answers)
    command = other("lines", "after", str(answers))
    status, said = run_check(capsys, "--pairs", "1", "--game", of.name, "--", *command)
    assert status == CHECK_FAILED
    assert "it exits after a game" in said


@pytest.mark.parametrize("name", ["line_bot.py", pytest.param("my_bot.py", marks=pytest.mark.slow)])
def test_examples_pass_check(capsys, name):
    words = [f"{ROOT}/experiments/bots/{name}", "--pairs", "1"]
    status, said = run_check(capsys, *words, "--game", "kalah(4,3)", "--game", "othello(4)")
    assert (status, said.count("fine")) == (OK, 6)
    assert said.endswith("no faults found\n")


@pytest.mark.slow  # each is started a dozen times
@pytest.mark.parametrize("kind", ["gtp", "nboard", "kgp"])
def test_check_covers_protocol(capsys, kind):
    words = ["--pairs", "1", "--kind", kind, "--", *other(kind)]
    assert run_check(capsys, *words)[0] == OK
    words = ["--pairs", "1", "--kind", kind, "--", *other(kind, "illegal", "2")]
    status, said = run_check(capsys, *words)
    assert status == CHECK_FAILED
    assert "WRONG  illegal" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.py"], "there is no file"),
        (["smart"], "name the file or the command"),
        (["--kind", "gtp", "--game", "kalah(6,4)", "--", "sh"], "gtp is for othello"),
    ],
)
def test_usage_error_is_one_line(capsys, words, message):
    assert check(words) == USER_ERROR
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


CANNOT = """print(moves[0] if "pots 3-3" not in position else "x", flush=True)"""
HARD = "# a teacher's\nS 1 2 0 0 0 0, N 0 0 3 0 0 0, pots 21-21, South to move\n\n"
HARDER = "S 1 2 0 0 0 0, N 0 0 3 0 0 0, pots 3-3, South to move\n"


def test_required_positions_are_tried(tmp_path, capsys):
    bot, file = write_bot(tmp_path, "", CANNOT), tmp_path / "positions.txt"
    words = ("--kind", "lines", "--pairs", "1", "--positions", str(file))
    for text, status, said in (
        (HARD, OK, "it survived all 1 positions"),
        (HARD + HARDER, CHECK_FAILED, f"the position: {HARDER.strip()}"),
    ):
        file.write_text(text)
        found, shown = run_check(capsys, *words, PYTHON, bot)
        assert said in shown
        assert found == status


def test_invalid_position_is_one_line(tmp_path, capsys):
    file = tmp_path / "positions.txt"
    file.write_text("nonsense\n")
    assert check(["--positions", str(file), str(BOTS / "by_lot.py")]) == USER_ERROR
    assert f"{file}, line 1: " in capsys.readouterr().err


CHOOSES = "import random\ndef choose(view, legal, rng):\n    {}\n"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return random.choice(legal)", "own random numbers (random.choice in bot.py, line 3)"),
        ("import random as r; return r.choice(legal)", "own random numbers"),
        (
            "from random import choice; return choice(legal)",
            "own random numbers (random.choice in bot.py",
        ),
        ("choose.asked = getattr(choose, 'asked', 0) + 1; return legal[choose.asked % len(legal)]",
         "it keeps state between games"),
    ],
)  # fmt: skip
def test_own_random_numbers_differ_from_state(tmp_path, capsys, body, message):
    (tmp_path / "bot.py").write_text(CHOOSES.format(body))
    status, said = run_check(capsys, str(tmp_path / "bot.py"), "--pairs", "1")
    assert status == CHECK_FAILED
    assert message in said
    assert ("use rng" in said) == ("own random" in message)


OWN_FILE = """import sys
first = open("moves.txt").read() == "first"
for line in sys.stdin:
    print(line.split(";")[1].split()[0 if first else -1], flush=True)
"""
OWN_TABLE = 'kind = "lines"\ncommand = ["python3", "bot.py"]\ncwd = "."\nreadable = ["."]\n'


def own_directory(directory):
    directory.mkdir()
    (directory / "bot.py").write_text(OWN_FILE)
    (directory / "moves.txt").write_text("first")
    (directory / "bot.toml").write_text(OWN_TABLE)
    return directory


@pytest.mark.parametrize("name", ["", "bot.toml"])
def test_bot_directory_and_table_are_accepted(tmp_path, capsys, name):
    bot = own_directory(tmp_path / "mina") / name
    assert run_check(capsys, str(bot), "--pairs", "1", "--game", "kalah(4,3)")[0] == OK


def test_directory_without_table_is_one_line(tmp_path, capsys):
    assert check([str(tmp_path)]) == USER_ERROR
    (line,) = capsys.readouterr().err.splitlines()
    assert "bot.toml" in line


def test_equal_faults_are_one_finding(tmp_path, capsys):
    bot = tmp_path / "bot.py"
    bot.write_text(CHOOSES.format("return {}[len(legal)] if len(legal) < 3 else legal[0]"))
    status, said = run_check(capsys, str(bot), "--pairs", "3", "--game", "kalah(4,3)")
    assert status == CHECK_FAILED
    assert said.count("KeyError: 2, line 3") == 1
    assert " of 6 games failed like this" in said


def test_slow_bot_shows_progress(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(progress, "FIRST_SECONDS", 0.1)
    bot = write_bot(tmp_path, "", "time.sleep(0.05); " + GOOD)
    assert check([bot, "--pairs", "1", "--game", "kalah(4,3)"]) == OK
    assert "game 1 of 2" in capsys.readouterr().err
