"""The contract of figures, and the layout of matrices and charts."""

import json
import re
import shutil
import subprocess
import sys
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
from arena.report.figures.registry import (
    FIGURE_FORMATS,
    FIGURES,
    make_figures,
    write_figure,
    write_figures,
)
from arena.report.games import games_json
from arena.report.html import Html
from arena.report.palette import ramp_class
from arena.report.svg import FONT_SIZE, Scale, file_style, svg_file, text_width
from games.base.errors import UserError
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


@pytest.mark.parametrize("width", ["84mm", "180mm"])
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_in_a_file(of_all, name, width):
    style = file_style(width, "Some Font", 8)
    for made in of_all:
        if name not in made or made[name].picture is None:
            continue
        root = ElementTree.fromstring(svg_file(made[name].picture, "title", style))
        assert float(root.get("width").removesuffix("pt")) == pytest.approx(style.width, abs=0.01)
        assert root.get("font-family").startswith("'Some Font', ")
        ground = root.find(f"{SVG}rect")
        assert (ground.get("width"), ground.get("fill")) == ("100%", "#ffffff")
        space = float(root.get("viewBox").split()[2])
        # Text has 8 points, or little less where a matrix needs the space.
        points = FONT_SIZE * style.width / space
        assert (5.0 if name == "matrix" else 7.9) < points < 8.1
        for box, text in texts_with_widths(root, (0, space)):
            assert box[0] - 1 <= text[0] <= text[1] <= box[1] + 1, (name, width)


def texts_with_widths(element, box):
    """Yield each text from left to right with the box that it is in, in pixels."""
    for each in element:
        if each.tag == f"{SVG}svg":
            left = box[0] + position(each.get("x", "0"), box)
            inner = each.get("width")
            # The head of an arrow has no width.
            right = left if inner is None else left + position(inner, box)
            yield from texts_with_widths(each, (left, right))
        elif each.tag == f"{SVG}g":
            yield from texts_with_widths(each, box)
        elif each.tag == f"{SVG}text" and not each.get("transform"):
            wide = 0.8 * text_width("".join(each.itertext()))  # it estimates the widest font
            start = box[0] + position(each.get("x"), box)
            anchor = each.get("text-anchor", "start")
            start -= wide * {"start": 0, "middle": 0.5, "end": 1}[anchor]
            yield box, (start, start + wide)


def position(text, box):
    return float(text.rstrip("%")) * ((box[1] - box[0]) / 100 if text.endswith("%") else 1)


AXES = {
    "ratings": "Elo, with 95 % intervals",
    "first_move": "score of the first mover, in per cent",
    "margins": "Points between winner and loser",
    "matrix": "score of row against column, in per cent",
    "losses": "mean loss of a move",
    "thinking_time": "time for a move, on a logarithmic scale",
    "openings": "the first mover won both games",
}


@pytest.mark.parametrize("name", AXES)
def test_files_of_figures_have_titles_of_axes(reports, name):
    # In the other runs no agent searches, and moves take no time that is measured.
    figure = make_figures(reports["points" if name == "points" else "judged"])[name]
    if name == "thinking_time":
        timings = [row._replace(seconds=1.0) for row in reports["three"].timings]
        figure = make_figures(replace(reports["three"], timings=timings))[name]
    drawn = svg_file(figure.picture, figure.heading)
    shown = ["".join(each.itertext()) for each in ElementTree.fromstring(drawn).iter(f"{SVG}text")]
    assert text_width(AXES[name]) < 340  # of 372 in a column of 84 mm
    assert AXES[name] in [text.replace("\u00a0", " ") for text in shown]
    assert shown.count("games") == (2 if name == "margins" else 0)


def test_figures_are_written_in_all_formats(reports, tmp_path):
    style = file_style("84mm", font_size=8)
    files = write_figures(reports["three"], list(FIGURE_FORMATS), tmp_path, style)
    assert {file.suffix for file in files} == {".svg", ".png", ".pdf"}
    png = (tmp_path / "matrix.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    assert int.from_bytes(png[16:20]) == pytest.approx(84 / 25.4 * 300, abs=2)  # dots
    pdf = (tmp_path / "matrix.pdf").read_bytes()
    (size,) = re.findall(rb"/MediaBox ?\[0 0 ([0-9.]+) ([0-9.]+)\]", pdf)
    assert float(size[0]) == pytest.approx(style.width, abs=0.05)
    assert b"/FontFile" in pdf  # publishers want embedded fonts


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext is not installed")
def test_text_in_a_pdf_is_text(reports, tmp_path):
    write_figures(reports["three"], ["pdf"], tmp_path, file_style())
    line = ["pdftotext", "-layout", str(tmp_path / "ratings.pdf"), "-"]
    text = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    assert "Elo, with 95" in text
    assert all(name in text for name in reports["three"].agents)


def test_two_pdf_files_of_a_figure_are_equal(reports, tmp_path):
    drawn = svg_file(make_figures(reports["three"])["ratings"].picture, "t")
    one, two = (write_figure(drawn, tmp_path / f"{name}.pdf") for name in "ab")
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("84",), 'width must be a number with a unit (mm, cm, in, pt, px), got "84"'),
        (("1mm",), "width must be from 1in to 100in"),
        (("", "", 900.0), "the font size must be from 3 to 72 points, got 900"),
        (("", "", float("nan")), "the font size must be from 3 to 72 points"),
    ],
)
def test_a_wrong_style_of_files_is_refused(words, message):
    with pytest.raises(UserError, match=re.escape(message)):
        file_style(*words)


def test_a_pdf_without_its_package_names_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(UserError, match=re.escape('pip install "pitflip[pdf]"')):
        write_figure("<svg/>", tmp_path / "f.pdf")
    with pytest.raises(UserError, match=r"ending in \.svg, \.png, \.pdf, got \"f\.jpg\""):
        write_figure("<svg/>", tmp_path / "f.jpg")
    assert not list(tmp_path.iterdir())


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
    tells = [each for each in svg.iter(f"{SVG}text") if each.get("class") == "strong"]
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
