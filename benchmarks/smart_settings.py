"""Compare `smart` with one setting changed: python -m benchmarks.smart_settings [GAME ...].

Each changed agent plays the shipped `smart` at equal nodes, from openings that were not used to
choose weights. Prints a Markdown table.
"""

import argparse
import sys
from typing import NamedTuple

from agents.core import AgentSpec
from benchmarks.learned_strength import LearnedMatch, LearnedScore, play_match_by_lengths

SEED, LATER_SEED = 61_000, 71_000
HEAD = ("game", "nodes a move", "changed", "pairs", "result", "Elo over smart")


class SettingMatch(NamedTuple):
    """A changed setting of `smart` and the size of its match."""

    game: str
    nodes: int
    pairs: int  # of each length of openings
    option: str
    value: float
    seed: int = SEED


MATCHES = (
    *(SettingMatch("othello", 2_000, 80, "endgame", value) for value in (9, 10, 12, 13, 14)),
    *(SettingMatch("othello", 20_000, 30, "endgame", value) for value in (9, 12, 13)),
    *(SettingMatch("kalah(6,4)", 1_000, 250, "endgame", value) for value in (8, 10, 16)),
    *(
        SettingMatch("kalah(6,4)", 20_000, 100, "endgame", value, LATER_SEED)
        for value in (16, 20, 24)
    ),
)


def line(own: SettingMatch) -> str:
    """Play a match and return its row of the table."""
    usual = AgentSpec("smart", nodes=own.nodes)
    match = LearnedMatch(own.game, {"nodes": own.nodes}, own.pairs, 0.0)
    changed = usual.replace(**{own.option: own.value})
    found = LearnedScore(match, play_match_by_lengths(match, changed, usual, own.seed))
    elo = found.elo_words.removesuffix(" Elo")
    cells = (own.game, f"{own.nodes:,}", f"`{own.option} = {own.value:g}`", f"{3 * own.pairs:,}")
    return f"| {' | '.join((*cells, str(found.score), elo))} |"


def main(words: list[str] | None = None) -> int:
    """Print the rows of the given games, all by default."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.smart_settings")
    parser.add_argument("games", nargs="*", metavar="GAME")
    options = parser.parse_args(words)
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}", flush=True)
    for match in MATCHES:
        if not options.games or match.game in options.games:
            print(line(match), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
