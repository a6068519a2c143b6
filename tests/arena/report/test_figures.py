"""The contract of figures, and the layout of matrices and charts."""

import json
from dataclasses import replace
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest

from arena.analysis.standings import PointsRow
from arena.report.answer import InseparableGroup
from arena.report.chart import ChartRow, RowChart, chart_picture
from arena.report.data import MoveLosses, ReportData, load_report
from arena.report.figure import section_html
from arena.report.figures import matrix
from arena.report.figures.ratings import lanes
from arena.report.figures.registry import FIGURES, make_figures, write_figures
from arena.report.games import games_json
from arena.report.html import Html
from arena.report.palette import ramp_class
from arena.report.svg import Scale, svg_file, text_width
from tests.arena.report.pages import RUNS

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def reports(finished_run) -> dict[str, ReportData]:
    found = {name: load_report(finished_run(name)) for name in RUNS}
    three = found["three"]
    return {**found, "judged": judged(three), "points": ranked_by_points(three)}


@pytest.fixture(scope="module")
def of_all(reports):
    return [make_figures(report) for report in reports.values()]


def test_a_large_matrix_shows_the_strongest_agents():
    many = SimpleNamespace(agents=tuple(f"a{number}" for number in range(matrix.MOST_SHOWN + 1)))
    assert matrix._top_agents(many) == many.agents[:-1]
    assert "the 60 strongest of 61 agents" in matrix._omission_note(many)
    assert matrix._omission_note(SimpleNamespace(agents=many.agents[1:])) is None


def ranked_by_points(report: ReportData) -> ReportData:
    rows = [
        PointsRow(row.rank, row.agent, row.points, row.games, 0.5, 1, 0, 1, 3, int(row.rank == 1))
        for row in report.ratings
    ]
    return replace(report, points=tuple(rows))


def judged(report: ReportData) -> ReportData:
    """Return a run whose last two moves of each game are judged; each third game lost a win."""
    lines = report.games.texts("moves", range(report.games.size))
    moves = [(row, ply, words) for row, line in enumerate(lines)
             for words in [line.split()] for ply in range(1, len(words) + 1)]  # fmt: skip
    known = np.array([ply > len(words) - 2 for _, ply, words in moves])
    lost = known & np.array([ply == len(words) and row % 3 == 0 for row, ply, words in moves])
    (games,) = report.games.chunks()
    movers = np.array([report.games.names[games.first[row]] for row, _, _ in moves])
    stage = {"first": 1, "last": 9, "judged": 24, "perfect": 12, "thrown_away": 12}
    blunder = {"game": 3, "ply": 7, "move": "1", "best": "2", "value": 2, "after": -2, "loss": 4}
    agents = [{"agent": name, "stages": [stage], "blunders": [blunder]} for name in report.agents]
    losses = MoveLosses(
        game=np.array([row for row, _, _ in moves]),
        ply=np.array([ply for _, ply, _ in moves]),
        mover=movers,
        opening=np.zeros(len(moves), np.bool_),
        left=np.full(len(moves), 5),
        after=np.where(known, 2.0 - 4.0 * lost, np.nan),
        loss=np.where(known, 4.0 * lost, np.nan),
        result_loss=np.where(known, 1.0 * lost, np.nan),
        best=np.array(["2"] * len(moves), object),
        known=known,
        judgement={"judged_to": 9, "agents": agents},
    )
    return replace(report, losses=losses)


@pytest.mark.parametrize("name", FIGURES)
def test_the_contract_of_a_figure(of_all, name):
    found = [made[name] for made in of_all if name in made]
    assert found
    for figure in found:
        section = ElementTree.fromstring(f"<x>{section_html(figure, name)}</x>")
        assert section.find("section/h2").text == figure.heading
        assert section.find("section/p") is not None
        if figure.picture is not None:
            assert figure.table is not None
            assert section.find(".//table") is not None
            root = ElementTree.fromstring(svg_file(figure.picture, figure.heading))
            assert root.find(f"{SVG}title").text == figure.heading
            assert "var(" not in root.find(f"{SVG}style").text
        for drawn in section.iter("svg"):
            assert drawn.get("aria-hidden") == "true" or drawn.get("aria-label") or drawn.get("y")


def test_mean_losses_have_intervals(reports):
    report = reports["judged"]
    assert "losses" not in make_figures(reports["three"])
    rows = make_figures(report)["losses"].table.rows
    for row in rows:
        low, high = map(float, row[5].split(" to "))
        assert low < float(row[4]) < high
    values = json.loads(games_json(report))["values"]
    assert [len(each) for each in values.values()] == [
        plies for piece in report.games.chunks() for plies in piece.plies.tolist()
    ]
    assert values["0"][-2:] == [[2], [-2, 4, 1, "2"]]
    assert values["0"][0] is None


def test_figures_are_written_as_svg_and_png(reports, tmp_path):
    files = write_figures(reports["three"], tmp_path)
    assert {file.suffix for file in files} == {".svg", ".png"}
    assert all(file.stat().st_size > 500 for file in files)
    assert (tmp_path / "matrix.png").read_bytes().startswith(b"\x89PNG")


LONG = ("Wilhelmina Featherstonehaugh", "bot", "MMMMMMMMMMMMMMMMMMMM", "a_search_of_depth_6_by_lot")


def numbers(element, *names):
    return [float(element.get(name)) for name in names]


@pytest.mark.parametrize("agents", [3, 6, 12, 24, 30, 42, 60])
def test_a_matrix_with_long_names_does_not_overlap(reports, agents):
    names = tuple(f"{LONG[at % 4]}_{at + 1}" for at in range(agents))
    row = next(iter(reports["three"].pairs.values()))._replace(
        score=0.6, score_low=0.4, score_high=0.8
    )
    pairs = {(a, b): row._replace(agent=a, opponent=b) for a in names for b in names if a != b}
    report = SimpleNamespace(agents=names, pairs=pairs, has_intervals=True)
    picture = matrix._picture(report)
    svg = ElementTree.fromstring(svg_file(picture, "m"))
    boxes = sorted(numbers(box, "x", "y", "width", "height") for box in svg.iter(f"{SVG}rect")
                   if box.get("class"))  # fmt: skip
    assert len(boxes) == agents * (agents - 1)
    heads = [each for each in svg.iter(f"{SVG}text") if each.get("class") == "small"]
    tells = [each for each in svg.iter(f"{SVG}text") if each.get("class") == "strong"][1:]
    # Names end before the cells, heads do not touch, and all cells are inside.
    assert max(text_width(each.text) for each in tells) <= boxes[0][0]
    places = [numbers(each, "x")[0] for each in heads]
    widths = [text_width(each.text, 11) for each in heads]
    apart = np.diff(places) - (np.array(widths[1:]) + np.array(widths[:-1])) / 2
    assert (apart >= 0).all()
    assert boxes[-1][0] + boxes[-1][2] <= picture.width
    # Only boxes have borders: a border of the group would also be drawn on letters.
    assert {box.get("class") for box in svg.iter(f"{SVG}rect")} == {None, "open"}
    assert {group.get("class") for group in svg.iter(f"{SVG}g")} == {None}
    numbered = [each for each in svg.iter(f"{SVG}text") if each.get("class") == "cell"]
    assert len(numbered) == len(boxes)  # whole per cent in the smallest cells
    assert all(text_width(each.text) <= boxes[0][2] + 2 for each in numbered)


@pytest.mark.parametrize(("agents", "coloured"), [(12, False), (30, True)])
def test_small_cells_without_intervals_have_the_colour_of_the_score(reports, agents, coloured):
    names = tuple(f"bot_{at}" for at in range(agents))
    counts = dict.fromkeys(("first_draws", "second_draws", "first_losses", "second_losses"), 0)
    row = next(iter(reports["three"].pairs.values()))._replace(
        games=4, first_wins=2, second_wins=2, score_low=None, score_high=None, **counts
    )
    pairs = {(a, b): row._replace(agent=a, opponent=b) for a in names for b in names if a != b}
    report = SimpleNamespace(
        agents=names, pairs=pairs, has_intervals=False, has_two_agents=False, matches=list,
        ratings=reports["three"].ratings,
    )  # fmt: skip
    made = matrix.matrix_figure(report)
    best = ramp_class(1.0)
    assert (f'class="{best}"' in made.picture.marks) == coloured
    assert (f'<td class="{best}"' in made.body) == coloured
    assert ("not how certain" in made.lead) == coloured


def test_names_and_ticks_of_a_chart_do_not_overlap():
    rows = [ChartRow(f"{name}_{at}", Html(""), ("+1",)) for at, name in enumerate(LONG)]
    ticks = [(tick, f"{tick:+}") for tick in range(-150, 300, 50)]
    chart = RowChart("c", Scale(-200, 300), ticks, rows, ("agent", "Elo", "95 %"), lanes=6)
    svg = ElementTree.fromstring(svg_file(chart_picture(chart), "c"))
    tells = [each for each in svg.iter(f"{SVG}text") if each.get("class") == "strong"]
    assert all(text_width(each.text) <= 180 for each in tells if each.get("x") == "0")
    strip = next(each for each in svg.iter(f"{SVG}svg") if each.get("height") == "20")
    width = float(strip.get("width"))
    texts = list(strip.iter(f"{SVG}text"))
    places = [float(each.get("x").rstrip("%")) / 100 * width for each in texts]
    assert "+0" in {each.text for each in texts}
    assert (np.diff(places) >= max(text_width(each.text) for each in texts)).all()


def test_brackets_do_not_overlap():
    assert lanes([InseparableGroup(0, 2), InseparableGroup(1, 3), InseparableGroup(4, 5)]) == [
        0,
        1,
        0,
    ]


def test_margins_leave_out_forfeits(reports):
    report = reports["faults"]
    forfeits = sum(row.forfeits for row in report.ratings)
    assert forfeits
    assert f"{forfeits:,} forfeited game" in make_figures(report)["margins"].lead
    assert "forfeited" not in make_figures(reports["two"])["margins"].lead
