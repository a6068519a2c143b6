"""Games of Othello in GGF, the Generic Game Format that Othello programs read."""

from arena.showing.exported import ExportedGame
from games import Game
from games.terminal import printable

WRITES, SUFFIX = "games", ".ggf"
BLACK, WHITE, EMPTY = "*", "O", "-"
PASS = "pass"
TIMED_OUT = "timeout"
INNOCENT = str.maketrans("[];", "(),")


def refusal(of: Game) -> str | None:
    """Why games of this kind cannot be written; None if they can."""
    if of.package == "games.othello" and not of.rules.adjacency:
        return None
    return f"ggf holds games of Othello by the standard rule, and this run played {of.name}"


def text(each: ExportedGame) -> str:
    """One game on one line: its tags, the board of the start, and every move with its mover."""
    fields = (
        ("GM", "Othello"),
        ("PC", f"pitflip {each.run}"),
        ("EV", each.experiment),
        ("DT", each.date),
        ("PB", each.first),
        ("PW", each.second),
        # Some programs refuse a game without ratings; one that is not known is 0.
        *((name, f"{elo or 0.0:.2f}") for name, elo in zip(("RB", "RW"), each.elos, strict=True)),
        ("RE", _result(each)),
        ("TI", "0"),
        ("TY", str(each.of.rules.size)),
        ("FM", "B" if each.first_mover == each.first else "W"),
        ("BO", _board(each.of)),
    )
    head = "".join(f"{name}[{_escaped(value)}]" for name, value in fields)
    # A pass is a move of its own, so that the sides always take turns.
    moves = "".join(f"{'BW'[ply % 2]}[{_move(word)}]" for ply, word in enumerate(each.moves))
    return f"(;{head}{moves};)\n"


def _move(word: str) -> str:
    return "pa" if word == PASS else word.upper()


def _result(each: ExportedGame) -> str:
    """Black's discs minus White's; a game lost by a fault counts every square."""
    if each.ending == "normal" or each.result == 0.5:
        return f"{each.margin if each.result != 0.5 else 0:+d}.000"
    squares = each.of.rules.cells if each.result == 1.0 else -each.of.rules.cells
    return f"{squares:+d}.000:{'t' if each.ending == TIMED_OUT else 'r'}"


def _board(of: Game) -> str:
    squares, side = of.text(of.start()).split()
    return f"{of.rules.size} {squares} {side}".replace("X", BLACK)


def _escaped(value: str) -> str:
    """The value without the marks of the format: programs read up to the next one of them."""
    return printable(value).translate(INNOCENT)
