"""The commands as functions; those of `pitflip game` take the game first."""

from collections.abc import Sequence
from functools import partial
from unittest.mock import patch

from agents.kinds.human import Dialogue
from arena.commands.registry import run_verb


def of_game(action: str, words: Sequence[str]) -> int:
    if list(words) == ["--help"]:
        return run_verb("game", ["kalah", action, "--help"])
    game, *rest = words
    return run_verb("game", [game, action, *rest])


def plan(words: Sequence[str]) -> int:
    return run_verb("run", [*words, "--dry-run"])


def play(words: Sequence[str], dialogue: Dialogue | None = None) -> int:
    with patch("arena.commands.play.Dialogue", (lambda: dialogue) if dialogue else Dialogue):
        return run_verb("play", words)


run, match, versus, tune, learn, new, check, serve = (
    partial(run_verb, verb)
    for verb in ("run", "match", "versus", "tune", "learn", "new", "check", "serve")
)
report, export, rate, verify, judge, runs, class_ = (
    partial(run_verb, verb)
    for verb in ("report", "export", "rate", "verify", "judge", "runs", "class")
)
explain, replay, perft, solve = (
    partial(of_game, action) for action in ("explain", "replay", "perft", "solve")
)
