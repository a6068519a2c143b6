"""The summary of a run: 80 columns, plain text without a terminal, and JSON."""

import io
import json
import re

import numpy as np
import pytest
from rich.console import Console

from arena.analysis.checks.registry import FAILS, HOLDS, VACUOUS, Verdict
from arena.analysis.tables import EloRow, WinRateRow, win_rate_rows
from arena.analysis.timings import Timing
from arena.terminal.tables import legend, print_summary, stdout_console, summary_json
from games.base.cli import shell_command
from tests.arena.played import FORFEIT, experiment, games_by_hand, summarise_games

REPLAY = 'pitflip game "kalah(6,4)" replay "' + "1 2 3 4 5 6 " * 12 + '1"'
PAIRS = [(0, 1), (0, 2), (1, 2)]
VERDICTS = [
    Verdict("smart beats bad", "always", FAILS, "1 of 22 games not won", REPLAY),
    Verdict("smart beats bad", "score_at_least", HOLDS, "at least 70.0 % wanted"),
    Verdict("all", "no_forfeits", VACUOUS, "no games"),
]


def printed(summary, verdicts=(), notes=(), **how):
    file = io.StringIO()
    print_summary(summary, verdicts, notes, Console(file=file, width=80, **how))
    return file.getvalue()


def summary_of(names, *matches, faults=None):
    return summarise_games(
        games_by_hand(*matches, faults=faults), experiment(names).plan, name="demo"
    )


def even_match(a, b, openings=40):
    letters = ["WL", "WW", "LW", "WD"]
    return a, b, [(o, letters[o % len(letters)]) for o in range(openings)]


def test_the_summary_of_two_agents():
    text = printed(summary_of(["smart", "bad"], even_match(0, 1)), VERDICTS[1:])
    lines = [line.rstrip() for line in text.splitlines()]
    assert lines[0] == "demo on kalah(6,4): 80 games, 40 openings"
    assert lines[1].split() == ["agent", "points", "games", "openings"]  # one Elo, not two halves
    assert lines[2].startswith("smart")
    place = lines.index("smart against bad: 68.8 % [61.2, 76.0], +137 [+79, +200] Elo")
    assert lines[place + 1] == "  for openings like these"  # it does not fit in 80 columns
    assert "  n=80 (n_eff 40), first 30-0-10, second 20-10-10, 40 openings" in lines
    assert "30-0-10: won, drawn, lost; n games; n_eff independent pairs" in lines
    assert "HOLDS: smart beats bad (score_at_least): at least 70.0 % wanted" in lines
    assert len(lines) < 24


def test_the_legend_explains_the_short_forms_that_occur():
    shutout = (0, 1, [(opening, "WW") for opening in range(1000)])
    text = printed(summary_of(["smart", "bad"], shutout))
    assert "1000-0-0: won, drawn, lost; K distinct openings\n" in text  # as on the first screen
    assert "n_eff" not in text
    both = printed(summary_of(["a", "b", "c"], shutout, even_match(0, 2), even_match(1, 2)))
    assert both.endswith("; n games; n_eff independent pairs; K distinct openings\n")
    longer = (0, 1, [(opening, "WW") for opening in range(10_000)])
    row, _ = summary_of(["smart", "bad"], longer).win_rates
    lines = legend([row, *summary_of(["a", "b"], even_match(0, 1)).win_rates])
    assert lines == [
        "10000-0-0: won, drawn, lost; n games; n_eff independent pairs", "K distinct openings"
    ]  # fmt: skip


@pytest.mark.parametrize("agents", [2, 3, 7, 12])
def test_only_commands_are_wider_than_80_columns(agents):
    names = [f"an agent with a long name {n}" for n in range(agents)]
    pairs = [even_match(a, b, 12) for a in range(agents) for b in range(a + 1, agents)]
    text = printed(summary_of(names, *pairs), VERDICTS, ["a note " * 30])
    for line in text.splitlines():
        assert len(line) <= 80 or " replay " in line
    assert f"  {shell_command(REPLAY)}\n" in text


def test_the_matrix_has_every_pair():
    strong = [(o, "WW") for o in range(12)]
    matches = [even_match(0, 1, 12), (0, 2, [*strong, (12, "LL")]), (1, 2, [*strong, (12, "LL")])]
    lines = printed(summary_of(["a", "b", "c"], *matches)).splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("% won by row"))
    assert lines[at + 1].split() == ["1", "a", "68.8", "92.3"]
    assert lines[at + 2].split() == ["2", "b", "31.2", "92.3"]
    assert lines[at + 3].split() == ["3", "c", "7.7", "7.7"]


ALL_OF_SIX = [even_match(a, b, 12) for a in range(6) for b in range(a + 1, 6)]
WON = [(opening, "WW") for opening in range(500)]
DUPLICATES = (0, 1, [(0, "WL", 1, 2)] * 20)


@pytest.mark.parametrize(
    ("names", "matches", "faults", "expected"),
    [
        ("abcdef", ALL_OF_SIX, None, ["... 5 more pairs: see win_rates.parquet"]),
        ("abc", [(0, 1, WON), (1, 2, [(0, "WL")])], None,
         ["2 groups: Elo compares agents of one group only",
          "a against b: 100 %, > +888 Elo (95 %) for openings like these, K = 500"]),
        ("ab", [DUPLICATES], {1: FORFEIT},
         ["40 games, 37 duplicates, 1 forfeited, 1 opening",
          "1 opening, 3 of 40 games distinct, a forfeited"]),
        ("ab", [], None, ["demo on kalah(6,4): 0 games, 0 openings", "no games"]),
        (["[red]", "[/b]"], [even_match(0, 1)], None, ["[red] against [/b]"]),
    ],
)  # fmt: skip
def test_lines_of_the_summary(names, matches, faults, expected):
    text = printed(summary_of(list(names), *matches, faults=faults))
    assert all(line in " ".join(text.split()) for line in expected)


def test_several_matches_have_intervals_that_hold_at_once():
    summary = summary_of(["a", "b", "c"], *(even_match(*two) for two in PAIRS))
    text = " ".join(printed(summary).split())
    assert "68.8 % [61.2, 76.0], +137" in text
    low, high = re.search(r"\[([\d.]+), ([\d.]+)\] for all 3 matches at once", text).groups()
    assert float(low) < 61.2
    assert float(high) > 76.0
    rows = [*win_rate_rows(summary)]
    for row, other in zip(rows[0::2], rows[1::2], strict=True):
        assert row.simultaneous_low < row.score_low < row.score_high < row.simultaneous_high
        assert other.simultaneous_high == pytest.approx(1 - row.simultaneous_low, abs=2e-6)
        assert other.simultaneous_low == pytest.approx(1 - row.simultaneous_high, abs=2e-6)
    (row, _) = win_rate_rows(summary_of(["a", "b"], even_match(0, 1)))
    assert (row.simultaneous_low, row.simultaneous_high) == (row.score_low, row.score_high)


def test_ratings_are_readable_where_the_speeds_have_no_room():
    names = [f"smart-nodes-1000{n}" for n in range(3)]
    summary = summary_of(names, *(even_match(a, b, 500) for a, b in PAIRS))
    cost = Timing("", "", 1, 1, 10_000_000, 1.0, 1.0, 1.0, 1e7, 1.0, 1.0, 0.0)
    timings = [cost._replace(agent=a, opponent=b) for a in names for b in names if a != b]
    for width, has_room in ((80, False), (120, True)):
        file = io.StringIO()
        print_summary(summary, [], (), Console(file=file, width=width), timings)
        table = file.getvalue().partition("first mover")[0]
        assert "…" not in table
        assert ("10,000,000" in table) is has_room
        assert ("see timings.parquet" in table) is not has_room


def test_the_reason_for_missing_intervals_is_printed_once():
    text = printed(summary_of(["a", "b", "c"], *(even_match(*two, 4) for two in PAIRS)))
    assert text.count("needs 10 openings, has 4") == 2  # of the ratings, and of the first move
    assert "Elo: needs 10 openings, has 4" in text
    assert re.search(r"first move \S+ Elo \(needs 10 openings, has 4\)", text)


def test_only_a_terminal_has_colour(capsys):
    summary = summary_of(["smart", "bad"], even_match(0, 1))
    assert "\x1b[" in printed(summary, VERDICTS, force_terminal=True, color_system="standard")
    print_summary(summary, VERDICTS)
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert out == printed(summary, VERDICTS)
    assert stdout_console().width == 80


def test_json_has_the_columns_of_the_tables_and_every_verdict():
    summary = summary_of(["smart", "bad"], (0, 1, [(o, "WW") for o in range(12)]))
    said = json.loads(summary_json(summary, VERDICTS))
    assert list(said["elo"][0]) == list(EloRow._fields)
    assert list(said["win_rates"][0]) == list(WinRateRow._fields)
    assert said["win_rates"][0]["elo_high"] is None
    assert [check["holds"] for check in said["checks"]] == [False, True, False]
    assert said["checks"][0]["replay"] == REPLAY
    assert (said["games"], said["stopped"]) == (24, None)


def test_json_has_no_infinite_numbers():
    rng = np.random.default_rng(2)
    pairings = [(o, "".join(rng.choice(list("WDL"), 2))) for o in range(30)]
    text = summary_json(summary_of(["smart", "bad"], (0, 1, pairings)), [])
    assert not any(word in text for word in ("NaN", "Infinity"))
