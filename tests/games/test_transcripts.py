"""Moves in the numbers of players, for many games at once."""

import random
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest

from arena.commands.registry import run_verb
from games import game
from games.transcripts import index_move_texts, move_texts, replay_command

NAMES = [
    "kalah(6,4)",
    "kalah(9,2)",
    "kalah-manchester",
    "kalah-2022(3,3,swap=yes)",
    "owari",
    "othello(4)",
    "othello-adjacent(6)",
    "othello(10)",
]


def random_games(of, number, seed):
    """Move numbers of uniformly random games."""
    chance, found = random.Random(seed), []
    for _ in range(number):
        position, moves = of.start(), []
        while legal := of.legal(position):
            moves.append(chance.choice(legal))
            position = of.play(position, moves[-1])
        found.append(moves)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_words_are_those_of_a_game_written_move_by_move(name):
    of = game(name)
    found = random_games(of, 15, seed=3)
    flat = np.array([move for moves in found for move in moves], np.int16)
    together = index_move_texts(of, flat, np.array([len(moves) for moves in found], np.int32))
    words = iter([together.words[place] for place in together.places])
    for moves in found:
        text = of.write(moves)
        assert " ".join(next(words) for _ in moves) == text
        assert " ".join(move_texts(of, moves)) == text


def test_no_moves_are_no_words():
    assert move_texts(game("kalah(6,4)"), []) == []


def test_the_command_that_shows_a_game_of_a_users_file_works_where_it_is_printed(
    tmp_path, monkeypatch, capsys
):
    """The experiment lies elsewhere, in a directory whose name a shell would take apart."""
    shipped = Path(__file__).parents[2] / "experiments" / "games" / "connect4.py"
    odd = tmp_path / '$HOME\'s "games"'
    odd.mkdir()
    of = game("connect4.py:connect4(7,6)", Path(shutil.copy(shipped, odd)).parent)
    monkeypatch.chdir(tmp_path)
    words = shlex.split(replay_command(of, [3, 3, 2]))
    assert words[:2] == ["pitflip", "game"]
    assert run_verb("game", words[2:]) == 0
    assert "player 2 plays 4" in capsys.readouterr().out
