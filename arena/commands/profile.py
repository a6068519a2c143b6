"""What sort of game it is: lengths, choices, draws, extra turns: pitflip profile GAME..."""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from games import Game, game
from games.base.cli import CommandParser, here
from games.base.errors import DONE, Mistake, run, status_of
from games.base.text import positive, whole

if TYPE_CHECKING:  # they load the compiler
    from arena.concluding.game_profile import Line

STRENGTHS = (None, 250, 1000, 4000)  # nodes a move; None: random moves
DOUBLED = 500  # nodes of the weaker of the two players that show what a doubling brings
GAMES, SEEDS, BEANS = range(2, 100_001), range(1 << 32), range(1, 256)
ROW = "{:<20} {:>7} {:>6} {:>6} {:>7} {:>7} {:>7} {:>7}  {}"
EXAMPLE = """\
example:
  pitflip profile "kalah(4,3)" "kalah-paper(4,3)" "owari(4,3)" --games 50"""


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandParser(
        prog=here("pitflip profile"),
        description="Plays games of equal players of several strengths from random openings of "
        "four plies and counts: one table over all the games that are named.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("games", nargs="+", metavar="GAME", help='such as "kalah(6,4)"')
    parser.add_argument("--games", dest="number", default="100", metavar="N", help="a row (100)")
    parser.add_argument("--seed", default="1", metavar="N", help="of all chance (1)")
    parser.add_argument(
        "--last-beans", default="16", metavar="N", help="extra turns are solved from here on (16)"
    )
    parser.add_argument(
        "--seconds", default="3", metavar="S", help="to look for the exact value of a game (3)"
    )
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command; 2 if there is no such game."""
    chosen = arguments().parse_args(words)
    return status_of("pitflip profile", lambda: profiled(chosen))


def profiled(chosen: argparse.Namespace) -> int:
    """Play, count and print; the exit status."""
    name = "pitflip profile"
    number, seed = (
        whole(name, "--games", chosen.number, GAMES),
        whole(name, "--seed", chosen.seed, SEEDS),
    )
    beans = whole(name, "--last-beans", chosen.last_beans, BEANS)
    seconds, games = positive("--seconds", chosen.seconds), [game(each) for each in chosen.games]
    for of in games:
        if of.over(of.start()):
            raise Mistake(f"{of.name} is over before it begins")
    print(
        ROW.format(
            "game", "nodes", "games", "plies", "moves", "forced", "extra", "draws", "first mover"
        )
    )
    strongest: dict[str, list[Line]] = {}
    for of in games:
        for text, lines in rows(of, number, seed):
            print(text, flush=True)
            strongest[of.name] = lines
    print("plies and moves: a game's mean from its opening on; extra: one has an extra turn and")
    print("another move, of all plies; first mover: points of those who began, with 95 % interval")
    for of in games:
        for line in facts(of, strongest[of.name], (number, seed, beans), seconds):
            print(f"{of.name}: {line}", flush=True)
    return DONE


def rows(of: Game, number: int, seed: int) -> Iterator[tuple[str, "list[Line]"]]:
    """A row of the table for every strength, with its games."""
    from arena.concluding.game_profile import counts_of, first_mover, self_play  # noqa: PLC0415
    from arena.stats.text import score_text  # noqa: PLC0415

    for nodes in STRENGTHS if of.has("features") else STRENGTHS[:1]:
        lines = self_play(of, nodes, number, seed)
        found = counts_of(of, lines)
        cells = (
            "random" if nodes is None else f"{nodes:,}",
            f"{found.games:,}",
            f"{found.plies / found.games:.1f}",
            f"{found.choices / max(1, found.plies):.2f}",
            share(found.forced, found.plies),
            share(found.extra, found.plies),
            share(found.draws, found.games),
            score_text(first_mover(of, lines)),
        )
        yield ROW.format(of.name, *cells).rstrip(), lines


def share(part: int, whole_: int) -> str:
    """A share in percent."""
    return f"{100 * part / whole_:.1f} %" if whole_ else "-"


def facts(
    of: Game, lines: "list[Line]", asked: tuple[int, int, int], seconds: float
) -> Iterator[str]:
    """What is not one number a strength: a doubling, extra turns, the exact value."""
    from arena.concluding.game_profile import (  # noqa: PLC0415
        best_extra_turns,
        doubling,
        exact_value,
    )
    from arena.stats.text import elo_text  # noqa: PLC0415
    from arena.terminal.human_game import words  # noqa: PLC0415

    number, seed, beans = asked
    if of.has("features"):
        elo = elo_text(doubling(of, DOUBLED, number, seed))
        yield f"{2 * DOUBLED:,} nodes against {DOUBLED:,}, a doubling: {elo}"
    if of.pack == "sowing" and of.rules.extra_turn != "no":
        found = best_extra_turns(of, lines, beans)
        worse = f"{share(found.worse, found.choices)} of {found.choices:,} choices"
        result = f"and changes the result in {share(found.result_worse, found.choices)}"
        yield f"the best extra turn is not best in {worse} with {beans} beans or less, {result}"
    bounds = exact_value(of, seconds)
    known = "nobody knows" if bounds is None else words(bounds)
    yield f"exact value for the first mover: {known}"


if __name__ == "__main__":
    run(main)
