"""Problems in agent tables."""

import pytest

from agents.registry import kind_of, kinds_for
from games import game
from tests.arena.config.test_problems import AGENTS, HEAD, problems, the_problem

SOWING = "pot, in_play, extra_turn, capture, mobility, far, given_away"

FREE = [kind for kind in kinds_for(game("othello")) if not kind_of(kind).required_options]
BROKEN = {
    "an unknown game": (
        'game = "kalha(6,4)"\n' + AGENTS,
        'x.toml:1: [top level] there is no game "kalha" (there are kalah, kalah-2022, '
        "kalah-paper, kalah-kgp, kalah-manchester, owari, othello, othello-adjacent); "
        'did you mean "kalah"?',
    ),
    "a kind that does not play the game": (
        'game = "othello"\n' + AGENTS.replace("random", "fewest"),
        f"x.toml:5: [agents.bad] fewest does not play othello(8) (play it with {', '.join(FREE)})",
    ),
    "an option that the kind does not have": (
        HEAD + AGENTS + "depth = 3\n",
        "x.toml:6: [agents.bad] random has no option depth, which is for minimax, alphabeta, "
        "smart, smart_classic, nboard (it has none)",
    ),
    "whole turns where a turn is one move": (
        'game = "othello"\n'
        + AGENTS.replace('"random"', '"minimax"\ndepth = 2\ncollapse_turns = true'),
        "x.toml:7: [agents.bad] collapse_turns has no effect: no turn of othello(8) has a second "
        "move",
    ),
    "a limit out of range": (
        HEAD + AGENTS.replace('"smart"', '"smart"\ndepth = 0'),
        "x.toml:4: [agents.smart] depth must be a whole number from 1 to 100, got 0",
    ),
    "a person": (
        HEAD + AGENTS.replace("random", "human"),
        "x.toml:5: [agents.bad] human agents do not play in experiments; a person plays with "
        "pitflip play",
    ),
    "a name that means everybody": (
        HEAD + AGENTS + '[agents.all]\nkind = "first"\n',
        'x.toml:6: [agents] an agent cannot be called "all": names have 1 to 40 printable '
        'characters, are not "all" and hold no " beats "',
    ),
    "a weight of no feature": (
        HEAD + AGENTS.replace('"smart"', '"smart"\nweights = { pto = 2 }'),
        'x.toml:4: [agents.smart.weights] this agent has no weight "pto" '
        f'(it has {SOWING}); did you mean "pot"?',
    ),
    "a weight of another game": (
        HEAD + AGENTS.replace('"smart"', '"smart"\nweights.corner = 2'),
        f'x.toml:4: [agents.smart.weights] this agent has no weight "corner" (it has {SOWING})',
    ),
    "a weight that is no number": (
        HEAD + AGENTS.replace('"smart"', '"smart"\n[agents.smart.weights]\npot = "x"'),
        'x.toml:5: [agents.smart.weights] weight pot must be a number, got "x"',
    ),
    "weights that are no table": (
        HEAD + AGENTS.replace('"smart"', '"smart"\nweights = [1, 2]'),
        "x.toml:4: [agents.smart] weights must be a table or a file like "
        '"weights/mine.toml", got [1, 2]',
    ),
    "a weights file that is not there": (
        HEAD + AGENTS.replace('"smart"', '"smart"\nweights = "no.toml"'),
        'x.toml:4: [agents.smart] there is no file "no.toml" beside the experiment or in the '
        "working directory",
    ),
    "a bot that is not there": (
        HEAD + AGENTS.replace('"random"', '"python"\nfile = "no.py:choose"'),
        'x.toml:6: [agents.bad] there is no file "no.py:choose" beside the experiment or in the '
        "working directory",
    ),
    "an evaluation that is not there": (
        HEAD + AGENTS.replace('"smart"', '"alphabeta"\nevaluate = "no.py"'),
        'x.toml:4: [agents.smart] there is no file "no.py" beside the experiment or in the '
        "working directory",
    ),
    "a Python bot without a file": (
        HEAD + AGENTS.replace("random", "python"),
        'x.toml:4: [agents.bad] file is missing, as in file = "bots/mine.py"',
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_file_gives_one_line(tmp_path, name):
    text, line = BROKEN[name]
    assert problems(tmp_path, text) == [line]


def test_problem_in_a_weights_file_names_that_file(tmp_path):
    (tmp_path / "w.toml").write_text("[weights]\npto = 1\n")
    text = HEAD + AGENTS.replace('"smart"', '"smart"\nweights = "w.toml"')
    assert the_problem(tmp_path, text) == (
        'x.toml:4: [agents.smart] w.toml: this agent has no weight "pto" '
        f'(it has {SOWING}); did you mean "pot"?'
    )


def test_user_evaluation_declares_its_weights(tmp_path):
    (tmp_path / "mine.py").write_text('WEIGHTS = {"lead": 2.0}\ndef evaluate(r, p, w): return 0\n')
    table = '"alphabeta"\nevaluate = "mine.py"\nweights = { leed = 1 }'
    assert the_problem(tmp_path, HEAD + AGENTS.replace('"smart"', table)) == (
        'x.toml:5: [agents.smart.weights] this agent has no weight "leed" '
        '(it has lead); did you mean "lead"?'
    )
