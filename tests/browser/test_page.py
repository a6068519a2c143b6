"""The page of a run in a browser, offline: figures, list, replay, keys, hostile names."""

import json
import re

import pandas as pd
import pytest

from games import GAMES
from tests.arena.report.pages import RUNS
from tests.arena.running import ROOT, experiment_file, only_run, run_experiment_file, small

pytestmark = pytest.mark.slow

HOSTILE = (
    'game = "kalah(4,3)"\npairs = 6\nseed = 5\nopenings = { random_plies = 4 }\n'
    '[agents."<script>alert(1)</script>"]\nkind = "greedy"\n'
    f'[agents."{"😀" * 40}"]\nkind = "random"\n'
    '[agents."שלום \\"&\' עולם"]\nkind = "first"\n'
    '[agents."\\"><img src=x onerror=alert(1)>"]\nkind = "random"\n'
)
CONNECT = (
    'game = "connect4.py:connect4(5,4)"\npairs = 4\n[agents]\n'
    'random = { kind = "random" }\nfirst = { kind = "first" }\n'
)
LARGE = 'game = "kalah(6,4)"\npairs = 1000\n[agents]\nrandom = { kind = "random" }\n'
LARGE += 'greedy = { kind = "greedy" }\n'
THOUGHTS = small(4, "search_info = true") + '[agents.deep]\nkind = "alphabeta"\ndepth = 3\n'
PAGES = {**RUNS, "hostile": (HOSTILE, ("raising",)), "thoughts": (THOUGHTS, ())}
SCREENS = {
    "light": {}, "dark": {"dark": True}, "phone": {"width": 390, "height": 844},
    "tablet": {"width": 720, "height": 1000}, "phone-dark": {"width": 390, "dark": True},
}  # fmt: skip


def page_of(name, directory, text, bots=()):
    run_experiment_file(experiment_file(directory, text, *bots), directory / "results", page=True)
    return only_run(directory / "results") / "report.html"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    return {
        name: page_of(name, tmp_path_factory.mktemp(name), *PAGES[name]) for name in PAGES
    }  # fmt: skip


@pytest.fixture(scope="module", params=GAMES)
def game_page(request, tmp_path_factory):
    text = f'game = "{request.param}"\npairs = 3\n[agents]\nrandom = {{ kind = "random" }}\n'
    text += 'first = { kind = "first" }\n'
    return page_of("game", tmp_path_factory.mktemp("game"), text)


def test_the_replay_draws_search_information(browser, pages):
    chooser = 'document.querySelector(".choosing select")'
    with browser.tab() as tab:
        tab.open(pages["thoughts"], "#game=0&ply=8")
        names = tab.value(f"[...{chooser}.options].map(each => each.textContent)")
        assert names == ["score", "value", "depth", "nodes", "seconds"]
        tab.value(f"{chooser}.value = '=value'; {chooser}.dispatchEvent(new Event('change')); 0")
        drawn = "[...document.querySelectorAll('.curve .curveline')].map(p => p.getAttribute('d'))"
        lines = tab.value(drawn)
        assert len(lines) == 2 and sum(bool(line) for line in lines) == 1  # random does not think
        assert tab.value("document.querySelector('.nowvalue').textContent") is not None
        tab.value(f"{chooser}.value = ''; {chooser}.dispatchEvent(new Event('change')); 0")
        assert len(tab.value(drawn)) == 1
        assert tab.complaints() == []


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_offline_without_errors(browser, pages, shots, name, screen):
    with browser.tab(**SCREENS[screen]) as tab:
        tab.open(pages[name])
        assert tab.complaints() == []
        wide, seen = tab.value("[document.documentElement.scrollWidth, innerWidth]")
        assert wide <= seen
        assert tab.value("document.querySelectorAll('section').length") >= 8
        heights = "[...document.querySelectorAll('svg')].map(s => s.getAttribute('height'))"
        assert "0" not in tab.value(heights)
        tab.screenshot(shots / f"{name}-{screen}.png", whole=True)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_passes_the_accessibility_checker(browser, pages, axe, name, dark):
    with browser.tab(dark=dark) as tab:
        tab.open(pages[name])
        tab.value("document.querySelectorAll('details').forEach(each => { each.open = true; })")
        tab.value(axe + "; 0")
        found = tab.value(
            "axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']}).then(r => "
            "r.violations.map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => "
            "n.html.slice(0, 200) + n.failureSummary).join(' | ')))"
        )
        assert found == []


def test_hostile_names_are_text(browser, pages):
    with browser.tab() as tab:
        tab.open(pages["hostile"])
        names = tab.value(
            "[...new Set([...document.querySelectorAll('bdi')].map(b => b.textContent))]"
        )
        assert "<script>alert(1)</script>" in names
        assert '"><img src=x onerror=alert(1)>' in names
        assert tab.value("document.querySelectorAll('script').length") == 2
        assert tab.value("document.querySelectorAll('img').length") == 0
        assert tab.complaints() == []


def rows_of(tab) -> list[list[str]]:
    return tab.value(
        "[...document.querySelectorAll('.games tbody tr')]"
        ".map(r => [...r.cells].map(c => c.innerText))"
    )


def press(tab, words: str) -> None:
    tab.value(
        f"[...document.querySelectorAll('button')].find(b => b.textContent.startsWith("
        f"{json.dumps(words)})).click()"
    )


def test_the_list_selects_sorts_and_filters(browser, pages):
    games = pd.read_parquet(pages["faults"].with_name("games.parquet"))
    with browser.tab() as tab:
        tab.open(pages["faults"])
        press(tab, "All")
        assert len(rows_of(tab)) == min(50, len(games))
        press(tab, "Forfeits")
        shown = [int(row[0]) for row in rows_of(tab)]
        faulty = games[(games["termination"] != "normal") & (games["result"] != 0.5)]
        assert shown == faulty["game"].tolist()[:50]
        assert "games=forfeits" in tab.value("location.hash")
        press(tab, "plies")
        plies = [int(row[5]) for row in rows_of(tab)]
        assert plies == sorted(plies)
        press(tab, "plies")
        plies = [int(row[5]) for row in rows_of(tab)]
        assert plies == sorted(plies, reverse=True)
        assert tab.value("document.querySelector('[aria-sort]').ariaSort") == "descending"
        tab.open(pages["faults"], "#games=all&agent=illegal&opponent=random")
        assert {frozenset(row[1:3]) for row in rows_of(tab)} == {frozenset(("illegal", "random"))}
        assert tab.complaints() == []


def test_keys_step_through_a_game_and_every_ply_has_an_address(browser, pages):
    with browser.tab() as tab:
        tab.open(pages["three"], "#game=7&ply=3")
        where = "document.querySelector('.where').textContent"
        assert tab.value(where).startswith("ply 3 of ")
        assert tab.value("document.querySelector('.card h3').textContent") == "Game 7"
        assert tab.value("document.activeElement.id") == "board"
        for key, ply in (("ArrowRight", 4), ("ArrowLeft", 3), ("Home", 0), ("ArrowRight", 1)):
            tab.key(key)
            assert tab.value(where).startswith(f"ply {ply} of ")
            assert tab.value("location.hash") == f"#game=7&ply={ply}"
        tab.key("End")
        last = tab.value(where)
        assert last.split()[1] == last.split()[3]
        tab.key("j")
        assert tab.value("document.querySelector('.card h3').textContent") != "Game 7"
        tab.value("location.hash = 'game=5&ply=2'")
        assert tab.value("new Promise(d => setTimeout(() => d(" + where + "), 50))").startswith(
            "ply 2 "
        )
        tab.open(pages["three"], "#game=999999")
        assert "not on this page" in tab.value("document.getElementById('replay').textContent")
        assert tab.complaints() == []


def test_arrows_walk_in_the_matrix_and_enter_shows_the_games(browser, pages):
    with browser.tab() as tab:
        tab.open(pages["three"])
        tab.value("document.querySelector('.matrix [tabindex=\"0\"]').focus()")
        first = tab.value("document.getElementById('tip').textContent")
        assert "against" in first
        tab.key("ArrowRight")
        assert tab.value("document.getElementById('tip').textContent") != first
        pair = tab.value("[document.activeElement.dataset.a, document.activeElement.dataset.b]")
        tab.key("Escape")
        assert tab.value("document.getElementById('tip').hidden")
        tab.key("Enter")
        tab.value("new Promise(d => setTimeout(d, 50))")
        assert {frozenset(row[1:3]) for row in rows_of(tab)} == {frozenset(pair)}


@pytest.mark.parametrize("agents", [12, 24, 42, 60])
def test_every_column_of_a_large_matrix_is_on_the_page(browser, tmp_path, agents):
    tables = (f"[agents.a_search_of_depth_6_by_lot_{at}]\nkind = 'random'\n"
              for at in range(agents))  # fmt: skip
    text = 'game = "kalah(3,2)"\npairs = 1\nseed = 1\n' + "".join(tables)
    page = page_of("large", tmp_path, text)
    with browser.tab() as tab:
        tab.open(page)
        wide, room = tab.value(
            "(each => [each.scrollWidth, each.clientWidth])"
            "(document.querySelector('.matrix').closest('.wide'))"
        )
        assert wide <= room
        heads = tab.value(
            "[...document.querySelectorAll('.matrix thead th')]"
            ".map(each => [each.scrollWidth, each.clientWidth])"
        )
        assert len(heads) == agents
        assert all(content <= there for content, there in heads)


def test_marks_of_a_figure_show_numbers_and_link_to_games(browser, pages):
    with browser.tab() as tab:
        tab.open(pages["three"])
        tab.value("document.querySelector('#openings [data-row=\"2\"]')"
                  ".dispatchEvent(new MouseEvent('mouseover', {bubbles: true}))")  # fmt: skip
        told = tab.value("document.getElementById('tip').textContent")
        row = "document.querySelector('#openings details tbody').rows[2]"
        opening, score = tab.value(f"[{row}.cells[0].textContent, {row}.cells[2].textContent]")
        assert told.startswith(f"opening {opening}, moves: ")
        assert f"first mover scored: {score}" in told
        tab.value("document.querySelector('#openings [data-row=\"2\"]')"
                  ".dispatchEvent(new MouseEvent('click', {bubbles: true}))")  # fmt: skip
        tab.value("new Promise(d => setTimeout(d, 50))")
        assert f"opening={opening}" in tab.value("location.hash")
        assert len(rows_of(tab)) == 6


STEP_ALL = """
[...DATA.n.keys()].map((at) => {
  location.hash = '';
  history.replaceState(null, '', '#game=' + DATA.n[at]);
  dispatchEvent(new HashChangeEvent('hashchange'));
  document.getElementById('board').dispatchEvent(
    new KeyboardEvent('keydown', { key: 'End', bubbles: true }));
  const points = [...document.querySelectorAll('.plate')].map((plate) => [
    plate.querySelector('bdi').textContent, Number(plate.querySelector('.points').textContent),
    plate.textContent.includes('moved first')]);
  return [points, document.querySelector('.where').textContent,
    document.querySelector('.told').textContent];
})
"""


def test_the_replay_of_every_game_ends_with_the_stored_score(browser, game_page):
    games = pd.read_parquet(game_page.with_name("games.parquet"))
    with browser.tab() as tab:
        tab.open(game_page)
        data = "JSON.parse(document.getElementById('data').textContent)"
        shown = tab.value(STEP_ALL.replace("DATA", data))
        assert len(shown) == len(games)
        for (points, where, told), row in zip(shown, games.itertuples(), strict=True):
            first = next(each for each in points if each[2])
            second = next(each for each in points if not each[2])
            sign = 1 if row.first_mover == row.first else -1
            assert (first[0], second[0]) == (row.first, row.second)[::sign]
            assert first[1] - second[1] == sign * row.margin
            assert where == f"ply {len(row.moves.split())} of {len(row.moves.split())}"
            assert ("drawn" in told) == (row.result == 0.5)
        assert tab.value("document.querySelector('svg.board') !== null")
        assert tab.complaints() == []


def test_a_users_game_is_replayed_as_text(browser, tmp_path, shots):
    (tmp_path / "connect4.py").write_text((ROOT / "experiments/games/connect4.py").read_text())
    page = page_of("connect4", tmp_path, CONNECT)
    with browser.tab() as tab:
        tab.open(page, "#game=3&ply=5")
        board = tab.value("document.querySelector('.stage pre').textContent")
        assert sum(board.count(disc) for disc in "XO") == 5
        assert "plays" in tab.value("document.querySelector('.told').textContent")
        tab.screenshot(shots / "connect4.png")
        assert tab.complaints() == []


def test_games_without_moves_have_a_command(browser, tmp_path):
    text = RUNS["two"][0].replace("seed = 5", "seed = 5\nkeep_moves = false")
    page = page_of("nothing", tmp_path, text)
    with browser.tab() as tab:
        tab.open(page, "#game=6")
        assert "not on the page" in tab.value("document.getElementById('board').textContent")
        assert tab.value("document.querySelector('.card code').textContent").endswith("--pair 3")
        assert tab.complaints() == []


def test_a_move_has_a_command_that_explains_it(browser, pages):
    with browser.tab() as tab:
        tab.open(pages["three"], "#game=7&ply=6")
        line = "document.querySelector('.explained').innerText"
        assert re.search(r"The values of (random|greedy|first)\s+before move 6", tab.value(line))
        command = "document.querySelector('.explained code').textContent"
        assert tab.value(command).endswith("#7@5 explain")
        tab.key("ArrowRight")
        assert tab.value(command).endswith("#7@6 explain")
        tab.key("Home")
        assert tab.value("document.querySelector('.explained').hidden")
        assert tab.complaints() == []


def test_a_page_prints_on_paper(browser, pages, tmp_path):
    with browser.tab(dark=True) as tab:
        tab.open(pages["three"])
        tab.printed(tmp_path / "page.pdf")
        assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
        tab.call("Emulation.setEmulatedMedia", media="print")
        assert tab.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert tab.value("getComputedStyle(document.querySelector('nav')).display") == "none"
        assert (
            tab.value("getComputedStyle(document.querySelector('.games thead')).display") != "none"
        )


def test_a_large_page_opens_quickly(browser, tmp_path):
    page = page_of("large", tmp_path, LARGE)
    assert page.stat().st_size < 3_000_000
    with browser.tab() as tab:
        tab.open(page)
        timing = "performance.getEntriesByType('navigation')[0].loadEventEnd"
        assert tab.value(timing) < 5000  # far above a second: the machine may be busy
