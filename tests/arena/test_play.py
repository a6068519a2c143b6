"""The command `pitflip play`."""

import io
import json
import os
import pty
import re
import select
import shlex
import subprocess
import time
from functools import partial
from pathlib import Path

import pytest

from agents.core import AgentSpec
from agents.kinds.human import Dialogue
from agents.protocols import PROTOCOLS
from agents.registry import AGENTS, build, kinds_for
from arena.commands.registry import run_verb
from games import game
from tests.agents.helpers import GAMES, positions, slow_if_wide
from tests.agents.programs import other
from tests.commands import play
from tests.forked import in_fork

ROOT = Path(__file__).parents[2]


class Typed(io.StringIO):
    """What a person types, at a terminal or not."""

    def __init__(self, lines: str, terminal: bool = False) -> None:
        super().__init__(lines)
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


def sitting(*words: str, typed: str = "", terminal: bool = False) -> str:
    """All that a sitting shows; it ends well."""
    shown = io.StringIO()
    dialogue = Dialogue(Typed(typed.replace(" ", "\n") + "\n", terminal), shown)
    assert play(list(words), dialogue) == 0
    return shown.getvalue()


def moves_of(shown: str) -> list[str]:
    """The moves of the command at the end."""
    _, action, moves = replay_words(shown)
    assert action == "replay"
    return moves.split()


def replay_words(shown: str) -> list[str]:
    """The arguments of the command in the last line."""
    command = shlex.split(shown.rstrip("\n").splitlines()[-1])
    assert "pitflip" in command
    return command[command.index("game") + 1 :]


def replayed(shown: str, capsys) -> str:
    """The last line of what the printed command prints."""
    capsys.readouterr()
    assert run_verb("game", replay_words(shown)) == 0
    return capsys.readouterr().out.rstrip("\n").splitlines()[-1]


# ------------------------------------------------------------------ whole sittings


@pytest.mark.parametrize("name", slow_if_wide(GAMES))
def test_two_agents_play_every_game_to_its_end(name, capsys):
    first, second = "greedy", "random"
    shown = sitting(name, "--first", first, "--second", second, "--seed", "3")
    of = game(name)
    final = of.replay(" ".join(moves_of(shown)))[-1]
    assert of.over(final)
    assert replayed(shown, capsys).startswith("over: ")
    (a, b), last = of.score(final), shown.rstrip("\n").splitlines()[-2]
    winner = "a tie" if a == b else f"{(first, second)[a < b]} wins"
    assert last.startswith(f"Final score: {first} {a}, {second} {b}")
    assert last.endswith(f": {winner}.")
    # The board at the start and after every move, the names with it.
    names = (first, second)
    for position in of.replay(" ".join(moves_of(shown))):
        assert of.draw(position, names) in shown
    assert shown.count(" plays ") + shown.count(" passes.") + shown.count(" swaps:") == len(
        moves_of(shown)
    )


@pytest.mark.parametrize(
    "name", ["kalah(3,2)", "owari(3,2)", "kalah-manchester(3,2)", "othello(4)"]
)
@pytest.mark.parametrize(
    "kind", [kind for kind in AGENTS if kind not in ("human", "python", *PROTOCOLS)]
)
def test_a_person_plays_any_agent(name, kind):
    of = game(name)
    if kind not in kinds_for(of):
        return
    person = " ".join(sorted({of.move_text(p, m) for p in positions(name, 0) for m in of.legal(p)}))
    shown = sitting(name, "--second", kind, "--seed", "1", typed=f"{person} " * 40)
    assert "The game is over." in shown
    assert of.over(of.replay(" ".join(moves_of(shown)))[-1])


def test_a_seed_repeats_a_game():
    def shown(seed: str) -> list[str]:
        return moves_of(
            sitting("othello(6)", "--first", "random", "--second", "random", "--seed", seed)
        )

    assert shown("5") == shown("5") != shown("6")


def test_game_without_a_seed_prints_its_seed():
    words = ("othello(6)", "--first", "random", "--second", "random")
    first = sitting(*words)
    (seed,) = re.findall(r"seed (\d+)$", first, re.MULTILINE)
    assert sitting(*words, "--seed", seed) == first


def test_extra_turns_are_said():
    shown = sitting("kalah(6,4)", "--second", "first", "--names", "Ada", "Bo", typed="3 6")
    assert "Ada (South) plays 3 and moves again." in shown
    assert "Ada (South) plays 6." in shown
    assert "Bo (North) plays 1" in shown


def test_what_is_swept_is_said_and_counted():
    of = game("kalah(3,2)")
    shown = sitting("kalah(3,2)", "--first", "random", "--second", "random", "--seed", "2")
    moves = moves_of(shown)
    before = of.replay(" ".join(moves))[-2]
    (told,) = re.findall(r"(\d+) beans? left in the rows swept to (random \d)'s pot", shown)
    # The final score is what lay in the pots after the last sowing, and what was swept.
    unswept = game("kalah(3,2,sweep=nobody)")
    left = unswept.raw_score(unswept.play(before, of.parse_move(before, moves[-1])))
    final = of.score(of.replay(" ".join(moves))[-1])
    assert int(told[0]) == sum(final) - sum(left) > 0


def test_a_swap_is_told_in_words():
    shown = sitting("kalah-manchester(3,2)", "--first", "first", "--second", "human", typed="swap")
    assert "human (North) swaps: the players change sides." in shown
    assert moves_of(shown)[:2] == ["1", "swap"]
    assert "first (North) plays" in shown


def test_forced_pass_is_announced():
    for seed in range(50):
        shown = sitting(
            "othello(4)", "--first", "random", "--second", "random", "--seed", str(seed)
        )
        if "pass" in moves_of(shown):
            assert shown.count("cannot move and passes.") == moves_of(shown).count("pass")
            return
    raise AssertionError("no pass in fifty games")


# ------------------------------------------------------------------------ commands


def test_undo_returns_to_where_the_person_last_chose():
    shown = sitting("kalah(6,4)", "--second", "first", typed="1 2 undo undo undo 5 quit")
    assert "There is no move to take back." in shown
    assert moves_of(shown)[0] == "5"
    assert len(moves_of(shown)) > 1
    board = game("kalah").draw(game("kalah").start(), ("human", "first"))
    assert shown.count(board) == 2


def test_undo_goes_back_by_one_move_of_an_extra_turn():
    shown = sitting("kalah(6,4)", "--second", "first", typed="3 undo 3 6 undo quit")
    assert moves_of(shown) == ["3"]


def test_undo_between_two_people_takes_back_one_move():
    shown = sitting("kalah(6,4)", "--second", "human", typed="1 1 undo 2 undo undo 4 quit")
    assert moves_of(shown) == ["4"]


def test_quit_shows_the_game_so_far(capsys):
    shown = sitting("kalah(6,4)", "--second", "first", typed="1 quit")
    assert "The game was stopped." in shown
    assert replayed(shown, capsys).startswith("not over: player 1 to move")


@pytest.mark.parametrize("level", [1, 2, 5])
def test_a_level_changes_how_far_the_computer_looks(level):
    typed = f"level_{level} 1 quit".replace("_", "\x00")
    words = ("kalah(6,4)", "--second", "alphabeta", "--seed", "1")
    shown = io.StringIO()
    lines = typed.replace(" ", "\n").replace("\x00", " ") + "\n"
    assert play(list(words), Dialogue(Typed(lines), shown)) == 0
    ahead = "1 move" if level == 1 else f"{level} moves"
    assert f"alphabeta: looking {ahead} ahead." in shown.getvalue()
    of = game("kalah(6,4)")
    position = of.play(of.start(), 0)
    expected = build(AgentSpec("alphabeta", depth=level), of).choose(position).move
    assert moves_of(shown.getvalue())[1] == of.move_text(position, expected)


def test_a_level_means_nothing_to_players_that_do_not_search():
    shown = io.StringIO()
    words = ["kalah(6,4)", "--second", "greedy"]
    assert play(words, Dialogue(Typed("level 3\n"), shown)) == 0
    assert "No player looks ahead." in shown.getvalue()


# ----------------------------------------------------------------- before the game


@pytest.mark.parametrize(
    ("answer", "first"),
    [("Ada", "Ada"), ("ada", "Ada"), ("A", "Ada"), ("Bo", "Bo"), ("x Bo", "Bo"), ("", "")],
)
def test_first_mover_can_be_asked_for(answer, first):
    words = ("owari", "--first", "ask", "--second", "first", "--names", "Ada", "Bo")
    shown = sitting(*words, typed=answer)
    assert shown.startswith("Who moves first, Ada or Bo? ")
    if answer.startswith("x"):
        assert '"x" is neither: write Ada or Bo' in shown
    if first:
        assert f"{first} against " in shown
        assert (
            "Ada (South), your pit (0 to 5)" in shown or "Ada (North), your pit (7 to 12)" in shown
        )


def test_the_level_is_asked():
    shown = sitting("owari", "--second", "alphabeta", "--depth", "ask", typed="x 0 3")
    assert shown.count("How many moves should the computer look ahead? ") == 3
    assert '"x" is not a number from 1 to 100' in shown


@pytest.mark.parametrize(
    ("players", "title"),
    [
        (("minimax:depth=2",), "human against minimax"),
        (("greedy", "--second", "human"), "greedy against human"),
        (("greedy", "--first", "first"), "first against greedy"),
    ],
)
def test_the_opponent_takes_the_other_side(players, title):
    assert title in sitting("kalah(3,2)", *players, typed="quit")


def test_three_players_are_refused(capsys):
    assert run_verb("play", ["kalah(3,2)", "smart", "--first", "first", "--second", "last"]) == 2
    assert "leave out OPPONENT" in capsys.readouterr().err


def test_names_are_asked_at_a_terminal_only():
    shown = sitting("kalah", "--second", "first", typed="Ada 3 quit", terminal=True)
    assert "Name of human: " in shown
    assert "Ada (South) plays 3" in shown
    assert "Name of" not in sitting("kalah", "--second", "first", typed="3")


def test_two_of_a_kind_are_told_apart():
    shown = sitting("kalah(3,2)", "--first", "first", "--second", "first")
    assert "first 1 against first 2" in shown


def test_a_spectator_at_a_terminal_goes_from_move_to_move():
    words = ("kalah(6,4)", "--first", "first", "--second", "first")
    shown = sitting(*words, typed="  x undo  quit".replace("  ", " \n"), terminal=True)
    assert shown.count("Enter shows the next move: ") >= 4
    assert '"x" is not a command' in shown
    assert "Enter" not in sitting(*words)


# --------------------------------------------------------------------- users' files

BOT = "def choose(view, legal, rng):\n    return {answer}\n"


def test_a_bot_of_ones_own_plays(tmp_path):
    (tmp_path / "mine.py").write_text(BOT.format(answer="legal[0]"))
    shown = sitting("kalah(3,2)", "--first", str(tmp_path / "mine.py"), "--second", "first")
    assert "mine.py against first" in shown
    assert "The game is over." in shown


def test_an_evaluation_of_ones_own_plays():
    path = "experiments/bots/my_heuristic.py:evaluate"
    shown = sitting("kalah(3,2)", "--first", path, "--second", "first", "--depth", "3")
    assert "my_heuristic.py against first" in shown
    assert "The game is over." in shown


def test_a_bot_that_fails_ends_the_game_with_its_fault(tmp_path, capsys):
    (tmp_path / "mine.py").write_text(BOT.format(answer="77"))
    shown = io.StringIO()
    words = ["kalah", "--first", "first", "--second", f"{tmp_path / 'mine.py'}:choose"]
    assert play(words, Dialogue(Typed(""), shown)) == 1
    assert "answered 77" in capsys.readouterr().err
    assert moves_of(shown.getvalue()) == ["1"]


# ------------------------------------------------------------------ what is wrong


# ---------------------------------------------------------------- real processes


def process(*words: str, typed: bytes = b"") -> subprocess.CompletedProcess:
    """The command with this input through a pipe."""
    work = partial(play, list(words))
    return subprocess.run(**in_fork(work, cwd=ROOT), input=typed, capture_output=True, check=False)


def test_through_a_pipe_it_ends_with_the_input():
    done = process("kalah(3,2)", "--second", "first", typed=b"2\n\xff\xfe\n1")
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    assert b"is not the number of a hole" in done.stdout
    assert b"human (South), your hole (1 to 3): 1\n" in done.stdout
    assert moves_of(done.stdout.decode())[0] == "2"


def test_at_a_terminal_it_asks_and_answers():
    leader, follower = pty.openpty()
    work = partial(play, ["kalah(3,2)", "--second", "first"])
    person = subprocess.Popen(
        **in_fork(work, cwd=ROOT, stdin=follower, stdout=follower, stderr=subprocess.DEVNULL)
    )
    os.close(follower)
    shown = until(leader, "Name of human: ")
    os.write(leader, b"Ada\n")
    shown += until(leader, "Ada (South), your hole (1 to 3): ")
    os.write(leader, b"2\n")
    shown += until(leader, "Ada (South) plays 2")
    os.write(leader, b"\x04")  # the end of input, typed
    shown += until(leader, "The game was stopped.")
    assert person.wait(timeout=60) == 0
    os.close(leader)
    assert "Traceback" not in shown


def until(leader: int, awaited: str) -> str:
    """What a terminal shows up to some words."""
    shown, deadline = "", time.monotonic() + 120
    while awaited not in shown:
        assert time.monotonic() < deadline, f"no {awaited!r} in {shown!r}"
        if select.select([leader], [], [], 1)[0]:
            shown += os.read(leader, 4096).decode()
    return shown


def test_an_engine_that_keeps_a_board_of_its_own_is_told_what_was_taken_back():
    command = f"gtp {shlex.join(other('gtp'))}"
    shown = sitting("othello(8)", "--second", command, typed="d3 undo c4 d3 undo f5 quit")
    assert moves_of(shown)[0::2] == ["c4", "f5"]
    assert len(moves_of(shown)) == 4


def test_resignation_loses():
    command = f"gtp {shlex.join(other('gtp', 'resign'))}"
    shown = sitting("othello(8)", "--second", command, "--names", "Ada", "Bot", typed="d3")
    assert "Bot resigns: Ada wins." in shown


# From a position, and with hints.

POSITION = "S 1 2 1, N 0 2 1, pots 2-3, South to move"


def test_a_game_may_begin_from_a_position_and_is_shown_again_from_there(capsys):
    shown = sitting("kalah(3,2)", "--second", "first", "--start", POSITION, typed="3 1")
    command = replay_words(shown)
    assert command[-2:] == ["--start", POSITION]
    assert run_verb("game", command) == 0
    assert capsys.readouterr().out.count("plays") == len(command[2].split())


def test_hints_show_people_what_moves_are_worth(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    shown = sitting("kalah(3,2)", "--second", "first", "--hint", "--start", POSITION, typed="quit")
    assert "win: +4" in shown
    assert "3 +4 best" in shown


def test_restart_begins_again():
    shown = sitting("kalah(4,3)", "--second", "first", typed="1 restart 2 quit")
    assert "The game starts again." in shown
    first = moves_of(shown)[0]
    assert first == "2"


def test_a_hint_says_what_every_move_is_worth():
    shown = sitting("kalah(2,1)", "--second", "first", typed="hint quit")
    assert re.search(r"^ +1 [+-]\d+( best)?$", shown, re.MULTILINE)


@pytest.mark.parametrize("name", ["kalah(4,3)", "owari(4,3)", "kalah-manchester(4,3)"])
def test_first_mover_may_play_the_other_side(name):
    words = "--first", "first", "--second", "human", "--names", "bot", "me", "--seed", "1"
    usual, turned = (
        sitting(name, *words, *more, typed="quit") for more in ((), ("--side", "north"))
    )
    assert "bot (South) plays" in usual
    assert "bot (North) plays" in turned
    assert "me (South)" in turned
    assert sitting(name, *words, "--side", "South", typed="quit") == usual


def test_a_whole_game_from_the_other_side_has_the_same_score():
    words = "kalah(1,3)", "--first", "first", "--second", "first", "--names", "a", "b"
    score = re.compile(r"Final score: .*")
    one, other = sitting(*words), sitting(*words, "--side", "north")
    assert score.search(one)[0] == score.search(other)[0]
    assert "North" in other


@pytest.mark.parametrize(
    ("words", "board"),
    [((), "sowing"), (("--start", "S 1 0, N 2 0, pots 3-2, North to move"), "text")],
)
def test_a_game_ends_with_the_link_to_its_replay(tmp_path, capsys, words, board):
    page = tmp_path / "new" / "game.html"
    names = "--names", "<b>x</b>", "y"
    line = ("kalah(2,2)", "--first", "first", "--second", "last", "--out", str(page), *names)
    shown = sitting(*line, *words)
    *_, link, command = shown.splitlines()
    found = re.fullmatch(r"replay: (file://.*)#game=0&ply=(\d+)", link)
    assert found[1] == page.as_uri()
    text = page.read_text()
    content = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
    assert content["board"]["kind"] == board
    assert len(content["moves"][0].split()) == int(found[2])
    assert content["command"].split()[:2] == ["pitflip", "game"]
    # The page's command is the one of the last line.
    whole = f'{content["command"]}"{content["moves"][0]}"'
    assert sorted(shlex.split(whole)[2:]) == sorted(replay_words(command))
    assert "<b>x</b>" not in text
    assert replayed(shown, capsys)
