"""Who was to move after the opening, as files of other programs say it."""

import pytest

from arena.formats.csv import games_in as csv_games
from arena.formats.game_record import Unreadable
from arena.formats.ggf import games_in as ggf_games
from arena.formats.pgn import games_in as pgn_games

CHESS = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
PGN = '[White "a"]\n[Black "b"]\n[Result "1-0"]\n{}\n\n1. 3 2. 1 3. 2 1-0\n'
GGF = "(;GM[Othello]PC[{}]PB[a]PW[b]RE[+2.000]TY[8]{}BO[8 ---- {}]B[F5]W[D6];)"


def mover(games_in, path, text):
    """The name of the first mover, or None, of the only game of a file."""
    path.write_text(text)
    (game,) = games_in(path)
    return None if game.mover is None else (game.first, game.second)[game.mover].name


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        ("", "a"),
        ('[FirstMover "b"]\n[Opening "3 1"]', "b"),
        (f'[FEN "{CHESS} w KQkq - 0 1"]', "a"),
        (f'[FEN "{CHESS} b KQkq - 0 1"]', "b"),
        ('[FEN "of another program"]', None),
        ('[Opening "Sicilian Defence"]', "a"),
        ('[Opening "3 1"]', None),
        ('[Opening ""]', "a"),
    ],
)
def test_the_first_mover_of_a_pgn(tmp_path, tags, found):
    assert mover(pgn_games, tmp_path / "x.pgn", PGN.format(tags)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a,b,1\n", "a"),
        ("a,b,1,17\n", "a"),
        ("first,second,result,first_mover\na,b,1,b\n", "b"),
        ("first,second,result,first_mover\na,b,1,\n", None),
        ("first,second,result,opening_moves\na,b,1,3 1\n", None),
        ("first,second,result,opening_moves\na,b,1,\n", "a"),
        (f"white,black,result,fen\na,b,1,{CHESS} b KQkq - 0 1\n", "b"),
        (f"black,white,result,fen\na,b,1,{CHESS} w KQkq - 0 1\n", "b"),
    ],
)
def test_the_first_mover_of_a_csv(tmp_path, text, found):
    assert mover(csv_games, tmp_path / "x.csv", text) == found


@pytest.mark.parametrize(
    ("program", "tag", "side", "found"),
    [
        ("other", "", "*", "a"),
        ("other", "", "O", "b"),
        ("pitflip 1", "FM[W]", "*", "b"),
        ("pitflip 1", "FM[B]", "*", "a"),
        ("pitflip 1", "FM[B]", "O", "a"),
        ("pitflip 1", "", "*", None),
    ],
)
def test_the_first_mover_of_a_ggf(tmp_path, program, tag, side, found):
    assert mover(ggf_games, tmp_path / "x.ggf", GGF.format(program, tag, side)) == found


@pytest.mark.parametrize(("tag", "opening"), [("", None), ("ON[]", ""), ("ON[f5]", "f5")])
def test_a_ggf_of_an_earlier_version_does_not_name_the_opening(tmp_path, tag, opening):
    file = tmp_path / "x.ggf"
    file.write_text(GGF.format("pitflip 1", tag, "*"))
    (game,) = ggf_games(file)
    assert game.opening == opening


def test_a_first_mover_who_does_not_play_is_named_with_its_line(tmp_path):
    with pytest.raises(Unreadable, match=r'x.csv:2: the first mover must be "a" or "b", got "c"'):
        mover(csv_games, tmp_path / "x.csv", "first,second,result,first_mover\na,b,1,c\n")
