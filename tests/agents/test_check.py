"""pitflip check: what is wrong with a bot is said in plain words, and nothing where nothing is."""

import pytest

from agents.checkup import SEED, play_trial
from arena.commands import check
from games import game
from games.base import progress
from games.base.errors import CHECK_FAILED, OK, USER_ERROR
from tests.agents.given import BOTS, ROOT
from tests.agents.hosted import PYTHON, hosted, other

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
# What the bot does -> what is said about it.
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


def checked(capsys, *words: str) -> tuple[int, str]:
    """The status and what is said."""
    status = check.main(list(words))
    return status, capsys.readouterr().out


def written(directory, before: str, answer: str) -> str:
    """A program in Python with this loop."""
    path = directory / "bot.py"
    path.write_text(LOOP.format(before=before, answer=answer))
    return str(path)


SLOW = ("slow start", "slow answers", "it dies", "no move", "an exception")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in WRONG]
)
def test_what_is_wrong_is_said(tmp_path, capsys, name):
    before, answer, message = WRONG[name]
    toml = tmp_path / "mine.toml"
    command = f'["{PYTHON}", "{written(tmp_path, before, answer)}"]'
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
    status, said = checked(capsys, *words)
    assert status == CHECK_FAILED
    assert message in said
    assert said.count("WRONG") == 1
    assert said.endswith("something is wrong\n")


def test_a_bot_that_ends_with_its_game(capsys):
    of = game("kalah(4,3)")
    with hosted("lines", of, command=other("lines")) as agent:
        answers = len(play_trial(agent, of, 0, SEED).answers)
    command = other("lines", "after", str(answers))
    status, said = checked(capsys, "--pairs", "1", "--game", of.name, "--", *command)
    assert status == CHECK_FAILED
    assert "it ends with a game" in said


@pytest.mark.parametrize("name", ["line_bot.py", pytest.param("my_bot.py", marks=pytest.mark.slow)])
def test_nothing_is_wrong_with_the_examples(capsys, name):
    words = [f"{ROOT}/experiments/bots/{name}", "--pairs", "1"]
    status, said = checked(capsys, *words, "--game", "kalah(4,3)", "--game", "othello(4)")
    assert (status, said.count("fine")) == (OK, 6)
    assert said.endswith("nothing is wrong\n")


@pytest.mark.slow  # each is started a dozen times
@pytest.mark.parametrize("kind", ["gtp", "nboard", "kgp"])
def test_every_protocol_is_checked(capsys, kind):
    words = ["--pairs", "1", "--kind", kind, "--", *other(kind)]
    assert checked(capsys, *words)[0] == OK
    words = ["--pairs", "1", "--kind", kind, "--", *other(kind, "illegal", "2")]
    status, said = checked(capsys, *words)
    assert status == CHECK_FAILED
    assert "WRONG  illegal" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.py"], "there is no file"),
        (["smart"], "there is nothing to check"),
        (["--kind", "gtp", "--game", "kalah(6,4)", "--", "sh"], "gtp is for othello"),
    ],
)
def test_a_mistake_of_the_command_is_one_line(capsys, words, message):
    assert check.main(words) == USER_ERROR
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


CANNOT = """print(moves[0] if "pots 3-3" not in position else "x", flush=True)"""
HARD = "# a teacher's\nS 1 2 0 0 0 0, N 0 0 3 0 0 0, pots 21-21, South to move\n\n"
HARDER = "S 1 2 0 0 0 0, N 0 0 3 0 0 0, pots 3-3, South to move\n"


def test_positions_that_it_must_survive_are_put_to_it(tmp_path, capsys):
    bot, file = written(tmp_path, "", CANNOT), tmp_path / "positions.txt"
    words = ("--kind", "lines", "--pairs", "1", "--positions", str(file))
    for text, status, said in (
        (HARD, OK, "it survived all 1 positions"),
        (HARD + HARDER, CHECK_FAILED, f"the position: {HARDER.strip()}"),
    ):
        file.write_text(text)
        found, shown = checked(capsys, *words, PYTHON, bot)
        assert said in shown
        assert found == status


def test_a_wrong_position_of_the_teachers_is_one_line(tmp_path, capsys):
    file = tmp_path / "positions.txt"
    file.write_text("nonsense\n")
    assert check.main(["--positions", str(file), str(BOTS / "by_lot.py")]) == USER_ERROR
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
def test_random_numbers_of_its_own_are_told_from_state(tmp_path, capsys, body, message):
    (tmp_path / "bot.py").write_text(CHOOSES.format(body))
    status, said = checked(capsys, str(tmp_path / "bot.py"), "--pairs", "1")
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
    """A bot's directory with its table and a file that it reads."""
    directory.mkdir()
    (directory / "bot.py").write_text(OWN_FILE)
    (directory / "moves.txt").write_text("first")
    (directory / "bot.toml").write_text(OWN_TABLE)
    return directory


@pytest.mark.parametrize("name", ["", "bot.toml"])
def test_a_bots_directory_and_its_table_are_checked(tmp_path, capsys, name):
    bot = own_directory(tmp_path / "mina") / name
    assert checked(capsys, str(bot), "--pairs", "1", "--game", "kalah(4,3)")[0] == OK


def test_a_directory_without_a_table_is_one_line(tmp_path, capsys):
    assert check.main([str(tmp_path)]) == USER_ERROR
    (line,) = capsys.readouterr().err.splitlines()
    assert "bot.toml" in line


def test_equal_faults_of_several_games_are_one_finding_with_a_count(tmp_path, capsys):
    bot = tmp_path / "bot.py"
    bot.write_text(CHOOSES.format("return {}[len(legal)] if len(legal) < 3 else legal[0]"))
    status, said = checked(capsys, str(bot), "--pairs", "3", "--game", "kalah(4,3)")
    assert status == CHECK_FAILED
    assert said.count("KeyError: 2 (") == 1
    assert " of 6 games failed so" in said


def test_a_slow_bot_is_not_waited_for_in_silence(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(progress, "FIRST_SECONDS", 0.1)
    bot = written(tmp_path, "", "time.sleep(0.05); " + GOOD)
    assert check.main([bot, "--pairs", "1", "--game", "kalah(4,3)"]) == OK
    assert "game 1 of 2" in capsys.readouterr().err
