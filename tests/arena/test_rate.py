"""The command `pitflip rate` and games from other programs."""

import json
import random
import time
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arena.pipeline.external_games import read_games
from tests.arena.running import experiment_file, only_run, run_experiment_file
from tests.commands import export
from tests.commands import rate as main


def written(directory: Path, name: str, text: str) -> str:
    path = directory / name
    path.write_text(text)
    return str(path)


def ratings(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, float]:
    assert main([*words, "--json", "--bootstrap", "0"]) == 0
    said = json.loads(capsys.readouterr().out)
    return {row["agent"]: row["elo"] for row in said["ratings"]}


EVEN = "a,b,1\nb,a,1\na,b,0\nb,a,0\n"
STRONGER = "a,b,1\nb,a,0\na,b,1\nb,a,1\na,b,0\nb,a,0\n"


def test_better_score_gives_a_higher_rating(tmp_path, capsys):
    found = ratings(capsys, written(tmp_path, "x.csv", "first,second,result\n" + STRONGER))
    assert found["a"] > found["b"]


def test_words_for_results_mean_the_same(tmp_path, capsys):
    words = "a,b,1-0\nb,a,LOSS\na,b,win\nb,a,w\na,b,0-1\nb,a,l\n"
    same = ratings(capsys, written(tmp_path, "x.csv", STRONGER))
    assert ratings(capsys, written(tmp_path, "y.csv", words)) == same


def pgn(results: list[tuple[str, str, str]]) -> str:
    tags = '[Event "e"]\n[White "{}"]\n[Black "{}"]\n[Result "{}"]\n\n1. x {}\n\n'
    return "".join(tags.format(first, second, word, word) for first, second, word in results)


def test_pgn_tags_give_the_same_ratings_as_the_csv(tmp_path, capsys):
    games = [("a", "b", "1-0"), ("b", "a", "0-1"), ("a", "b", "1-0"), ("b", "a", "1-0")]
    games += [("a", "b", "0-1"), ("b", "a", "0-1"), ("a", "b", "*")]
    same = ratings(capsys, written(tmp_path, "x.csv", STRONGER))
    assert ratings(capsys, written(tmp_path, "x.pgn", pgn(games))) == same


def test_our_parquet_is_read_and_its_repeats_are_not(tmp_path, capsys):
    rows = [line.split(",") for line in STRONGER.split()]
    rows += [["b", "a", "1"]] * 50
    table = pa.table(
        {
            "first": [row[0] for row in rows],
            "second": [row[1] for row in rows],
            "result": [float(row[2]) for row in rows],
            "opening": list(range(len(rows))),
            "repeat": [False] * 6 + [True] * 50,
        }
    )
    pq.write_table(table, tmp_path / "games.parquet")
    same = ratings(capsys, written(tmp_path, "x.csv", STRONGER))
    assert ratings(capsys, str(tmp_path / "games.parquet")) == pytest.approx(same)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("x.csv", "a,b,2\n", "x.csv:1: the first mover's result must be"),
        ("x.csv", "a,b,1\na,b\n", "x.csv:2: a line is first,second,result"),
        ("x.csv", "a,a,1\n", "x.csv:1: a game needs two different names"),
        ("x.csv", "", "no finished game was found"),
        ("x.txt", "a,b,1\n", "must end in .parquet, .csv, .pgn, .ggf"),
        ("x.ggf", "(;GM[Othello]PB[a]RE[+2];)", "x.ggf:1: the game has no PW[]"),
        ("x.ggf", "(;PB[a]PW[b]RE[resigned];)", "RE must begin with a score of black"),
        ("x.csv", "White,Result\na,1\n", "a header names two players and one result"),
        ("x.csv", f"a,b{'b' * 300},1\n", "a name has at most 200 letters"),
        ("x.csv", "a,b,0.3\n", "the first mover's result must be"),
        ("x.pgn", '[White "a"]\n[Result "1-0"]\n', "has no Black tag"),
        ("x.parquet", "nothing", "is not a games.parquet of pitflip"),
    ],
)
def test_a_mistake_is_told_in_one_line(tmp_path, capsys, name, text, told):
    assert main([written(tmp_path, name, text)]) == 2
    said = capsys.readouterr().err
    assert told in said
    assert said.count("\n") == 1


def test_a_missing_file_and_an_unknown_anchor_are_told(tmp_path, capsys):
    assert main([str(tmp_path / "none.csv")]) == 2
    assert "there is no such file" in capsys.readouterr().err
    assert main([written(tmp_path, "x.csv", "anna,bert,1\n"), "--anchor", "ana"]) == 2
    assert 'did you mean "anna"' in capsys.readouterr().err


def whole(capsys, *words):
    """All that is said as JSON."""
    capsys.readouterr()
    assert main([*map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def row_of(said, agent):
    return next(row for row in said["ratings"] if row["agent"] == agent)


def run_of(directory, name, table, **more):
    """A small run of an experiment; its directory."""
    path = experiment_file(directory, table)
    run_experiment_file(path, directory / name, **more)
    return only_run(directory / name)


def matched(pairs, game="kalah(4,3)", depth=2):
    return (
        f'game = "{game}"\npairs = {pairs}\nseed = 4\nopenings = {{ random_plies = 4 }}\n'
        f'[agents.smart]\nkind = "alphabeta"\ndepth = {depth}\n[agents.bad]\nkind = "greedy"\n'
    )


def test_runs_of_one_match_are_counted_once(tmp_path, capsys):
    # Seen before: runs of 100, 101 and 102 pairs of one match, K = 303.
    runs = [run_of(tmp_path, f"r{pairs}", matched(pairs)) for pairs in (20, 21, 22)]
    said = whole(capsys, *runs)
    assert (said["games"], row_of(said, "smart")["openings"]) == (44, 22)
    assert said["notes"] == ["126 games, 82 of them duplicates"]
    alone = whole(capsys, runs[2])
    assert row_of(said, "smart")["elo_low"] == pytest.approx(row_of(alone, "smart")["elo_low"])
    again = whole(capsys, runs[2], runs[2] / "games.parquet")
    assert again["notes"] == ["88 games, 44 of them duplicates"]


def test_printed_ratings_match_the_table(tmp_path, capsys):
    table = matched(40) + '[agents.first]\nkind = "first"\n'
    run = run_of(tmp_path, "run", table)
    stored = pq.read_table(run / "elo.parquet").to_pylist()
    capsys.readouterr()
    assert main([str(run), "--out", str(tmp_path / "out")]) == 0
    again = pq.read_table(tmp_path / "out" / "elo.parquet").to_pylist()
    assert capsys.readouterr().out.count("smart") == 1
    left = {"distinct_games", "n_eff"}
    for mine, theirs in zip(stored, again, strict=True):
        for key in mine.keys() - left:
            close = isinstance(mine[key], float)
            assert theirs[key] == (pytest.approx(mine[key], abs=1e-6) if close else mine[key]), key


def test_different_games_and_versions_are_kept_apart(tmp_path, capsys):
    kalah = run_of(tmp_path, "a", matched(10))
    deeper = run_of(tmp_path, "b", matched(10, depth=3))
    owari = run_of(tmp_path, "c", matched(10, game="owari(4,3)"))
    said = whole(capsys, kalah, owari)
    assert {row["game"] for row in said["ratings"]} == {"kalah(4,3)", "owari(4,3)"}
    assert said["notes"] == ["rated separately, as different games: kalah(4,3), owari(4,3)"]
    said = whole(capsys, kalah, deeper)
    names = sorted(row["agent"] for row in said["ratings"])
    assert names[0] == "bad"
    assert [name.partition("@")[0] for name in names[1:]] == ["smart", "smart"]
    assert "smart is 2 agents with different options or files: smart@" in said["notes"][0]
    merged = whole(capsys, kalah, deeper, "--same", "smart")
    assert sorted(row["agent"] for row in merged["ratings"]) == ["bad", "smart"]


def test_an_edit_of_an_imported_file_makes_a_version_in_every_format(tmp_path, capsys):
    (tmp_path / "bot.py").write_text(
        "from beside import PLACE\n\ndef choose(view, legal, rng):\n    return legal[PLACE]\n"
    )
    text = matched(3) + '[agents.bot]\nkind = "python"\nfile = "bot.py"\n'
    runs, files = [], []
    for place in (0, -1):
        (tmp_path / "beside.py").write_text(f"PLACE = {place}\n")
        runs.append(run_of(tmp_path, f"run{place}", text))
        made = tmp_path / f"made{place}"
        assert export([str(runs[-1]), "--games=pgn", "--games=csv", "--out", str(made)]) == 0
        copy = made / "copy.parquet"
        copy.write_bytes((runs[-1] / "games.parquet").read_bytes())
        files.append([copy, made / "games.pgn", made / "games.csv"])
    names = {row["agent"] for row in whole(capsys, *runs)["ratings"]}
    assert len(names) == 4  # the others are one agent in both runs
    for pair in zip(*files, strict=True):
        assert {row["agent"] for row in whole(capsys, *pair)["ratings"]} == names


def test_a_pgn_that_is_written_a_thousand_times_holds_as_many_games_as_differ(tmp_path, capsys):
    games = "".join(
        f'[White "{a}"]\n[Black "{b}"]\n[Result "{r}"]\n\n1. {m} x 2. y {r}\n\n'
        for a, b, r, m in (("x", "y", "1-0", "a"), ("y", "x", "1-0", "b"), ("x", "y", "0-1", "c"))
    )
    said = whole(capsys, written(tmp_path, "x.pgn", games * 200), "--bootstrap", "0")
    assert (said["games"], said["notes"][0]) == (3, "600 games, 597 of them duplicates")


def test_without_moves_a_file_counts_once(tmp_path, capsys):
    one, other = written(tmp_path, "x.csv", STRONGER), written(tmp_path, "y.csv", STRONGER)
    assert whole(capsys, one, other, "--bootstrap", "0")["games"] == 6
    third = written(tmp_path, "z.csv", STRONGER + EVEN)
    assert whole(capsys, one, third, "--bootstrap", "0")["games"] == 16


def test_tags_in_comments_are_no_tags(tmp_path, capsys):
    text = (
        '[White "a"]\n[Black "b"]\n[Result "1-0"]\n\n1. x {\n[White "Z"] [Black "Y"]\n'
        '[Result "0-1"]\n} y ; [White "Q"]\n1-0\n\n'
        '[White "b"]\n[Black "a"]\n[Result "1-0"]\n\n1. y 1-0\n'
    )
    found = ratings(capsys, written(tmp_path, "x.pgn", text))
    assert sorted(found) == ["a", "b"]


@pytest.mark.parametrize(
    "header",
    ["White,Black,Result", "player1,player2,score", "white,black,outcome", "Bot1,Bot2,Result"],
)
def test_usual_headers_are_understood(tmp_path, capsys, header):
    same = ratings(capsys, written(tmp_path, "x.csv", STRONGER))
    assert ratings(capsys, written(tmp_path, "y.csv", f"{header}\n{STRONGER}")) == same


def test_columns_may_stand_in_any_order(tmp_path, capsys):
    text = "game,result,opening,first,second\nkalah,1,e4,a,b\nkalah,0,e4,b,a\nowari,1,x,a,b\n"
    said = whole(capsys, written(tmp_path, "x.csv", text), "--bootstrap", "0")
    assert {(row["game"], row["openings"]) for row in said["ratings"]} == {
        ("kalah(6,4)", 1), ("owari(6,3)", 1),
    }  # fmt: skip


def test_files_in_old_letters_and_with_long_fields_are_read(tmp_path, capsys):
    (tmp_path / "x.csv").write_bytes("J\xfcrgen,b,1\nb,J\xfcrgen,1\n".encode("latin-1"))
    assert "J\u00fcrgen" in ratings(capsys, str(tmp_path / "x.csv"))
    long = "first,second,result,note\n" + "".join(f"a,b,{r},{'x' * 200_000}\n" for r in (1, 0))
    assert "a" in ratings(capsys, written(tmp_path, "y.csv", long))


def test_ggf_of_othello_servers_is_read(tmp_path, capsys):
    game = "(;GM[Othello]PC[GGS]PB[{}]PW[{}]RE[{}]TY[8]BO[8 ---O*--- *]B[{}]W[e6//1];)\n"
    games = [("a", "b", "+12.00", "d3"), ("b", "a", "-2", "c4"), ("a", "b", "?", "f5"),
             ("a", "b", "-4:r", "e3")]  # fmt: skip
    text = "".join(game.format(*each) for each in games) * 2
    said = whole(capsys, written(tmp_path, "x.ggf", text), "--bootstrap", "0")
    assert (said["games"], row_of(said, "a")["points"]) == (3, 2.0)
    assert row_of(said, "a")["game"] == "othello(8)"


def test_an_anchor_is_held_at_a_rating(tmp_path, capsys):
    file = written(tmp_path, "x.csv", STRONGER)
    free, held = ratings(capsys, file), ratings(capsys, file, "--anchor", "b=1500")
    assert held["b"] == 1500.0
    assert held["a"] == pytest.approx(1500.0 + free["a"] - free["b"])
    for wrong in ("b=", "b=high", "b=nan", "b=1e9"):
        assert main([file, "--anchor", wrong]) == 2
        assert "--anchor needs a rating" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"result": [0.3, 1.0]}, "result must be 0, 0.5 or 1, got 0.3"),
        ({"result": [float("nan"), 1.0]}, "result must be 0, 0.5 or 1, got nan"),
        ({"first": [None, "a"]}, "first must be a name"),
        ({"first": ["b", "a"]}, "an agent cannot play itself"),
        ({"opening": ["x", "y"]}, ""),
    ],
    ids=str,
)
def test_a_parquet_that_is_not_ours_is_told_in_one_line(tmp_path, capsys, columns, told):
    usual = {"first": ["a", "a"], "second": ["b", "b"], "result": [1.0, 0.0], "opening": [0, 1],
             "repeat": [False, False]}  # fmt: skip
    pq.write_table(pa.table({**usual, **columns}), tmp_path / "games.parquet")
    status = main([str(tmp_path / "games.parquet"), "--bootstrap", "0"])
    said = capsys.readouterr().err
    assert status == (2 if told else 0)
    assert told in said
    assert said.count("\n") == (1 if told else 0)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.ggf", "(;" * 200_000),
        ("x.pgn", '[White "a"]\n[Black "b"]\n[Result "1-0"]\n\n' + "{x}y" * 200_000 + " 1-0\n"),
        ("x.pgn", '[White "' + "a" * 100_000),
        ("x.csv", "a,b,1\n\x00\x00,b,0\n"),
        ("x.csv", '"' + "a" * 300_000),
    ],
    ids=["ggf", "comments", "tag", "nul", "quote"],
)
def test_hostile_files_are_answered_soon_and_in_one_line(tmp_path, capsys, name, text):
    begun = time.process_time()
    status = main([written(tmp_path, name, text), "--bootstrap", "0"])
    assert time.process_time() - begun < 5.0
    assert (status == 0) == ((name == "x.pgn" and "{x}" in text) or "\x00" in text)
    assert capsys.readouterr().err.count("\n") == (0 if status == 0 else 1)


CHANCE = (
    'game = "{}"\npairs = {}\nseed = 4\nopenings = {{ random_plies = {}, repeat = true }}\n'
    '[agents.smart]\nkind = "alphabeta"\ndepth = 2\n[agents."gre[e]dy; \\"2\\""]\n'
    'kind = "greedy"\n[agents.lot]\nkind = "random"\n[agents.lot2]\nkind = "random"\n'
)
# So small that agents with chance play equal games too.
GAMES = {
    "kalah": ("kalah(2,1)", 30, 1),
    "owari": ("owari(2,1)", 30, 1),
    "othello": ("othello(4)", 60, 1),
}


@pytest.fixture(scope="module", params=GAMES)
def exported_run(request, tmp_path_factory):
    """A run with duplicates, and its games in every format that holds them."""
    directory = tmp_path_factory.mktemp(request.param)
    run = run_of(directory, "run", CHANCE.format(*GAMES[request.param]))
    formats = ["pgn", "csv"] + (["ggf"] if request.param == "othello" else [])
    words = [f"--games={name}" for name in formats]
    assert export([str(run), *words, "--out", str(directory / "made")]) == 0
    copy = directory / "copy.parquet"
    copy.write_bytes((run / "games.parquet").read_bytes())
    return run, [copy, *(directory / "made" / f"games.{name}" for name in formats)]


def test_every_format_gives_back_the_ratings_of_its_run(exported_run, capsys):
    run, files = exported_run
    alone = whole(capsys, run, "--seed", "1")
    table = pq.read_table(run / "games.parquet").to_pandas()
    keys = ["first", "second", "opening_moves", "moves"]
    assert table.duplicated(keys).any()  # else the test would say nothing
    assert table["repeat"].sum() > len(table) - alone["games"] > 0  # some count, some do not
    for file in files:
        assert whole(capsys, file, "--seed", "1")["ratings"] == alone["ratings"], file.name


def test_a_run_with_copies_of_itself_is_the_run(exported_run, capsys):
    run, files = exported_run
    alone = whole(capsys, run)
    for order in ([run, run / "games.parquet", *files], [*reversed(files), run]):
        said = whole(capsys, *order)
        assert (said["games"], said["ratings"]) == (alone["games"], alone["ratings"])
        assert "duplicates" in said["notes"][0]


def test_openings_survive_every_export(exported_run):
    run, files = exported_run
    (of_run,) = read_games([run]).scales
    for file in files:
        (scale,) = read_games([file]).scales
        assert (scale.openings, scale.pairs) == (of_run.openings, of_run.pairs), file.name
        assert scale.game == of_run.game


def test_a_file_without_seeds_and_versions_adds_nothing_to_its_run(exported_run, tmp_path, capsys):
    run, files = exported_run
    lines = files[1].read_text().splitlines(keepends=True)
    bare = [line for line in lines if not line.startswith(("[Seed", "[WhiteV", "[BlackV", "[Site"))]
    plain = written(tmp_path, "bare.pgn", "".join(bare))
    assert whole(capsys, plain, run)["ratings"] == whole(capsys, run)["ratings"]


def test_a_table_without_moves_is_known_by_one_that_has_them(tmp_path, capsys):
    kept = run_of(tmp_path, "kept", matched(10))
    bare = run_of(tmp_path, "bare", "keep_moves = false\n" + matched(10))
    assert export([str(kept), "--games=pgn", "--out", str(tmp_path)]) == 0
    assert whole(capsys, tmp_path / "games.pgn", bare, kept)["games"] == 20


def test_a_table_that_was_saved_as_csv_is_its_run(exported_run, tmp_path, capsys):
    run, _ = exported_run
    pq.read_table(run / "games.parquet").to_pandas().to_csv(tmp_path / "games.csv")
    assert whole(capsys, run, tmp_path / "games.csv")["ratings"] == whole(capsys, run)["ratings"]


def test_any_order_and_format_of_the_games_gives_the_intervals_of_the_run(tmp_path, capsys):
    text = (
        matched(12) + '[agents.lot]\nkind = "random"\n[agents.deep]\nkind = "minimax"\ndepth = 1\n'
    )
    run = run_of(tmp_path, "run", text)
    assert export([str(run), "--games=csv", "--out", str(tmp_path)]) == 0
    head, *lines = (tmp_path / "games.csv").read_text().splitlines(keepends=True)
    random.Random(1).shuffle(lines)
    shuffled = written(tmp_path, "shuffled.csv", head + "".join(lines))
    own = pd.read_parquet(run / "elo.parquet").set_index("agent")
    assert own["elo_low"].notna().all()
    for file in (run, tmp_path / "games.csv", shuffled):
        for row in whole(capsys, file)["ratings"]:
            stored = own.loc[row["agent"]]
            assert [row["low"], row["high"]] == pytest.approx(
                [stored["elo_low"], stored["elo_high"]], abs=1e-4
            )
    other = whole(capsys, run, "--seed", "9")["ratings"]
    assert other != whole(capsys, run)["ratings"]


def test_stopped_games_have_raw_intervals(tmp_path, capsys):
    text = (
        'game = "kalah(4,3)"\npairs = 60\nopenings = { random_plies = 4 }\n'
        "stop = { sprt = { elo0 = 0, elo1 = 100 } }\n"
        '[agents.deep]\nkind = "minimax"\ndepth = 3\n[agents.random]\nkind = "random"\n'
    )
    run_experiment_file(experiment_file(tmp_path, text), tmp_path / "results")
    run = only_run(tmp_path / "results")
    capsys.readouterr()
    assert main([str(run), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    own = pd.read_parquet(run / "elo.parquet").set_index("agent")
    for row in said["ratings"]:
        assert (row["interval"], row["why"]) == tuple(own.loc[row["agent"], ["interval", "why"]])
        assert row["low"] == pytest.approx(own.loc[row["agent"], "elo_low"], nan_ok=True)
    assert any("a stop rule ended these games" in note for note in said["notes"])


def test_game_with_two_results_is_reported(tmp_path, capsys):
    text = '[White "Ada"]\n[Black "Bo"]\n[Result "1-0"]\n\n1. e4 e5 2. d4 d5 1-0\n'
    files = [
        written(tmp_path, "a.pgn", text),
        written(tmp_path, "b.pgn", text.replace("1-0", "0-1")),
    ]
    assert main([*files, "--json"]) == 0
    (note,) = (n for n in json.loads(capsys.readouterr().out)["notes"] if "another result" in n)
    assert "1 game has the moves" in note
