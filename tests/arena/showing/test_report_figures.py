"""The contract of figures: whatever the run, a picture is whole and has its numbers behind it."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest

from arena.analysis.standings import PointsRow
from arena.report.answer import make_answer, round_openings
from arena.report.checks import checks_html
from arena.report.data import MoveLosses, ReportData, load_report
from arena.report.figure import section_html
from arena.report.figures import matrix
from arena.report.figures.registry import FIGURES, make_figures, write_figures
from arena.report.games import games_json
from arena.report.html import Html
from arena.report.numbers import cell_ends, score_of
from arena.report.palette import step_of
from arena.report.row_chart import ChartRow, RowChart, chart_picture
from arena.report.svg import Scale, svg_file, text_width
from arena.report.unsettled import UnsettledGroup, lanes, unsettled_groups
from tests.arena.showing.pages import RUNS

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def reports(finished_run) -> dict[str, ReportData]:
    """The reports of all small runs."""
    found = {name: load_report(finished_run(name)) for name in RUNS}
    three = found["three"]
    return {**found, "judged": judged(three), "points": ranked_by_points(three)}


@pytest.fixture(scope="module")
def of_all(reports):
    """The figures of each of them."""
    return [make_figures(report) for report in reports.values()]


def test_a_page_of_very_many_agents_shows_the_strongest_and_says_so():
    many = SimpleNamespace(agents=tuple(f"a{number}" for number in range(matrix.MOST_SHOWN + 1)))
    assert matrix._shown(many) == many.agents[:-1]
    assert "the 60 strongest of 61 agents" in matrix._left_out(many)
    assert matrix._left_out(SimpleNamespace(agents=many.agents[1:])) is None


def ranked_by_points(report: ReportData) -> ReportData:
    """The same games, ranked by points."""
    rows = [
        PointsRow(row.rank, row.agent, row.points, row.games, 0.5, 1, 0, 1, 3, int(row.rank == 1))
        for row in report.ratings
    ]
    return replace(report, points=tuple(rows))


def judged(report: ReportData) -> ReportData:
    """A run of which the last two moves of every game are judged: each second one lost a win."""
    lines = report.games.texts("moves", range(report.games.size))
    moves = [(row, ply, words) for row, line in enumerate(lines)
             for words in [line.split()] for ply in range(1, len(words) + 1)]  # fmt: skip
    known = np.array([ply > len(words) - 2 for _, ply, words in moves])
    lost = known & np.array([ply == len(words) and row % 3 == 0 for row, ply, words in moves])
    (games,) = report.games.pieces()
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
def test_a_figure_is_a_heading_a_sentence_a_whole_picture_and_its_numbers(of_all, name):
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


def test_losses_of_moves_are_means_with_their_intervals(reports):
    report = reports["judged"]
    assert "losses" not in make_figures(reports["three"])
    rows = make_figures(report)["losses"].table.rows
    for row in rows:
        low, high = map(float, row[5].split(" to "))
        assert low < float(row[4]) < high
    values = json.loads(games_json(report))["values"]
    assert [len(each) for each in values.values()] == [
        plies for piece in report.games.pieces() for plies in piece.plies.tolist()
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
    """Attributes of an element as numbers."""
    return [float(element.get(name)) for name in names]


@pytest.mark.parametrize("agents", [3, 6, 12, 24, 30, 42, 60])
def test_a_matrix_of_many_agents_with_long_names_has_room_for_all(reports, agents):
    names = tuple(f"{LONG[at % 4]}_{at + 1}" for at in range(agents))
    row = next(iter(reports["three"].pairs.values()))._replace(
        score=0.6, score_low=0.4, score_high=0.8
    )
    pairs = {(a, b): row._replace(agent=a, opponent=b) for a in names for b in names if a != b}
    report = SimpleNamespace(agents=names, pairs=pairs, measured=True)
    picture = matrix._picture(report)
    svg = ElementTree.fromstring(svg_file(picture, "m"))
    boxes = sorted(numbers(box, "x", "y", "width", "height") for box in svg.iter(f"{SVG}rect")
                   if box.get("class"))  # fmt: skip
    assert len(boxes) == agents * (agents - 1)
    heads = [each for each in svg.iter(f"{SVG}text") if each.get("class") == "small"]
    tells = [each for each in svg.iter(f"{SVG}text") if each.get("class") == "strong"][1:]
    # Names end before the cells, columns' heads do not touch, nothing lies outside.
    assert max(text_width(each.text) for each in tells) <= boxes[0][0]
    places = [numbers(each, "x")[0] for each in heads]
    widths = [text_width(each.text, 11) for each in heads]
    apart = np.diff(places) - (np.array(widths[1:]) + np.array(widths[:-1])) / 2
    assert (apart >= 0).all()
    assert boxes[-1][0] + boxes[-1][2] <= picture.width
    # A border is that of the box alone: letters would be struck through by it.
    assert {box.get("class") for box in svg.iter(f"{SVG}rect")} == {None, "open"}
    assert {group.get("class") for group in svg.iter(f"{SVG}g")} == {None}
    numbered = [each for each in svg.iter(f"{SVG}text") if each.get("class") == "cell"]
    assert len(numbered) == len(boxes)  # whole per cent in the smallest cells
    assert all(text_width(each.text) <= boxes[0][2] + 2 for each in numbered)


@pytest.mark.parametrize(("agents", "coloured"), [(12, False), (30, True)])
def test_small_cells_are_coloured_by_score_where_nothing_can_be_inferred(reports, agents, coloured):
    names = tuple(f"bot_{at}" for at in range(agents))
    counts = dict.fromkeys(("first_draws", "second_draws", "first_losses", "second_losses"), 0)
    row = next(iter(reports["three"].pairs.values()))._replace(
        games=4, first_wins=2, second_wins=2, score_low=None, score_high=None, **counts
    )
    pairs = {(a, b): row._replace(agent=a, opponent=b) for a in names for b in names if a != b}
    report = SimpleNamespace(
        agents=names, pairs=pairs, measured=False, two=False, met=list,
        ratings=reports["three"].ratings,
    )  # fmt: skip
    made = matrix.figure(report)
    best = step_of(1.0)
    assert (f'class="{best}"' in made.picture.marks) == coloured
    assert (f'<td class="{best}"' in made.body) == coloured
    assert ("not how sure" in made.lead) == coloured


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


# ------------------------------------------------------------------------- in words


def changed(report: ReportData, **values) -> ReportData:
    """A run of two agents with other numbers in its table."""
    pairs = dict(report.pairs)
    for pair, row in pairs.items():
        own = values if pair[0] == report.agents[0] else {}
        pairs[pair] = row._replace(**own)
    return replace(report, pairs=pairs, summary={**report.summary, "checks": []})


@pytest.mark.parametrize(
    ("values", "headline", "sure"),
    [
        (
            {"score": 0.738, "score_low": 0.676, "score_high": 0.799, "elo": 180.0,
             "elo_low": 128.0, "elo_high": 239.0},
            "greedy is stronger: 73.8 % [67.6, 79.9], +180 Elo.",
            "The interval holds with 95\u00a0% confidence: +128 to +239 Elo.",
        ),
        (
            {"score": 0.52, "score_low": 0.48, "score_high": 0.56, "openings": 100, "elo": 14.0,
             "elo_low": -14.0, "elo_high": 42.0},
            "greedy or random: these games do not tell them apart; greedy scored 52.0 % [48.0, "
            "56.0], +14 Elo.",
            "About 400 openings would show a difference of that size.",
        ),
        (
            {"score": 0.9995, "score_low": 0.993, "score_high": None, "elo_low": 860.4,
             "elo_high": None, "elo": None},
            "greedy is stronger: 99.95 %, > +860 Elo (95 %).",
            "More than 99.3\u00a0%, with 95\u00a0% confidence: more than +860 Elo. There is no "
            "upper bound.",
        ),
    ],
)  # fmt: skip
def test_the_answer_of_a_match_is_no_rounder_than_its_interval(reports, values, headline, sure):
    answer = make_answer(changed(reports["two"], **values))
    assert answer.headline == headline
    assert re.sub("<[^>]+>", "", answer.sure) == sure


def test_the_answers_of_all_runs_say_what_kind_of_answer_they_are(reports):
    heads = {name: make_answer(reports[name]) for name in RUNS}
    assert re.match("(Yes|No): greedy won [0-9]+ of 40 games", heads["two"].headline)
    assert re.search("standing, not a measurement", heads["one_opening"].sure)
    assert re.match("(Yes|No): after [0-9]+ games the test chose", heads["tested"].headline)
    assert "corrected for stopping" in heads["tested"].sure
    assert re.search("forfeited [0-9]+ of its 48 games", heads["faults"].sure)
    assert heads["three"].question == "Which of 3 agents is strongest at kalah(4,3)?"


def test_a_failed_bound_is_refuted_or_only_not_shown(reports):
    report = reports["three"]
    holds, fails, _ = report.checks
    assert f"{holds['status'].upper()}<" in checks_html(replace_checks(report, [holds]))
    row = report.pairs["greedy", "random"]
    found = {**fails["measured"], "wanted": 0.99, "score": 0.7, "bound": 0.55, "openings": 100}
    fails = {**fails, "status": "fails", "measured": found}
    words = checks_html(replace_checks(report, [fails]))
    assert ("Refuted: found" in words) == (row.elo_high is not None and row.elo_high < 798)
    found = {**found, "wanted": 0.6}
    words = checks_html(replace_checks(report, [{**fails, "measured": found}]))
    assert re.search("Not shown, not refuted: found .147, but 95\u00a0% sure of .35 only", words)
    assert re.search("about [0-9]+ openings would show it", words)


def replace_checks(report: ReportData, checks: list[dict]) -> ReportData:
    """The same run with other checks."""
    return replace(report, summary={**report.summary, "checks": checks})


def test_many_checks_show_failing_ones_first_and_fold_the_rest(reports):
    holds = {**reports["three"].checks[0], "status": "holds"}
    fails = {**holds, "status": "fails"}
    words = checks_html(replace_checks(reports["three"], [holds] * 12 + [fails]))
    assert words.index("FAILS") < words.index("HOLDS")
    assert "8 more hold" in words


def test_openings_needed_are_rounded_up_and_nobody_waits_for_ever():
    assert round_openings(2562.3) == 2600
    assert round_openings(7.2) == 8
    assert round_openings(100_001) is None


def test_brackets_join_neighbours_that_no_match_tells_apart():
    assert lanes([UnsettledGroup(0, 2), UnsettledGroup(1, 3), UnsettledGroup(4, 5)]) == [0, 1, 0]


def test_agents_that_one_match_tells_apart_share_no_bracket(reports):
    report = reports["three"]
    even = {"score_low": 0.4, "score": 0.5, "score_high": 0.6, "interval": "fixed-n"}
    pairs = {pair: row._replace(**even) for pair, row in report.pairs.items()}
    assert unsettled_groups(replace(report, pairs=pairs)) == [UnsettledGroup(0, 2)]
    top, _, last = report.agents
    pairs[last, top] = pairs[last, top]._replace(score_high=0.45)
    assert unsettled_groups(replace(report, pairs=pairs)) == [
        UnsettledGroup(0, 1),
        UnsettledGroup(1, 2),
    ]


def test_a_page_of_few_openings_has_the_intervals_that_the_tables_have(reports):
    few = {**reports["three"].summary, "openings": 6}
    unrated = tuple(
        row._replace(elo_low=None, elo_high=None, interval="none", why="no interval below 10")
        for row in reports["three"].ratings
    )
    report = replace(reports["three"], summary=few)
    assert not report.standing  # its ratings have intervals
    report = replace(report, ratings=unrated)
    assert report.standing
    row = report.met()[0]
    assert score_of(row).bounded
    words = matrix.figure(report)
    assert f'data-a="{row.agent}"' in words.body
    assert cell_ends(score_of(row)) in words.body
    assert "nothing can be inferred" not in words.lead
    assert "not a measurement" not in make_answer(report).sure


def test_the_margins_say_how_many_forfeits_they_leave_out(reports):
    report = reports["faults"]
    forfeits = sum(row.forfeits for row in report.ratings)
    assert forfeits
    assert f"{forfeits:,} forfeited game" in make_figures(report)["margins"].lead
    assert "forfeited" not in make_figures(reports["two"])["margins"].lead
