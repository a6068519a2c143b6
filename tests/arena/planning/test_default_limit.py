"""The limit of a move where an experiment names none, and where it does."""

import pytest

from arena.config.experiment import load
from arena.planning.plan import Plan
from arena.playing.clock import time_control

FILE = """
game = "kalah(4,3)"
pairs = 1
{top}
[agents.mine]
kind = "python"
file = "bot.py"
{own}
[agents.own]
kind = "alphabeta"
depth = 2
evaluate = "h.py"
[agents.random]
kind = "random"
"""


def plan_of(directory, top="", own=""):
    for name in ("bot", "h"):
        (directory / f"{name}.py").write_text("")
    (directory / "x.toml").write_text(FILE.format(top=top, own=own))
    return load(directory / "x.toml").plan


@pytest.mark.parametrize(
    ("top", "own", "seconds"),
    [
        ("", "", 5.0),
        ("move_seconds = 20", "", 20.0),
        ("move_seconds = 60", "", 60.0),
        ('game_time = "300"', "", 60.0),
        ("turn_seconds = 30", "", 60.0),
        ("", 'game_time = "300"', 60.0),
    ],
)
def test_a_bot_has_five_seconds_a_move_unless_a_limit_is_named(tmp_path, top, own, seconds):
    plan = plan_of(tmp_path, top, own)
    assert time_control(plan, plan.agents["mine"]).move == seconds
    again = Plan.from_json(plan.to_json(), tmp_path)
    assert time_control(again, again.agents["mine"]).move == seconds
    search = 60.0 if plan.move_seconds is None else plan.move_seconds
    assert time_control(plan, plan.agents["own"]).move == search


def test_a_plan_without_bots_stays_the_plan_that_it_was(tmp_path):
    text = (
        'game = "kalah(4,3)"\npairs = 1\n[agents.a]\nkind = "random"\n[agents.b]\nkind="greedy"\n'
    )
    (tmp_path / "x.toml").write_text(text)
    assert load(tmp_path / "x.toml").plan.to_json()["move_seconds"] == 60.0
