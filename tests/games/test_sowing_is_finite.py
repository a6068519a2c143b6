"""Every sowing game ends under any parameters, however it is played.

A sowing that reaches the own pot leaves fewer beans on the board for good. One that does not
moves its beans forward in the own row. So (beans in play, their way to the pots) falls with
every ply in the order of dictionaries, and a game has at most (beans + 1) * beans * holes of them.
"""

from typing import NamedTuple

import hypothesis
from hypothesis import given

from games import Game, Position, game
from tests.games.naive.sowing import Rules
from tests.games.test_sowing_against_naive import name_of, one_line, rulesets, set_up_by_hand


class Way(NamedTuple):
    """What is left of a game: no ply but a swap leaves it as it was or makes it longer."""

    beans: int
    steps: int


def way(of: Game, position: Position) -> Way:
    """Beans in play, and the steps that they are away from their owners' pots."""
    rows = of.plain(position)
    steps = sum(
        held * (len(row) - hole) for row in (rows.own, rows.other) for hole, held in enumerate(row)
    )
    return Way(sum(rows.own) + sum(rows.other), steps)


def most_plies(rules: Rules) -> int:
    """The bound that the two falling numbers give, and one more for the swap."""
    beans = 2 * rules.holes * rules.beans
    return (beans + 1) * beans * rules.holes + 1


@given(set_up_by_hand())
@hypothesis.settings(max_examples=40)
def test_every_ply_brings_the_end_nearer(case):
    of = game(case.name)
    position = of.parse(one_line(case.state))
    for move in of.legal(position):
        after = of.play(position, move)
        if move == of.swap_move:
            assert way(of, after) == way(of, position)
            assert of.swap_move not in of.legal(after)
        else:
            assert way(of, after) < way(of, position)


@given(rulesets(most_holes=4))
def test_a_game_drawn_out_on_purpose_ends(named):
    name, rules = named
    rules = rules._replace(beans=min(rules.beans, 3))
    of = game(name_of(name.partition("(")[0], rules))
    plies, position = 0, of.start()
    while not of.over(position):
        nexts = [of.play(position, move) for move in of.legal(position)]
        position = max(nexts, key=lambda after: way(of, after))
        plies += 1
        assert plies <= most_plies(rules)


@given(rulesets(most_holes=2))
@hypothesis.settings(max_examples=40)
def test_no_position_of_a_small_board_comes_twice(named):
    name, rules = named
    rules = rules._replace(beans=min(rules.beans, 2))
    of = game(name_of(name.partition("(")[0], rules))
    longest: dict[Position, int] = {}

    def plies_left(position: Position) -> int:
        """Of the longest game from here; a position that comes twice would never return."""
        if position not in longest:
            nexts = (of.play(position, move) for move in of.legal(position))
            longest[position] = max((1 + plies_left(after) for after in nexts), default=0)
        return longest[position]

    assert plies_left(of.start()) <= most_plies(rules)
