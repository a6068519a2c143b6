"""The strength table plays what it says, the same games on any machine."""

import re

import numpy as np
import pytest

from agents.core import AgentSpec
from agents.registry import build
from arena.stats.sprt import Decision, SprtPlan
from benchmarks import learned_strength, smart_settings, strength, strength_page
from benchmarks.matches import margins, pair_score, random_openings, score_of_games, sprt_match
from games import game

KALAH = game("kalah(3,2)")
RANDOM, FIRST = AgentSpec("random"), AgentSpec("first")


def test_openings_are_distinct_and_drawn_by_their_seed():
    lines = random_openings(KALAH, 4, 20, seed=1)
    assert len(np.unique(lines, axis=0)) == 20
    assert (lines == random_openings(KALAH, 4, 20, seed=1)).all()
    assert (lines != random_openings(KALAH, 4, 20, seed=2)).any()


def test_more_openings_than_there_are_are_refused():
    with pytest.raises(ValueError, match="too few positions"):
        random_openings(KALAH, 1, 20, seed=1)


def test_games_are_the_same_on_any_number_of_cores(monkeypatch):
    none = np.empty((25, 0), np.int16)
    many = margins(KALAH, RANDOM, RANDOM, none, seed=3)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert (many == margins(KALAH, RANDOM, RANDOM, none, seed=3)).all()
    assert len(set(many.tolist())) > 1


def test_an_agent_against_itself_scores_half_on_pairs():
    openings = random_openings(KALAH, 3, 10, seed=1)
    score = pair_score(KALAH, FIRST, FIRST, openings, seed=1)
    assert score.share == 0.5
    assert score.wins == score.losses
    assert score.error == 0


def test_a_score_tells_wins_draws_and_losses():
    score = score_of_games(np.array([1, 1, 0, -1]))
    assert str(score) == "+2 =1 -1"
    assert score.share == 0.625


def test_perfect_play_is_the_golden_file_and_what_was_solved_beyond_it():
    values = strength.perfect_margins()
    assert values[3, 6] == -8
    assert values[4, 3] == 6
    assert set(strength.SOLVED_HERE).isdisjoint({(3, 6), (4, 3)})


@pytest.mark.slow
@pytest.mark.parametrize("holes, beans", [(4, 4), (5, 2), (5, 3), (6, 2)])
def test_what_was_solved_beyond_the_golden_file_is_solved_again(holes, beans):
    spec = AgentSpec("alphabeta", nodes=100_000_000, endgame=256, table_bits=22)
    of = game(f"kalah({holes},{beans})")
    agent = build(spec, of)
    choice = agent.choose(of.start())
    assert choice.exact
    assert choice.value == strength.SOLVED_HERE[holes, beans]


def test_a_line_that_does_not_hold_is_told_by_the_exit_code(capsys, monkeypatch):
    line = strength.StrengthRow("a v b", "+1 =0 -0", "100 %", "more", False)
    monkeypatch.setattr(strength, "ROWS", {"row": lambda: iter([line])})
    assert strength.main(["row"]) == 1
    assert "| a v b | 20000 | +1 =0 -0 | 100 % | more | below |" in capsys.readouterr().out


def test_an_unknown_row_is_refused(capsys):
    with pytest.raises(SystemExit):
        strength.main(["smart_v_all"])
    assert "there is no row 'smart_v_all'" in capsys.readouterr().err


def test_a_test_stops_where_it_decides():
    plan, openings = SprtPlan(0.0, 100.0), random_openings(game("kalah(6,4)"), 4, 200, seed=1)
    score, state = sprt_match(game("kalah(6,4)"), AgentSpec("greedy"), RANDOM, openings, 1, plan)
    assert state.decision is Decision.ELO1
    assert score.games == 2 * state.observations < 400
    one = KALAH, FIRST, FIRST, random_openings(KALAH, 3, 10, seed=1), 1, SprtPlan(0.0, 1.0)
    assert sprt_match(*one)[1].decision is Decision.UNDECIDED


def test_a_setting_is_compared_with_smart_as_it_is(monkeypatch, capsys):
    rows = [smart_settings.SettingMatch("kalah(3,2)", 20, 4, "endgame", 2)] * 2
    monkeypatch.setattr(smart_settings, "MATCHES", (*rows, rows[0]._replace(game="owari")))
    monkeypatch.setattr(learned_strength, "PLIES", (2, 3, 3))
    assert smart_settings.main(["kalah(3,2)"]) == 0
    lines = capsys.readouterr().out.splitlines()[2:]
    assert len(lines) == 2
    assert lines[0] == lines[1]
    assert lines[0].startswith("| kalah(3,2) | 20 | `endgame = 2` | 12 | +")


def test_a_row_names_the_seed_of_its_openings():
    assert learned_strength.SEED != strength.SEED
    line = strength.StrengthRow("", "", "", "", True)
    assert line.seed == strength.SEED


def test_the_page_for_readers_has_what_is_measured_here_and_what_was_outside(tmp_path, monkeypatch):
    monkeypatch.setattr(strength_page, "FFO", range(40, 41))
    monkeypatch.setattr(strength_page, "PAIRS", 2)
    monkeypatch.setattr(strength_page, "OPPONENTS", (AgentSpec("random"),))
    assert strength.main(["--page", str(tmp_path / "strength.md")]) == 0
    page = (tmp_path / "strength.md").read_text()
    assert "| NTest, level 8 | +78 [+12, +145] |" in page
    assert "| `random` | +12 =0 -0 |" in page
    assert re.search(r"processor time \| [1-9]\d* \| [\d.]+ \|", page)
    assert re.search(r"\| shipped \| [\d.]+ ± ", page)
