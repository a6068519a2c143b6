"""The reference page of features and heuristic functions."""

import importlib
import inspect
from collections.abc import Iterable
from types import ModuleType

from tools.reference.pages import GENERATED, markdown_page, markdown_table

PACKS = {"sowing": "Kalah and Owari", "othello": "Othello"}
NOTES = {
    "sowing": "Holes have the numbers on the mover's board, as its legal moves have. South's holes "
    "in `kalah(6,4)` are 1 to 6 from the left, North's 6 to 1; in Owari 0 to 5 and 7 to 12. An "
    "evaluation always sees the mover as South, so hole 1 is the farthest from the pot and hole 6 "
    "next to it (in Owari 0 and 5). `last_lands_in` returns `OWN_POT`, `OTHER_ROW`, `OTHER_POT` "
    "or `NOWHERE` (-1 to -4) if it is not an own hole.",
    "othello": "Squares are numbered row by row from 0: on 8x8, a1 is 0, h1 is 7 and h8 is 63. "
    "`square(D, 3)` is d3; `A` to `P` are the columns 1 to 16.",
}
TERMS = {
    "sowing": "A feature counts for the mover minus the opponent.",
    "othello": "A feature counts 100 (a - b) / (|a| + |b|), where a is the mover's count and b the "
    "opponent's.",
}


def heuristic_functions_page() -> str:
    """Return the page of all features and heuristic functions."""
    parts = [
        "# Heuristic functions",
        GENERATED,
        "Functions that read a position, for [evaluations](../how-to/write-an-evaluation.md) and "
        "[bots](python-bots.md). In an evaluation every function takes `rules, position` first: "
        "`hole(rules, position, 5)`. A bot calls it on its view: `view.hole(5)`.",
        "All functions speak of the *mover*, the side to move. `turned(position)` (for a bot: "
        "`view.turned()`) is the same board with the other side to move. A hole or square that "
        "does not exist raises an `IndexError`. Features can also have a weight in the `weights` "
        "of an agent.",
    ]
    for pack, title in PACKS.items():
        package = importlib.import_module(f"games.{pack}")
        functions = importlib.import_module(f"games.{pack}.heuristic_functions")
        features = importlib.import_module(f"games.{pack}.features")
        parts += [f"## {title}", NOTES[pack], f"Import them from `agents.features.{pack}`."]
        parts += [_rows(functions, package.HEURISTIC_FUNCTIONS), TERMS[pack]]
        if needs := [f"`{name}`" for name in getattr(package, "FEATURE_NEEDS", ())]:
            parts.append(f"Only if the rules of the game have it: {', '.join(needs)}.")
        parts.append(_rows(features, package.FEATURES))
    return markdown_page(parts)


def _rows(module: ModuleType, names: Iterable[str]) -> str:
    rows = []
    for name in names:
        function = inspect.unwrap(getattr(module, name))
        words = ", ".join(list(inspect.signature(function).parameters)[2:])
        line = (function.__doc__ or "").partition("\n")[0].removeprefix("Return ").rstrip(".")
        rows.append((f"`{name}({words})`", line[:1].lower() + line[1:]))
    return markdown_table(("function", "value"), rows)
