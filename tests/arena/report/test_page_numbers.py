"""Every number of a page is the number of its table."""

import base64
import hashlib
import re
from functools import cache

import pandas as pd
import pytest

from tests.arena.report.pages import RUNS, Page, number, numbers


@pytest.fixture(scope="module", params=RUNS)
def run(request, finished_run):
    return finished_run(request.param)


@pytest.fixture(scope="module")
def page(run):
    return Page((run / "report.html").read_text())


@cache
def table_of(run, name):
    return pd.read_parquet(run / f"{name}.parquet")


def fair_pairs(games):
    fair = games["termination"].isin(["normal", "too_long", "resigned"])
    return fair.groupby(games["pair"]).transform("all")


def near(shown: float | None, stored: float, unit: float) -> bool:
    """Return whether a printed number is the stored one, rounded to this unit either way."""
    return shown is not None and abs(shown - stored) <= unit + 1e-6


def test_the_page_is_one_file_with_the_hashes_in_its_policy(page):
    assert page.open == []
    assert page.text.count("<script") == 2
    assert not re.search(r"(src|href)=\"?(https?:)?//", page.text)
    assert not [tag for tag, found in page.tags if any(each.startswith("on") for each in found)]
    assert not [tag for tag, found in page.tags if "style" in found]
    (policy,) = (f["content"] for t, f in page.tags if f.get("http-equiv"))
    assert "unsafe" not in policy
    for kind in ("style", "script"):
        text = re.search(rf"<{kind}>(.*?)</{kind}>", page.text, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_the_page_defines_its_statistical_words(page):
    (body,) = re.findall(r'<section id="words".*?</section>', page.text, re.DOTALL)
    defined = set(re.findall(r"<dt>(.*?)</dt>", body.replace("<code>", "").replace("</code>", "")))
    assert {"Elo", "interval", "duplicate game", "effective sample size (n_eff)"} <= defined
    assert {"K", "first mover", "openings like these", "exactly these openings"} <= defined
    assert page.text.count('href="#words"') >= 1  # the menu; tables link to it, too


def test_ratings_are_those_of_the_table(run, page):
    if "ratings" not in page.tables:
        assert len(table_of(run, "elo")) == 2
        return
    elo = table_of(run, "elo").set_index("agent")
    rows = page.tables["ratings"][-1].rows
    timed = page.tables["thinking_time"]
    speeds = {row[0]: (row[3], row[5]) for row in timed[-1].rows} if timed else {}
    assert {row[0] for row in rows[1:]} == set(elo.index)
    for name, *cells in rows[1:]:
        row, told = elo.loc[name], dict(zip(rows[0][1:], cells, strict=True))
        assert number(told.pop("place")) == row["rank"]
        for head, column in (("Elo", "elo"), ("from", "elo_low"), ("to", "elo_high")):
            if head in told:
                known, cell = row[column], told.pop(head)
                assert near(number(cell), known, 0.05) if pd.notna(known) else cell == ""
        if "share" in told:
            assert near(number(told.pop("share")), 100 * row["points"] / row["games"], 0.05)
        measured = told.pop("a move*"), told.pop("positions a second*")
        assert measured == speeds.get(name, ("\u2013", "\u2013"))
        for column, cell in told.items():
            assert near(number(cell), row[column], 0.5 if column == "n_eff" else 0)


def test_the_matrix_is_that_of_the_table(run, page):
    rates = table_of(run, "win_rates").set_index(["agent", "opponent"])
    if "matrix" not in page.tables:
        assert len(rates) == 2
        return
    table, *details = page.tables["matrix"]
    if details:
        for row in details[0].rows[1:]:
            told, stored = (
                dict(zip(details[0].rows[0], row, strict=True)),
                rates.loc[row[0], row[1]],
            )
            for head, name in (("95 % interval", "score"), ("for all", "simultaneous")):
                cell = next(each for key, each in told.items() if head in key.replace("\xa0", " "))
                ends = [stored[f"{name}_low"], stored[f"{name}_high"]]
                known = [100 * end for end in ends if pd.notna(end)]
                assert len(known) == len(numbers(cell.replace("%", "")))
                assert all(near(*each, 0.1) for each in zip(numbers(cell), known, strict=False))
    names = [re.sub(r"^\d+", "", row[0]) for row in table.rows[1:]]
    seen = 0
    for name, row in zip(names, table.rows[1:], strict=True):
        for other, cell in zip(names, row[1:], strict=True):
            if (name, other) not in rates.index:
                assert cell == ""
                continue
            stored, seen = rates.loc[name, other], seen + 1
            if "|" not in cell:
                results = [
                    stored[f"first_{what}"] + stored[f"second_{what}"]
                    for what in ("wins", "draws", "losses")
                ]
                assert [int(each) for each in cell.split("-")] == results
                continue
            score, _, ends = cell.partition("|")
            assert near(number(score), 100 * stored["score"], 0.05)
            low, high = stored["score_low"], stored["score_high"]
            known = [100 * end for end in (low, high) if pd.notna(end)]
            assert all(near(*each, 1) for each in zip(numbers(ends), known, strict=True))
    assert seen == len(rates)


def test_the_match_is_that_of_the_table(run, page):
    if "match" not in page.tables:
        assert len(table_of(run, "elo")) > 2
        return
    top = table_of(run, "elo").iloc[0]["agent"]
    row = table_of(run, "win_rates").set_index("agent").loc[top]
    shown = [number(cells[-1]) for cells in page.tables["match"][-1].rows[1:]]
    columns = ["pairs_ww", "pairs_wd", "pairs_even", "pairs_ld", "pairs_ll"]
    assert shown == [row[column] for column in columns]
    seats = re.search(r"As first mover ([\d-]+), as second ([\d-]+)", page.words["match"])
    for seat, results in zip(("first", "second"), seats.groups(), strict=True):
        stored = [row[f"{seat}_{what}"] for what in ("wins", "draws", "losses")]
        assert [int(each) for each in results.split("-")] == stored


def test_first_movers_are_those_of_the_table(run, page):
    rates = table_of(run, "win_rates").set_index(["agent", "opponent"])
    games = table_of(run, "games")
    games = games[fair_pairs(games)]
    plies = games["opening_moves"].str.split().str.len().max()
    start = f"to move after {plies} opening plies" if plies else "games began from the start"
    assert f"The first mover ({start}) scored" in page.words["first_move"]
    found = numbers(page.words["first_move"].split("scored")[1])
    assert near(found[0], 100 * of_first_mover(games[~games["repeat"]]).mean(), 0.05)
    rows = page.tables["first_move"][0].rows if page.tables["first_move"] else []
    if rows and "distinct games" in rows[0]:  # there are no intervals
        for row in rows[1:]:
            stored = rates.loc[row[0], row[1]]
            assert near(number(row[3]), 100 * stored["first_mover_score"], 0.05)
            assert near(number(row[4]), stored["first_mover_margin"], 0.05)
        return
    for row in rows[2:]:
        stored = rates.loc[row[0], row[1]]
        assert near(number(row[2]), 100 * stored["first_mover_score"], 0.05)
        ends = [stored["first_mover_score_low"], stored["first_mover_score_high"]]
        known = [100 * end for end in ends if pd.notna(end)]
        assert all(near(*each, 0.1) for each in zip(numbers(row[3]), known, strict=True))
        assert number(row[4]) == stored["openings"]


def of_first_mover(games):
    return games["result"].where(games["first_mover"] == games["first"], 1 - games["result"])


def test_openings_are_those_of_the_games(run, page):
    games = table_of(run, "games")
    games = games[fair_pairs(games)]
    for table in page.tables["openings"]:
        top = table_of(run, "elo").iloc[0]["agent"]
        for opening, moves, score, decided, *scored, count in table.rows[1:]:
            own = games[games["opening"] == int(opening)]
            assert own["opening_moves"].iloc[0] == moves
            assert near(number(score), 100 * of_first_mover(own).mean(), 0.05)
            pairs = own.groupby("pair")["result"].mean()  # 0 or 1: one side won both games
            assert numbers(decided) == [pairs.isin([0.0, 1.0]).sum(), len(pairs)]
            assert number(count) == len(own)
            seen = own["result"].where(own["first"] == top, 1 - own["result"])
            assert all(near(number(each), 100 * seen.mean(), 0.05) for each in scored)


def test_margins_and_lengths_are_those_of_the_games(run, page):
    games = table_of(run, "games")
    played = games[(games["termination"] == "normal") | (games["result"] == 0.5)]
    top = table_of(run, "elo").iloc[0]["agent"]
    two = len(table_of(run, "elo")) == 2
    seen = played["margin"].where(played["first"] == top, -played["margin"])
    columns = {"margin": seen if two else played["margin"].abs(), "plies": played["plies"]}
    for what, span, count in page.tables["margins"][0].rows[1:]:
        low, *more = numbers(span)
        assert number(count) == columns[what].between(low, (more or [low])[-1]).sum()
    shown = [(row[0], number(row[2])) for row in page.tables["margins"][0].rows[1:]]
    for what in columns:
        assert sum(count for each, count in shown if each == what) == len(played)


def test_forfeits_are_those_of_the_games(run, page):
    games = table_of(run, "games")
    faulty = games[(games["termination"] != "normal") & (games["result"] != 0.5)]
    if not len(faulty):
        assert not page.tables["forfeits"]
        return
    loser = faulty["first"].astype(str).where(faulty["result"] == 0, faulty["second"].astype(str))
    counts = faulty.groupby([loser, faulty["termination"].astype(str)]).size()
    shown = {(row[0], row[2]): number(row[3]) for row in page.tables["forfeits"][0].rows[1:]}
    assert shown == counts.to_dict()
    for row in page.tables["forfeits"][0].rows[1:]:
        own = ((games["first"] == row[0]) | (games["second"] == row[0])).sum()
        assert near(number(row[4]), 100 * number(row[3]) / own, 0.05)


def test_thinking_times_are_those_of_the_table(run, page):
    sums = table_of(run, "timings").groupby("agent")[["moves", "seconds", "nodes"]].sum()
    if not page.tables["thinking_time"]:
        assert not sums["seconds"].any()
        return
    for name, moves, seconds, _, nodes, _ in page.tables["thinking_time"][-1].rows[1:]:
        row = sums.loc[name]
        assert (number(moves), number(nodes)) == (row["moves"], row["nodes"])
        assert float(seconds) == pytest.approx(row["seconds"], rel=6e-3)


def test_the_listed_games_are_those_of_the_table(run, page):
    games, data = table_of(run, "games"), page.data
    assert data["total"] == len(games)
    assert data["n"] == games["game"].tolist()
    names, ends = data["agents"], data["endings"]
    assert [names[place] for place in data["f"]] == games["first"].tolist()
    assert [names[place] for place in data["s"]] == games["second"].tolist()
    assert [ends[place] for place in data["e"]] == games["termination"].tolist()
    assert [result / 2 for result in data["r"]] == games["result"].tolist()
    assert data["m"] == games["margin"].tolist()
    assert data["p"] == games["plies"].tolist()
    assert data["moves"] == games["moves"].tolist()
    openings = [data["openings"][str(place)] for place in data["o"]]
    assert openings == games["opening_moves"].tolist()


def test_the_facts_are_those_of_the_run(run, page):
    games = table_of(run, "games")
    assert f"games{len(games):,}" in page.words["header"]
    assert f"openings (K){games['opening'].nunique():,}" in page.words["header"]
    assert f"agents{len(table_of(run, 'elo'))}" in page.words["header"]


def test_the_headline_quotes_the_table(run, page):
    elo, rates = table_of(run, "elo"), table_of(run, "win_rates").set_index(["agent", "opponent"])
    (headline,) = re.findall(r'class="answer">(.*?)</p>', page.text)
    names = elo["agent"].tolist()
    assert any(name in headline for name in names) or re.search(r"games|won", headline)
    if " against " in headline:
        row = rates.loc[names[0], names[1]]
        assert near(number(headline.partition(":")[2]), 100 * row["score"], 0.05)
    if "games, " in headline:
        row = rates.loc["greedy", "random"]
        assert numbers(headline)[:2] == [row["first_wins"] + row["second_wins"], row["games"]]
