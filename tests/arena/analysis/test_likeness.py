"""Likeness of sources: planted copies are found, and nobody else."""

import pytest

from arena.analysis.likeness import Source, find_alike, join_pairs, tokens
from tools.make_class import write_class

SCRIPT = """// The first bot.
const seeds = (row) => row.reduce((sum, hole) => sum + hole, 0);
function weigh(board, move) {
  let total = 0;
  for (let at = 0; at < board.own.length; at += 1) {
    if (board.own[at] === move) { total += 3 * board.other[at] - at; }
    else { total -= board.own[at] % (move + 1); }
  }
  return total + seeds(board.own) / Math.max(1, seeds(board.other));
}
process.stdin.on("data", (text) => {
  const [position, legal] = String(text).split(";");
  const board = read(position);
  const moves = legal.split(" ").map(Number).sort((a, b) => weigh(board, b) - weigh(board, a));
  console.log(moves[0] === undefined ? "pass" : moves[0]);
});
"""
OTHER = """/* Another bot. */
let history = [];
class Table { constructor(size) { this.size = size; this.cells = new Array(size).fill(null); } }
while (true) {
  const line = nextLine();
  if (!line) break;
  history.push(line.length);
  const choice = history.slice(-3).map((n) => n ** 2 % 7).filter((n) => n > 2)[0] || 1;
  switch (choice) {
    case 1: write(first(line)); break;
    case 2: write(last(line)); break;
    default: write(random(line));
  }
}
function first(line) { return line.split(";")[1].trim().split(/ +/)[0]; }
"""


def sources(directory, is_python=True):
    return {p.stem: Source(p.read_text(), is_python) for p in directory.glob("*.py")}


@pytest.mark.parametrize("seed", range(1, 7))
@pytest.mark.parametrize("is_python", [True, False], ids=["python", "generic"])
def test_three_copies_among_forty_are_found_and_nobody_else(tmp_path, seed, is_python):
    names = write_class(tmp_path, 40, 0, 0, 3, seed)
    found = find_alike(sources(tmp_path, is_python))
    groups = join_pairs([(each.first, each.second) for each in found])
    assert groups == [sorted(names["copies"])]
    assert len(found) == 6  # of four programs


def test_names_literals_and_comments_do_not_count():
    one = Source("def f(a):\n    # mine\n    return a + 1\n", True)
    other = Source("def g(number):\n    return number + 2.5  # yours\n", True)
    assert tokens(one) == tokens(other)
    assert "def" in tokens(one)
    script = Source("let a = 'x'; // one\nif (a) { go(a, 1); }", False)
    renamed = Source('/* two */ let bb = "why"; if (bb) { run(bb, 22); }', False)
    assert tokens(script) == tokens(renamed)


def test_python_that_cannot_be_read_has_tokens():
    assert tokens(Source("def choose(view\n  '''", True))


def test_another_language_is_compared_too():
    copy = SCRIPT.replace("weigh", "assess").replace("seeds", "beans").replace("total", "points")
    found = find_alike({
        "a": Source(SCRIPT, False), "b": Source(f"// all my own work\n{copy}", False),
        "c": Source(OTHER, False),
    })  # fmt: skip
    assert [(each.first, each.second) for each in found] == [("a", "b")]
    assert "100 %" in found[0].text


def test_a_short_program_is_no_evidence():
    text = "def choose(view, legal, rng):\n    return legal[0]\n"
    assert not find_alike({name: Source(text, True) for name in "abc"})


def test_what_everybody_begins_with_does_not_count(tmp_path):
    write_class(tmp_path, 24, 0, 0, 0, 3)
    start = f"{SCRIPT}\n{OTHER}" * 3  # a template of the teacher, longer than any work
    found = find_alike(
        {name: Source(start + each.text, False) for name, each in sources(tmp_path).items()}
    )
    assert not found


def test_groups_are_joined():
    pairs = [("a", "b"), ("d", "e"), ("b", "c")]
    assert join_pairs(pairs) == [["a", "b", "c"], ["d", "e"]]
