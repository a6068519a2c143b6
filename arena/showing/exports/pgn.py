"""Games as text in the manner of PGN: tags, then the moves as players of the game write them."""

import textwrap

from arena.showing.exported import ExportedGame
from games.terminal import printable

WRITES, SUFFIX = "games", ".pgn"
RESULTS = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}
WIDTH, TOGETHER = 80, "\0"  # a line does not end between a number and its move


def text(each: ExportedGame) -> str:
    """One game; White has side 0, FirstMover is the agent to move after the opening."""
    result = RESULTS[each.result]
    tags = {
        "Event": each.experiment,
        "Site": f"pitflip run {each.run}",
        "Date": each.date,
        "Round": f"{each.pair + 1}.{each.leg + 1}",
        "White": each.first,
        "Black": each.second,
        "FirstMover": each.first_mover,
        "Result": result,
        "Variant": each.of.name,
        "Opening": each.opening_moves,
        "PlyCount": str(each.plies),
        "Margin": str(each.margin),
        "Termination": each.ending,
    }
    head = "\n".join(f'[{name} "{_escaped(value)}"]' for name, value in tags.items())
    moves = " ".join(f"{ply}.{TOGETHER}{move}" for ply, move in enumerate(each.moves, 1))
    body = textwrap.fill(f"{moves} {result}".strip(), WIDTH, break_on_hyphens=False)
    return f"{head}\n\n{body.replace(TOGETHER, ' ')}\n\n"


def _escaped(value: str) -> str:
    return printable(value).replace("\\", "\\\\").replace('"', '\\"')
