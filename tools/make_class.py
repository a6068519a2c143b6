"""Write a class of generated bots: python -m tools.make_class DIRECTORY [BOTS BROKEN SLOW COPIES].

All play Kalah. Broken bots fail in fifteen ways, slow ones think for a while about each move, and
copies are an earlier bot with other names and comments. Without numbers: 60 15 5 3.
"""

import keyword
import random
import re
import sys
from collections.abc import Sequence
from pathlib import Path

FEATURES = (
    "sum(mine)", "sum(theirs)", "max(mine)", "max(theirs)", "min(mine)", "len(after.legal)",
    "after.margin", "after.rows.own_pot", "after.rows.other_pot", "mine[0]", "mine[-1]",
    "theirs[0]", "sum(1 for seeds in mine if seeds == 0)",
    "sum(1 for seeds in theirs if seeds > 3)", "sum(at * seeds for at, seeds in enumerate(mine))",
    "abs(sum(mine) - sum(theirs))", "sum(seeds % 13 for seeds in theirs)",
)  # fmt: skip
CHOOSERS = (
    """
def choose(view, legal, rng):
    best, most = legal[0], None
    for move in legal:
        worth = value(view.play(move), view.mover)
        if most is None or worth > most:
            best, most = move, worth
    return best
""",
    """
def choose(view, legal, rng):
    return max(legal, key=lambda move: (value(view.play(move), view.mover), -move))
""",
    """
class Player:
    def __init__(self):
        self.turns = 0

    def choose(self, view, legal, rng):
        self.turns += 1
        ranked = sorted(legal, key=lambda move: value(view.play(move), view.mover))
        return ranked[-1] if self.turns else ranked[0]
""",
    """
def reply(view, side):
    return 0 if view.over else max(value(view.play(move), 1 - side) for move in view.legal)


def choose(view, legal, rng):
    scores = {}
    for move in legal:
        after = view.play(move)
        scores[move] = value(after, view.mover) - 0.1 * reply(after, view.mover)
    return [move for move in legal if scores[move] == max(scores.values())][0]
""",
)
FAIR = "def choose(view, legal, rng):\n    return legal[{at} % len(legal)]\n"
BROKEN = {
    "syntax.py": "def choose(view\n",
    "module.py": "import not_there\n" + FAIR.format(at=0),
    "nofunction.py": "answer = 42\n",
    "startup.py": "raise RuntimeError('at home it works')\n",
    "division.py": "def choose(view, legal, rng):\n    return legal[1 // (len(legal) - 3)]\n",
    "index.py": "def choose(view, legal, rng):\n    return legal[4]\n",
    "illegal.py": "def choose(view, legal, rng):\n    return 99\n",
    "none.py": "def choose(view, legal, rng):\n    pass\n",
    "exits.py": "import sys\ndef choose(view, legal, rng):\n    sys.exit(3)\n",
    "aborts.py": "import os\ndef choose(view, legal, rng):\n    os.abort()\n",
    "sometimes.py": (
        "def choose(view, legal, rng):\n    if rng.random() < 0.02:\n"
        "        raise ValueError('no idea')\n    return legal[0]\n"
    ),
    "hangs.py": "import time\ndef choose(view, legal, rng):\n    time.sleep(999)\n",
    "prints.js": "console.log('hello')\n",
    "notes.txt": "I will hand it in tomorrow.\n",
    "empty": "",  # a directory
}
SLOW = FAIR.replace("):\n", "):\n    import time\n    time.sleep({seconds})\n")
KEPT = {"choose", "view", "legal", "rng", "play", "rows", "own", "other", "own_pot", "other_pot",
        "mover", "margin", "over", "sum", "max", "min", "len", "abs", "sorted", "enumerate",
        "values", "self", "key", "range", "__init__"}  # fmt: skip


def expression(rng: random.Random, depth: int) -> str:
    """Return a random expression of the features."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(FEATURES)
    one, other = expression(rng, depth - 1), expression(rng, depth - 1)
    form = rng.choice(
        ("({} + {})", "({} - {})", "{} * {}", "max({}, {})", "min({}, {})",
         "({} if after.margin > 0 else {})", "({} // (1 + abs({})))")
    )  # fmt: skip
    return form.format(one, other)


def program(rng: random.Random) -> str:
    """Return a new bot: a random evaluation and one of four ways to choose."""
    lines = [
        "def value(after, side):",
        "    sign = 1 if after.mover == side else -1",
        "    mine, theirs = after.rows.own, after.rows.other",
        "    total = sign * after.margin * 10",
    ]
    for number in range(rng.randint(3, 6)):
        term, weight = expression(rng, 2), rng.randint(1, 9)
        lines += rng.choice((
            [f"    total += sign * {weight} * {term}"],
            [f"    part{number} = {term}", f"    total -= part{number} / {weight}"],
            [f"    if {term} > {weight}:", f"        total += sign * {weight}"],
            [f"    for step in range({weight % 3 + 1}):", f"        total += step * {term}"],
        ))  # fmt: skip
    return "\n".join([*lines, "    return total", "", rng.choice(CHOOSERS)])


def renamed(text: str, rng: random.Random) -> str:
    """Return the program with other names and comments."""
    names = sorted({*re.findall(r"[A-Za-z_]\w*", text)} - KEPT - {*keyword.kwlist})
    new = {name: f"{rng.choice('abcdefgh')}{at}" for at, name in enumerate(names)}
    text = re.sub(r"[A-Za-z_]\w*", lambda found: new.get(found[0], found[0]), text)
    return "# all my own work\n" + text.replace("return", "# the answer\n    return", 1)


def write_class(
    directory: Path, bots: int = 60, broken: int = 15, slow: int = 5, copies: int = 3,
    seed: int = 1, seconds: float = 0.02,
) -> dict[str, Sequence[str]]:  # fmt: skip
    """Write the bots; return the names of each sort, the copies with their original first."""
    rng, directory = random.Random(seed), Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    own = [f"author{number:02}" for number in range(bots - broken - slow - copies)]
    texts = {name: program(rng) for name in own}
    for name, text in texts.items():
        (directory / f"{name}.py").write_text(text)
    copied = [f"copy{number}" for number in range(copies)]
    for name in copied:
        (directory / f"{name}.py").write_text(renamed(texts[own[0]], rng))
    for number in range(slow):
        text = SLOW.format(at=number, seconds=seconds)
        (directory / f"slow{number}.py").write_text(text)
    faulty = list(BROKEN)[:broken]
    for name in faulty:
        if "." in name:
            (directory / name).write_text(BROKEN[name])
        else:
            (directory / name).mkdir(exist_ok=True)
    return {
        "own": own,
        "copies": [own[0], *copied][: copies + bool(copies)],
        "broken": [name.partition(".")[0] for name in faulty],
        "slow": [f"slow{number}" for number in range(slow)],
    }


if __name__ == "__main__":
    write_class(Path(sys.argv[1]), *map(int, sys.argv[2:]))
