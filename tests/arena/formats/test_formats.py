"""The contract of all formats of games, and first movers in files of other programs."""

import importlib

import pytest

from arena.formats.records import FormatError
from arena.formats.registry import FORMATS
from arena.pipeline.external_games import read_games

CHESS = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
PGN = '[White "a"]\n[Black "b"]\n[Result "1-0"]\n{}\n\n1. 3 {{one\ntwo}} 2. 1 3. 2 1-0 ; end {{\n'
GGF = "(;GM[Othello]PC[{}]PB[a]PW[b]RE[+2.000]TY[8]{}BO[8 ---- {}]B[F5]W[D6];)"
OPENING_MOVES = "first,second,result,opening_moves\na,b,1,"


def games_of(tmp_path, suffix, text):
    path = tmp_path / f"x{suffix}"
    path.write_text(text)
    return list(importlib.import_module(FORMATS[suffix]).read_games(path))


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("content", [b"", b"nothing\n\x00that (anybody;\n", bytes(range(256)) * 20])
def test_a_file_without_games_is_a_one_line_error(tmp_path, suffix, content):
    path = tmp_path / f"games{suffix}"
    path.write_bytes(content)
    with pytest.raises(FormatError) as error:
        read_games([path])
    assert len(str(error.value).splitlines()) == 1


def test_an_unknown_suffix_gets_a_suggestion(tmp_path):
    path = tmp_path / "games.pgm"
    path.write_text("")
    with pytest.raises(FormatError, match=r"must end in .*; did you mean \"\.pgn\"\?"):
        read_games([path])


@pytest.mark.parametrize(
    ("suffix", "text", "expected"),
    [
        (".pgn", PGN.format(""), "a"),
        (".pgn", PGN.format('[FirstMover "b"]\n[Opening "3 1"]'), "b"),
        (".pgn", PGN.format(f'[FEN "{CHESS} w KQkq - 0 1"]'), "a"),
        (".pgn", PGN.format(f'[FEN "{CHESS} b KQkq - 0 1"]'), "b"),
        (".pgn", PGN.format('[FEN "of another program"]'), None),
        (".pgn", PGN.format('[Opening "Sicilian Defence"]'), "a"),
        (".pgn", PGN.format('[Opening "3 1"]'), None),
        (".pgn", PGN.format('[Opening ""]'), "a"),
        (".csv", "a,b,1\n", "a"),
        (".csv", "a,b,1,17\n", "a"),
        (".csv", "first,second,result,first_mover\na,b,1,b\n", "b"),
        (".csv", "first,second,result,first_mover\na,b,1,\n", None),
        (".csv", f"{OPENING_MOVES}3 1\n", None),
        (".csv", f"{OPENING_MOVES}\n", "a"),
        (".csv", f"white,black,result,fen\na,b,1,{CHESS} b KQkq - 0 1\n", "b"),
        (".csv", f"black,white,result,fen\na,b,1,{CHESS} w KQkq - 0 1\n", "b"),
        (".ggf", GGF.format("other", "", "*"), "a"),
        (".ggf", GGF.format("other", "", "O"), "b"),
        (".ggf", GGF.format("pitflip 1", "FM[W]", "*"), "b"),
        (".ggf", GGF.format("pitflip 1", "FM[B]", "*"), "a"),
        (".ggf", GGF.format("pitflip 1", "FM[B]", "O"), "a"),
        (".ggf", GGF.format("pitflip 1", "", "*"), None),
    ],
)
def test_the_first_mover_of_a_game(tmp_path, suffix, text, expected):
    (game,) = games_of(tmp_path, suffix, text)
    side = game.first_mover
    assert (None if side is None else (game.first, game.second)[side].name) == expected


def test_an_unknown_first_mover_is_an_error_with_its_line(tmp_path):
    with pytest.raises(FormatError, match=r'x.csv:2: the first mover must be "a" or "b", got "c"'):
        games_of(tmp_path, ".csv", "first,second,result,first_mover\na,b,1,c\n")


@pytest.mark.parametrize(("tag", "opening"), [("", None), ("ON[]", ""), ("ON[f5]", "f5")])
def test_the_opening_of_our_ggf(tmp_path, tag, opening):
    (game,) = games_of(tmp_path, ".ggf", GGF.format("pitflip 1", tag, "*"))
    assert game.opening == opening


def test_comments_of_a_pgn_are_not_moves(tmp_path):
    (plain,) = games_of(
        tmp_path, ".pgn", PGN.format("").partition("1. 3")[0] + "1. 3 2. 1 3. 2 1-0"
    )
    assert games_of(tmp_path, ".pgn", PGN.format("")) == [plain]
