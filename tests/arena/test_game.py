"""`pitflip game`: replays, perft counts and solutions, and the exit status after mistakes."""

import json
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from subprocess import PIPE, CompletedProcess, Popen

import pytest

from arena.terminal import game_text
from games import game
from games.base import progress
from games.base.errors import OK, UNFINISHED, USER_ERROR
from games.perft import perft
from games.solving import solver
from pitflip.__main__ import stop_at_once
from tests.commands import of_game, solve
from tests.forked import in_fork
from tests.games.naive import full_search, sowing

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True, scope="module")
def _kernels_are_loaded():
    for of in map(game, ("kalah(3,2)", "kalah-manchester(2,1)", "othello(4)")):
        perft(of, of.play(of.start(), of.legal(of.start())[0]), 3)


def output(capsys, action: str, *words: str) -> str:
    assert of_game(action, words) == OK
    out, err = capsys.readouterr()
    assert err == ""
    return out


def refusal(capsys, action: str, *words: str) -> str:
    """The one line on stderr, without the name of the command."""
    assert of_game(action, words) == USER_ERROR
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("pitflip game")
    assert len(err.splitlines()) == 1
    return err.partition(": ")[2].rstrip("\n")


def without_notice(err: str) -> str:
    return "".join(line for line in err.splitlines(True) if "compiling for this" not in line)


def python(*words: str) -> CompletedProcess:
    command = [sys.executable, *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return CompletedProcess(command, done.returncode, done.stdout, without_notice(done.stderr))


def forked(action: str, *words: str) -> dict:
    """The options of a `Popen` that runs the command in a fork, like a process from the shell."""

    def work() -> int:
        sys.stdout.reconfigure(line_buffering=True)
        stop_at_once()
        return of_game(action, words)

    return in_fork(work)


# ----------------------------------------------------------------------- perft


def test_perft_prints_one_row_per_depth(capsys):
    title, head, *rows = output(capsys, "perft", "kalah(3,2)", "6").splitlines()
    assert title == "kalah(3,2)"
    assert head.split() == ["depth", "leaves", "ended_early", "nodes/s"]
    counts = [[int(word.replace(",", "")) for word in row.split()] for row in rows]
    assert [row[0] for row in counts] == [1, 2, 3, 4, 5, 6]
    assert counts[-1][1:3] == [150, 1]
    assert len({len(line) for line in (head, *rows)}) == 1


def test_perft_json(capsys):
    made = json.loads(output(capsys, "perft", "Othello(4)", "8", "--json"))
    assert (list(made), made["game"]) == (["game", "depths"], "othello(4)")
    of = game("othello(4)")
    counts = [(row["leaves"], row["ended_early"]) for row in made["depths"]]
    assert counts == perft(of, of.start(), 8)
    assert [row["depth"] for row in made["depths"]] == list(range(1, 9))
    assert all(type(row["nodes_per_second"]) is int for row in made["depths"])


def test_perft_counts_nothing_after_the_end_and_no_swap(capsys):
    made = json.loads(output(capsys, "perft", "kalah(1,1)", "100", "--json"))
    assert made["depths"][0]["leaves"] == 1
    assert {(row["leaves"], row["ended_early"]) for row in made["depths"][2:]} == {(0, 1)}
    made = json.loads(output(capsys, "perft", "kalah-manchester(2,1)", "2", "--json"))
    assert [row["leaves"] for row in made["depths"]] == [2, 4]


@pytest.mark.parametrize("depth", ["0", "101", "-3", "x", "", "2.5"])
def test_perft_refuses_invalid_depths(capsys, depth):
    message = refusal(capsys, "perft", "kalah(3,2)", depth)
    assert message == f'DEPTH must be a whole number from 1 to 100, got "{depth}"'


@pytest.mark.parametrize("depth", [0, 101])
def test_perft_from_python_refuses_invalid_depths(depth):
    of = game("kalah(3,2)")
    with pytest.raises(ValueError, match=f"from 1 to 100, got {depth}"):
        perft(of, of.start(), depth)


# ---------------------------------------------------------------------- replay

TRACE = "S 2 0 0, N 0 1 2, pots 0-0, South to move"


def test_replay_prints_every_board_and_the_winner(capsys):
    text = output(capsys, "replay", "kalah(3,2)", "1 2 2 1", "--start", TRACE)
    first, *boards, last = text.rstrip("\n").split("\n\n")
    ours = game("kalah(3,2)")
    positions = ours.replay("1 2 2 1", ours.parse(TRACE))
    drawn = [first, *(board.partition("\n")[2] for board in boards)]
    assert drawn == list(map(ours.draw, positions))
    plays = ["1. player 1 plays 1", "2. player 2 plays 2", "3. player 1 plays 2"]
    assert [board.partition("\n")[0] for board in boards] == [*plays, "4. player 2 plays 1"]
    assert last == "over: player 1 wins 4-1"


def test_replay_names_extra_turns_and_the_player_to_move(capsys):
    text = output(capsys, "replay", "kalah(6,4)", "3, 6, 6")
    assert "\n1. player 1 plays 3 and moves again\n" in text
    assert "\n2. player 1 plays 6\n" in text
    assert text.endswith("\nnot over: player 1 to move, 2-0\n")


@pytest.mark.parametrize(
    ("discs", "result"),
    [("XX-O", "player 1 wins 15-1 (2-1 without the empty squares)"), ("X--O", "tie 8-8")],
)
def test_replay_names_the_result_with_and_without_empty_squares(capsys, discs, result):
    text = output(capsys, "replay", "othello(4)", "", "--start", discs + "-" * 12 + " X")
    assert f"\nover: {result}" in text


def test_replay_json(capsys):
    assert json.loads(output(capsys, "replay", "Kalah(6,4)", "3 6", "--json")) == {
        "game": "kalah(6,4)",
        "over": False,
        "margin": 2,
        "score": [2, 0],
        "raw_score": [2, 0],
        "plies": 2,
        "mover": 1,
        "position": "S 4 4 0 5 5 0, N 4 4 5 5 5 5, pots 2-0, North to move",
    }
    words = ["othello(4)", "", "--start", "XX-O" + "-" * 12 + " X", "--json"]
    made = json.loads(output(capsys, "replay", *words))
    assert (made["over"], made["margin"], made["plies"]) == (True, 14, 0)
    assert (made["score"], made["raw_score"]) == ([15, 1], [2, 1])


def test_a_swap_is_no_ply(capsys):
    words = ["kalah-manchester(2,1)", "1 swap 1", "--json"]
    assert json.loads(output(capsys, "replay", *words))["plies"] == 2


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        ("3 3", 'ply 2: "3" is not legal; legal: 1 2 4 5 6'),
        ("3 6 1 1 x 2", 'ply 5: "x" is unreadable; legal: 5 4 3 2'),
        ("-1", 'ply 1: "-1" is unreadable; legal: 1 2 3 4 5 6'),
        ("swap", 'ply 1: "swap" is unreadable; legal: 1 2 3 4 5 6'),
        ("\x1b[31m", r'ply 1: "\x1b[31m" is unreadable; legal: 1 2 3 4 5 6'),
    ],
)
def test_a_bad_move_is_reported_with_its_ply_and_the_legal_moves(capsys, moves, message):
    assert refusal(capsys, "replay", "kalah(6,4)", moves) == message


def test_a_move_after_the_end_is_refused(capsys):
    message = refusal(capsys, "replay", "kalah(3,2)", "1 2 2 1 1", "--start", TRACE)
    assert message == 'ply 5: "1" is not legal; the game is over'


@pytest.mark.parametrize("start", ["", "nonsense", "S 1 1, N 1 1, pots 0-0, South to move"])
def test_a_bad_start_is_refused(capsys, start):
    message = refusal(capsys, "replay", "kalah(3,2)", "1", "--start", start)
    assert message.startswith("kalah(3,2): ")


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(game_text, "LARGE_TABLE", game_text.USUAL_TABLE)  # 256 MB take 0.25 s


def test_replay_prints_the_value_of_every_move_and_the_losses(capsys, own_cache):
    assert of_game("replay", ["kalah(3,2)", "2 1 3", "--values"]) == OK
    text = capsys.readouterr().out
    board = text.split("1. player 1 plays 2")[0]
    assert "win +4" in board
    assert [line.split()[-1] for line in board.splitlines() if " -8" in line] == ["-8"]
    assert "+4 best <- played" in board
    assert "plays 1: loses 4, +4 becomes +0: a win becomes a draw\n" in text
    assert "plays 3: loses 6, +0 becomes -6: a draw becomes a loss, lost here" in text


def test_replay_names_the_positions_with_known_values(capsys, own_cache):
    words = ["kalah(6,4)", "3 2 6 4 2 3 1 5", "--values", "--seconds", "0.01"]
    assert of_game("replay", words) == OK
    assert "values are known for the last 0 of 9 positions" in capsys.readouterr().out
    assert of_game("replay", [*words, "--json"]) == OK
    assert json.loads(capsys.readouterr().out)["values"] == [None] * 9


# ----------------------------------------------------------------------- solve


def solution(capsys, *words: str) -> dict:
    assert solve([*words, "--json"]) == OK
    return json.loads(capsys.readouterr().out)


def test_a_solution_agrees_with_naive_search(capsys, own_cache):
    found = solution(capsys, "kalah(3,2)")
    values = full_search.values(sowing.start(sowing.Rules(3, 2)))
    best = max(values.values())
    assert (found["outcome"], found["margin"], found["exact"]) == ("win", best, True)
    assert [each["move"] for each in found["moves"]] == ["1", "2", "3"]
    assert [each["margin"] for each in found["moves"]] == [values[move] for move in range(3)]
    assert all(each["exact"] for each in found["moves"])
    positions = game("kalah(3,2)").replay(" ".join(found["line"]))
    assert game("kalah(3,2)").over(positions[-1])
    assert game("kalah(3,2)").margin(positions[-1]) == best


def test_norths_moves_are_in_board_order(capsys, own_cache):
    found = solution(capsys, "kalah(3,2)", "2 1")
    assert "North to move" in found["position"]
    numbers = [int(each["move"]) for each in found["moves"]]
    assert numbers == sorted(numbers)
    best = [each["move"] for each in found["moves"] if each["margin"] == found["margin"]]
    assert found["line"][0] == best[0]


def test_moves_and_their_position_have_one_solution(capsys, own_cache):
    by_moves = solution(capsys, "kalah(3,2)", "3 1")
    by_text = solution(capsys, "kalah(3,2)", by_moves["position"])
    assert by_moves | {"seconds": 0} == by_text | {"seconds": 0}


def test_the_outcome_is_printed_before_the_margin(capsys, own_cache):
    assert solve(["kalah(3,2)"]) == OK
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("kalah(3,2), South to move: win")
    assert lines[1].startswith("margin +4")
    assert [line.split() for line in lines[2:5]] == [["1", "-8"], ["2", "+4", "best"], ["3", "+0"]]
    assert lines[5].startswith("line: 2")


def test_a_time_limit_leaves_correct_bounds(capsys, own_cache, monkeypatch):
    monkeypatch.setattr(solver, "SLICE", 1 << 12)  # so that the first slice exceeds the limit
    words = ["kalah(6,4)", "--seconds", "0.02", "--database-beans", "2"]
    assert solve([*words, "--json"]) == UNFINISHED
    found = json.loads(capsys.readouterr().out)
    assert (found["margin"], found["exact"]) == (None, False)
    assert found["low"] <= 8 <= found["high"]
    assert solve(words) == UNFINISHED
    assert "between" in capsys.readouterr().out


def test_large_positions_need_a_time_limit_and_get_a_warning(capsys, own_cache):
    assert solve(["kalah(7,7)"]) == USER_ERROR
    (line,) = capsys.readouterr().err.splitlines()
    assert "98 beans in play" in line
    assert "--seconds" in line
    assert solve(["kalah(7,7)", "--seconds", "0.01", "--database-beans", "2"]) == UNFINISHED
    assert "98 beans in play" in capsys.readouterr().err


def test_a_search_shows_progress(capsys, own_cache, monkeypatch):
    monkeypatch.setattr(progress, "FIRST_SECONDS", 0.01)
    words = ["kalah(6,4)", "--seconds", "0.5", "--database-beans", "2"]
    assert solve(words) == UNFINISHED
    assert "M positions" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["kalah(3,2)", "9"], '"9" is unreadable; legal: 1 2 3'),
        (["kalah(3,2)", "S 1 1"], "a position is written like"),
        (["kalah(3,2)", "--seconds", "no"], "--seconds must be a time such as"),
        (["kalah(3,2)", "--database-beans", "99"], "must be a whole number from 0 to 30"),
    ],
)
def test_solve_refuses_mistakes_in_one_line(capsys, words, part):
    assert part in refusal(capsys, "solve", *words)


def test_a_finished_game_has_its_score(capsys, own_cache):
    found = solution(capsys, "kalah(3,2)", "S 0 0 0, N 0 0 0, pots 8-4, South to move")
    assert (found["outcome"], found["margin"], found["moves"], found["line"]) == ("win", 4, [], [])


def test_a_users_game_is_solved(capsys, own_cache):
    path = ROOT / "experiments/games/connect4.py"
    found = solution(capsys, f"{path}:connect4(4,4)", "1 2 1 2 2 1 2 1")
    assert found["outcome"] is not None
    assert found["exact"]


def test_ctrl_c_prints_the_proved_bounds(own_cache):
    words = ["kalah(7,7)", "--json", "--seconds", "600", "--database-beans", "2"]
    command = in_fork(partial(solve, words), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    started = subprocess.Popen(text=True, **command)
    assert "98 beans" in started.stderr.readline()
    while "building" not in (line := started.stderr.readline()):
        assert line, "it ended before the search"
    started.send_signal(signal.SIGINT)  # the handler is installed before this line is printed
    out, err = started.communicate(timeout=60)
    assert json.loads(out)["exact"] is False
    assert "stopped after" in err
    assert started.returncode == UNFINISHED


# ------------------------------------------------------------------------- all


@pytest.mark.parametrize("action", ["perft", "replay"])
@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("kalahh", 'did you mean "kalah"?'),
        ("kalah(6,4,swp=yes)", 'did you mean "swap"?'),
        ("kalah(6,4,swap=often)", "swap must be one of yes, no"),
        ("othello(7)", "from 4 to 16"),
        ("two\nlines", r"two\nlines"),
        ("", 'a game is written like "kalah(6,4)", got ""'),
    ],
)
def test_a_bad_name_is_refused_in_one_line(capsys, action, name, part):
    assert part in refusal(capsys, action, name, "1")


@pytest.mark.slow
def test_the_command_line_prints_the_same():
    done = python("-m", "pitflip", "game", "kalah(3,2)", "perft", "6", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["depths"][5]["leaves"] == 150
    done = python("-m", "pitflip", "game", "kalah(3,2)", "replay", "1 2 2 1", "--start", TRACE)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("\nover: player 1 wins 4-1\n")


@pytest.mark.parametrize(
    "words",
    [
        ("otelo", "perft", "3"),
        pytest.param(
            ("kalah(3,2)", "replay", "1", "--start", "9" * 10_000), marks=pytest.mark.slow
        ),
    ],
)
def test_a_mistake_on_the_command_line_is_one_line_and_status_2(words):
    done = python("-m", "pitflip", "game", *words)
    assert (done.returncode, done.stdout) == (USER_ERROR, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("pitflip game: ")


@pytest.mark.parametrize("words", [("perft", "kalah(3,2)", "20"), ("replay", "othello", "d3 c3")])
def test_a_closed_stdout_leaves_no_traceback(words):
    with Popen(**forked(*words), stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stdout.readline()
        process.stdout.close()
        assert without_notice(process.stderr.read()) == ""


def test_ctrl_c_ends_a_long_count_at_once():
    command = forked("perft", "kalah(6,4)", "60")
    with Popen(**command, stdout=PIPE, stderr=PIPE, text=True) as process:
        while not process.stdout.readline().startswith("    5"):
            pass  # the deeper counts would take years
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
