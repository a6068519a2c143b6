"""`pitflip game GAME perft` and `replay`: what they print, and how they end after a mistake."""

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from subprocess import PIPE, CompletedProcess, Popen

import pytest

from arena.commands.command import run_command
from games import game, perft
from pitflip.__main__ import stop_at_once
from tests.forked import in_fork

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True, scope="module")
def _kernels_are_loaded():
    """The word that compiling is going on belongs to no command."""
    for of in map(game, ("kalah(3,2)", "kalah-manchester(2,1)", "othello(4)")):
        perft.perft(of, of.play(of.start(), of.legal(of.start())[0]), 3)


def game_words(action: str, words: Sequence[str]) -> list[str]:
    """The arguments of `pitflip game`: the game comes first."""
    return [words[0], action, *words[1:]]


def printed(capsys, action: str, *words: str) -> str:
    """What a command prints when all is well; it says nothing beside."""
    assert run_command("game", game_words(action, words)) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def refusal(capsys, action: str, *words: str) -> str:
    """The one line on stderr of a command that ends with 2 and prints nothing."""
    assert run_command("game", game_words(action, words)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("pitflip game")
    assert len(err.splitlines()) == 1
    return err.partition(": ")[2].rstrip("\n")


def python(*words: str) -> CompletedProcess:
    """A finished process of this Python in the project."""
    command = [sys.executable, *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return CompletedProcess(command, done.returncode, done.stdout, without_notice(done.stderr))


def forked(action: str, *words: str) -> dict:
    """The options of a `Popen` that runs the command in a fork of ours, as a process runs it."""

    def work() -> int:
        sys.stdout.reconfigure(line_buffering=True)
        stop_at_once()
        return run_command("game", game_words(action, words))

    return in_fork(work)


def without_notice(err: str) -> str:
    """What a process said on stderr beside the word that it compiles, after an edit of a kernel."""
    return "".join(line for line in err.splitlines(True) if "compiling for this" not in line)


# ----------------------------------------------------------------------- perft


def test_perft_prints_a_line_a_depth(capsys):
    title, head, *rows = printed(capsys, "perft", "kalah(3,2)", "6").splitlines()
    assert title == "kalah(3,2)"
    assert head.split() == ["depth", "leaves", "ended_early", "nodes/s"]
    counts = [[int(word.replace(",", "")) for word in row.split()] for row in rows]
    assert [row[0] for row in counts] == [1, 2, 3, 4, 5, 6]
    assert counts[-1][1:3] == [150, 1]
    assert len({len(line) for line in (head, *rows)}) == 1


def test_perft_as_json(capsys):
    told = json.loads(printed(capsys, "perft", "Othello(4)", "8", "--json"))
    assert list(told) == ["game", "depths"]
    assert told["game"] == "othello(4)"
    assert [list(row) for row in told["depths"]] == [
        ["depth", "leaves", "ended_early", "nodes_per_second"]
    ] * 8
    assert all(type(number) is int for row in told["depths"] for number in row.values())
    of = game("othello(4)")
    counts = [(row["leaves"], row["ended_early"]) for row in told["depths"]]
    assert counts == perft.perft(of, of.start(), 8)
    assert [row["depth"] for row in told["depths"]] == list(range(1, 9))


def test_perft_counts_nothing_below_the_end_of_all_games(capsys):
    told = json.loads(printed(capsys, "perft", "kalah(1,1)", "100", "--json"))
    assert told["depths"][0]["leaves"] == 1
    assert {(row["leaves"], row["ended_early"]) for row in told["depths"][2:]} == {(0, 1)}


def test_perft_does_not_count_a_swap(capsys):
    told = json.loads(printed(capsys, "perft", "kalah-manchester(2,1)", "2", "--json"))
    assert [row["leaves"] for row in told["depths"]] == [2, 4]


@pytest.mark.parametrize("depth", ["0", "101", "-3", "x", "", "2.5"])
def test_perft_refuses_a_depth_that_it_cannot_count(capsys, depth):
    told = refusal(capsys, "perft", "kalah(3,2)", depth)
    assert told == f'DEPTH must be a whole number from 1 to 100, got "{depth}"'


@pytest.mark.parametrize("depth", [0, 101])
def test_perft_from_python_refuses_it_too(depth):
    of = game("kalah(3,2)")
    with pytest.raises(ValueError, match=f"from 1 to 100, got {depth}"):
        perft.perft(of, of.start(), depth)


# ---------------------------------------------------------------------- replay

TRACE = "S 2 0 0, N 0 1 2, pots 0-0, South to move"


def test_replay_prints_every_board_and_the_winner(capsys):
    told = printed(capsys, "replay", "kalah(3,2)", "1 2 2 1", "--start", TRACE)
    first, *boards, last = told.rstrip("\n").split("\n\n")
    ours = game("kalah(3,2)")
    positions = ours.replay("1 2 2 1", ours.parse(TRACE))
    assert [first, *(board.partition("\n")[2] for board in boards)] == list(
        map(ours.draw, positions)
    )
    assert [board.partition("\n")[0] for board in boards] == [
        "1. player 1 plays 1",
        "2. player 2 plays 2",
        "3. player 1 plays 2",
        "4. player 2 plays 1",
    ]
    assert last == "over: player 1 wins 4-1"


def test_replay_tells_of_an_extra_turn_and_who_is_to_move(capsys):
    told = printed(capsys, "replay", "kalah(6,4)", "3, 6, 6")
    assert "\n1. player 1 plays 3 and moves again\n" in told
    assert "\n2. player 1 plays 6\n" in told
    assert told.endswith("\nnot over: player 1 to move, 2-0\n")


def test_replay_tells_the_score_with_and_without_empty_squares(capsys):
    told = printed(capsys, "replay", "othello(4)", "", "--start", "XX-O" + "-" * 12 + " X")
    assert told.endswith("\nover: player 1 wins 15-1 (2-1 without the empty squares)\n")


def test_replay_of_a_tie(capsys):
    told = printed(capsys, "replay", "othello(4)", "", "--start", "X--O" + "-" * 12 + " X")
    assert "over: tie 8-8" in told


def test_replay_of_no_moves_is_the_start(capsys):
    told = printed(capsys, "replay", "kalah", "")
    ours = game("kalah")
    assert told == f"{ours.draw(ours.start())}\n\nnot over: player 1 to move, 0-0\n"


def test_replay_as_json(capsys):
    told = json.loads(printed(capsys, "replay", "Kalah(6,4)", "3 6", "--json"))
    assert told == {
        "game": "kalah(6,4)",
        "over": False,
        "margin": 2,
        "score": [2, 0],
        "raw_score": [2, 0],
        "plies": 2,
        "mover": 1,
        "position": "S 4 4 0 5 5 0, N 4 4 5 5 5 5, pots 2-0, North to move",
    }


def test_replay_as_json_of_a_finished_game(capsys):
    words = ["othello(4)", "", "--start", "XX-O" + "-" * 12 + " X", "--json"]
    told = json.loads(printed(capsys, "replay", *words))
    assert (told["over"], told["margin"], told["plies"]) == (True, 14, 0)
    assert (told["score"], told["raw_score"]) == ([15, 1], [2, 1])


def test_a_swap_is_no_ply(capsys):
    words = ["kalah-manchester(2,1)", "1 swap 1", "--json"]
    assert json.loads(printed(capsys, "replay", *words))["plies"] == 2


def test_a_whole_random_game_replays_to_its_end(capsys):
    ours = game("kalah-manchester(2,1)")
    moves, positions = [], [ours.start()]
    while not ours.over(positions[-1]):
        moves.append(ours.legal(positions[-1])[-1])
        positions.append(ours.play(positions[-1], moves[-1]))
    told = json.loads(printed(capsys, "replay", ours.name, ours.write(moves), "--json"))
    swaps = sum(before.swapped != after.swapped for before, after in pairwise(positions))
    assert (told["over"], told["plies"]) == (True, len(moves) - swaps)
    assert told["position"] == ours.text(positions[-1])


@pytest.mark.parametrize(
    ("moves", "wanted"),
    [
        ("3 3", 'ply 2: "3" is not legal; legal: 1 2 4 5 6'),
        ("3 6 1 1 x 2", 'ply 5: "x" is unreadable; legal: 5 4 3 2'),
        ("7", 'ply 1: "7" is unreadable; legal: 1 2 3 4 5 6'),
        ("-1", 'ply 1: "-1" is unreadable; legal: 1 2 3 4 5 6'),
        ("swap", 'ply 1: "swap" is unreadable; legal: 1 2 3 4 5 6'),
        ("\x1b[31m", r'ply 1: "\x1b[31m" is unreadable; legal: 1 2 3 4 5 6'),
    ],
)
def test_a_bad_move_is_answered_with_its_ply_and_what_was_legal(capsys, moves, wanted):
    assert refusal(capsys, "replay", "kalah(6,4)", moves) == wanted


def test_a_move_after_the_end_is_answered_so(capsys):
    told = refusal(capsys, "replay", "kalah(3,2)", "1 2 2 1 1", "--start", TRACE)
    assert told == 'ply 5: "1" is not legal; the game is over'


@pytest.mark.parametrize("start", ["", "nonsense", "S 1 1, N 1 1, pots 0-0, South to move"])
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_bad_start_is_refused(capsys, start, more):
    told = refusal(capsys, "replay", "kalah(3,2)", "1", "--start", start, *more)
    assert told.startswith("kalah(3,2): ")


# ------------------------------------------------------------------------ both


@pytest.mark.parametrize("action", ["perft", "replay"])
@pytest.mark.parametrize("more", [[], ["--json"]])
@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("kalahh", 'did you mean "kalah"?'),
        ("kalah(6,4,swp=yes)", 'did you mean "swap"?'),
        ("kalah(6,4,swap=often)", "swap must be one of yes, no"),
        ("othello(7)", "from 4 to 16"),
        ("kalah(0,4)", "from 1 to 16"),
        ("two\nlines", r"two\nlines"),
        ("", 'a game is written like "kalah(6,4)", got ""'),
    ],
)
def test_a_bad_name_is_refused_in_one_line(capsys, action, more, name, wanted):
    assert wanted in refusal(capsys, action, name, "1", *more)


@pytest.mark.slow
def test_from_the_shell_perft_is_the_same():
    done = python("-m", "pitflip", "game", "kalah(3,2)", "perft", "6", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["depths"][5]["leaves"] == 150


@pytest.mark.slow
def test_from_the_shell_replay_is_the_same():
    done = python("-m", "pitflip", "game", "kalah(3,2)", "replay", "1 2 2 1", "--start", TRACE)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("\nover: player 1 wins 4-1\n")


@pytest.mark.parametrize(
    "words",
    [
        ("perft", "otelo", "3"),
        pytest.param(
            ("replay", "kalah(3,2)", "1", "--start", "9" * 10_000), marks=pytest.mark.slow
        ),
    ],
)
def test_from_the_shell_a_mistake_is_one_line_and_ends_with_2(words):
    done = python("-m", "pitflip", "game", *game_words(words[0], words[1:]))
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("pitflip game: ")


@pytest.mark.parametrize(
    "words",
    [("perft", "kalah(3,2)", "20"), ("replay", "othello", "d3 c3 c4")],
)
def test_a_reader_that_goes_away_leaves_no_traceback(words):
    with Popen(**forked(*words), stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stdout.readline()
        process.stdout.close()
        assert without_notice(process.stderr.read()) == ""


def test_ctrl_c_ends_a_long_count_at_once():
    command = forked("perft", "kalah(6,4)", "60")
    with Popen(**command, stdout=PIPE, stderr=PIPE, text=True) as process:
        while not process.stdout.readline().startswith("    5"):
            pass  # it counts now, and would for years
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == -signal.SIGINT
        assert without_notice(process.stderr.read()) == ""


def test_help_and_mistakes_need_no_compiler():
    code = (
        "import sys\n"
        "from pitflip.__main__ import main\n"
        "for words in (['perft', '--help'], ['perft'], ['replay', '1']):\n"
        "    print(main(['game', 'kalahh', *words]))\n"
        "print('numba' in sys.modules)\n"
    )
    done = python("-c", code)
    assert done.stdout.splitlines()[-4:] == ["0", "2", "2", "False"]
    assert "Traceback" not in done.stderr


def valued(capsys, *words: str) -> str:
    """What replay prints with values, beside a word about the database."""
    assert run_command("game", game_words("replay", words)) == 0
    return capsys.readouterr().out


def test_replay_shows_the_value_of_every_move_and_what_was_lost(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    told = valued(capsys, "kalah(3,2)", "2 1 3", "--values")
    board = told.split("1. player 1 plays 2")[0]
    assert "win +4" in board
    assert [line.split()[-1] for line in board.splitlines() if " -8" in line] == ["-8"]
    assert "+4 best <- played" in board
    assert "plays 1: loses 4, +4 becomes +0: a win becomes a draw\n" in told
    assert "plays 3: loses 6, +0 becomes -6: a draw becomes a loss, lost here" in told


def test_replay_says_how_far_back_values_are_known(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    line = "3 2 6 4 2 3 1 5"
    words = ["kalah(6,4)", line, "--values", "--seconds", "0.01"]
    told = valued(capsys, *words)
    assert "values are known for the last 0 of 9 positions" in told
    made = json.loads(valued(capsys, *words, "--json"))
    assert made["values"] == [None] * 9
