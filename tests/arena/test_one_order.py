"""Places and points: one definition in tables, page, exports, terminal and bot reports."""

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from games.base.errors import OK
from pitflip.stored_run import load as load_run
from tests.arena.running import only_run
from tests.commands import export, report, run

# Deterministic agents repeat games, so the games that count differ from those that are played;
# the ratings and the points order these agents differently.
CLASS = """
game = "kalah(4,3)"
pairs = {pairs}
openings = {{ random_plies = {plies}, repeat = true }}
seed = 3
{more}
[agents.random]
kind = "random"
[agents.first]
kind = "first"
[agents.greedy]
kind = "greedy"
[agents.deep]
kind = "minimax"
depth = 2
[agents.raises]
kind = "python"
file = "raises.py"
"""
RAISES = (
    "def choose(view, legal, rng):\n"
    "    if len(legal) == 1:\n        raise ValueError('no')\n    return legal[-1]\n"
)
BY_POINTS = 'standings = "points"'
KINDS = {"by points": (20, 4, BY_POINTS), "few openings": (8, 1, ""), "by rating": (20, 4, "")}


def finished(directory: Path, pairs: int, plies: int, more: str) -> Path:
    """A run of the class; its directory."""
    (directory / "raises.py").write_text(RAISES)
    path = directory / "class.toml"
    path.write_text(CLASS.format(pairs=pairs, plies=plies, more=more))
    words = ["--results", str(directory), "--workers", "1", "--json", "--quiet"]
    assert run([str(path), *words]) == OK
    return only_run(directory)


def counted_by_hand(directory: Path) -> dict[str, tuple[float, int]]:
    """Points and games of each agent, from all games."""
    games = pd.read_parquet(directory / "games.parquet")
    sides = pd.concat([
        pd.DataFrame({"agent": games["first"].astype(str), "points": games.result}),
        pd.DataFrame({"agent": games["second"].astype(str), "points": 1 - games.result}),
    ])  # fmt: skip
    summed = sides.groupby("agent").points.agg(["sum", "count"])
    return {str(agent): (float(row["sum"]), int(row["count"])) for agent, row in summed.iterrows()}


@pytest.mark.parametrize("kind", KINDS)
def test_each_place_and_each_number_of_points_is_the_same_everywhere(tmp_path, capsys, kind):
    directory = finished(tmp_path, *KINDS[kind])
    told = json.loads(capsys.readouterr().out)
    by_hand = counted_by_hand(directory)
    table = pd.read_parquet(directory / "elo.parquet")
    assert {row.agent: (row.points, row.games) for row in table.itertuples()} == by_hand
    places = dict(zip(table.agent, table["rank"], strict=True))
    order = [*table.agent]
    assert [row["agent"] for row in told["elo"]] == order
    if kind != "by rating":
        shares = [by_hand[agent][0] / by_hand[agent][1] for agent in order]
        assert shares == sorted(shares, reverse=True)

    words = ["--results", str(tmp_path), "--workers", "1", "--quiet"]
    assert run([str(tmp_path / "class.toml"), *words]) == OK  # what was played is known
    shown = capsys.readouterr().out
    printed = re.findall(r"^ +(\d+) +(?:\d +)?(\w+) .* ([\d.]+)/(\d+) ", shown, re.MULTILINE)
    answer = shown.splitlines()[-1]
    assert re.findall(r"\w+", answer)[0] == order[0]
    assert all(name in answer for name in order if kind == "by points" and places[name] == 1)
    assert [agent for _, agent, _, _ in printed] == order
    for place, agent, points, games in printed:
        assert (int(place), (float(points), int(games))) == (places[agent], by_hand[agent])

    assert report([str(directory), "--bots"]) == OK
    for page in (directory / "bot-reports").iterdir():
        found = re.search(r"<bdi>(\w+)</bdi></h1><p[^>]*>Place (\d+) of 5</p>"
                          r"<p[^>]*>([\d.]+) points of (\d+) games ", page.read_text())  # fmt: skip
        assert found is not None
        agent, place, points, games = found.groups()
        assert (int(place), (float(points), int(games))) == (places[agent], by_hand[agent])

    assert export([str(directory), "--tables", "csv", "--tables", "markdown"]) == OK
    exported = directory / "export"
    with (exported / "elo.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["agent"]: int(row["rank"]) for row in rows} == places
    assert {row["agent"]: float(row["points"]) for row in rows} == {
        agent: points for agent, (points, _) in by_hand.items()
    }
    shown = ["ratings", *(["points"] if kind == "by points" else [])]
    for name in shown:
        head, _, *cells = (
            [cell.strip() for cell in line.strip("| ").split(" | ")]
            for line in (exported / f"{name}.md").read_text().splitlines()[2:]
        )
        found = [dict(zip(head, each, strict=True)) for each in cells]
        assert [row["agent"] for row in found] == order
        assert {row["agent"]: int(row["place"]) for row in found} == places
        assert {row["agent"]: (float(row["points"]), int(row["games"])) for row in found} == by_hand


def test_the_page_and_the_exports_hold_the_table_that_ranks(tmp_path, capsys):
    directory = finished(tmp_path, *KINDS["by points"])
    table = pd.read_parquet(directory / "points.parquet")
    assert (table.points == table.won + table.drawn / 2).all()
    loaded = load_run(directory)
    first = table.agent[0]
    assert loaded.answer.startswith(f"\u2068{first}\u2069") or first in loaded.answer
    page = (directory / "report.html").read_text()
    (section,) = re.findall(r'<section id="points".*?</section>', page, re.DOTALL)
    assert re.findall(r"<bdi>(\w+)</bdi>", section)[1:] == [*table.agent]
    assert export([str(directory), "--tables", "csv", "--tables", "latex"]) == OK
    rows = pd.read_csv(directory / "export" / "points.csv")
    assert [*rows.agent] == [*table.agent] and (rows.points == table.points).all()
    assert (directory / "export" / "points.tex").exists()
    capsys.readouterr()


def test_a_run_that_ranks_by_ratings_exports_no_table_of_points(tmp_path, capsys):
    directory = finished(tmp_path, *KINDS["by rating"])
    assert export([str(directory), "--tables", "csv"]) == OK
    assert not (directory / "export" / "points.csv").exists()
    assert 'id="points"' not in (directory / "report.html").read_text()
    capsys.readouterr()


def test_the_answer_by_points_names_the_agents_with_as_many(tmp_path):
    from arena.report.answer import answer_line  # noqa: PLC0415
    from arena.report.data import load_report  # noqa: PLC0415

    report = load_report(finished(tmp_path, *KINDS["by points"]))
    first, second, *rest = report.ratings
    second = second._replace(points=first.points, games=first.games, rank=2)
    level = replace(report, ratings=(first, second, *rest))
    line = answer_line(level)
    assert first.agent in line and f"level with {second.agent}" in line
