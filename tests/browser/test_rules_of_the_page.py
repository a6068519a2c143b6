"""The rules of the page's script equal those of the games at every ply."""

import json
import random
from itertools import chain

import pytest

from arena.report.document import read_scripts
from arena.report.games import board_rules
from games import GAMES, game

pytestmark = pytest.mark.slow

VARIED = {
    "kalah": (
        "capture=none", "capture=opposite", "extra_turn=no", "extra_turn=not-first", "swap=yes",
        "opponent_pot=yes", "skip_start=yes", "sweep=ender", "sweep=nobody", "end_when=mover",
        "capture_needs_nonempty=no", "majority_ends=yes", "swap=yes,extra_turn=not-first",
    ),
    "owari": ("opponent_pot=yes,skip_start=yes", "majority_ends=yes,capture=both"),
}  # fmt: skip
SIZES = {"kalah": ("(3,16", "(6,4", "(9,5", "(1,2"), "owari": ("(4,3", "(12,9")}
OTHELLO = ("othello(4)", "othello(10)", "othello-adjacent(6)", "othello-adjacent(8,adjacency=4)")
NAMES = [
    *GAMES,
    *OTHELLO,
    *(f"{name}{size},{rule})" for name in VARIED for size in SIZES[name] for rule in VARIED[name]),
]
PLAYED = """
((rules, lines) => {
  const board = rules.kind === 'sowing' ? sowing(rules) : othello(rules);
  const seen = (s) => [s.cells || s.discs, s.mover, s.over, board.score(s)];
  return lines.map((line) => {
    let state = board.start();
    const found = [seen(state)];
    for (const word of line) { state = board.play(state, word).state; found.push(seen(state)); }
    return found;
  });
})
"""


@pytest.fixture(scope="module")
def tab(browser):
    with browser.tab() as found:
        names = "svg = () => ({ append: () => {} });"
        source = names + read_scripts(("sowing.js", "othello.js")).replace("const ", "var ")
        source = source.replace("var sowing =", "globalThis.sowing =")
        found.value(f"{source.replace('var othello =', 'globalThis.othello =')}; 0")
        yield found


def plain(of, position) -> list:
    found = of.plain(position)
    if board_rules(of)["kind"] == "othello":
        black, white = of.notation.colours(position)
        return [0 if at in black else 1 if at in white else -1 for at in range(of.rules.cells)]
    rows = [(*found.own, found.own_pot), (*found.other, found.other_pot)]
    return list(chain(*(rows if position.side == 0 else rows[::-1])))


@pytest.mark.parametrize("name", NAMES)
def test_the_rules_of_the_page_equal_ours_at_every_ply(tab, name):
    of, rng = game(name), random.Random(name)
    lines, seen = [], []
    for _ in range(12):
        position, words = of.start(), []
        found = [[plain(of, position), position.mover, of.over(position), list(of.score(position))]]
        while not of.over(position) and len(words) < 300:
            move = rng.choice(of.legal(position))
            words.append(of.move_text(position, move))
            position = of.play(position, move)
            over = of.over(position)
            found.append([plain(of, position), position.mover, over, list(of.score(position))])
        lines.append(words)
        seen.append(found)
    shown = tab.value(f"({PLAYED})({json.dumps(board_rules(of))}, {json.dumps(lines)})")
    for line, ours, theirs in zip(lines, seen, shown, strict=True):
        for ply, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            if one[2]:  # nobody moves when a game is over
                one[1] = other[1]
            assert other == one, (name, line[:ply])
