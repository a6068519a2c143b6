"""The options that several kinds share: limits, noise, evaluations."""

from collections.abc import Callable

from agents.bot_options import bot_options, undeclared
from agents.core import Limit, Settings, Weights
from games import Game
from games.keys import Key

LIMITS = ("depth", "nodes", "seconds")

EPSILON = Key("epsilon", "float", "the share of moves played at random", 0.0, low=0, high=1)
RANDOM_TIES = Key("random_ties", "bool", "one of several equal moves is chosen at random", False)
NOISE = (EPSILON, RANDOM_TIES)


def evaluation(weights: Callable[[Game], Weights | str]) -> tuple[Key, ...]:
    """How a search evaluates a position; `weights` are the defaults."""
    return (
        Key(
            "weights",
            "weights",
            "a number for each feature, or for each name in your WEIGHTS",
            weights,
            beside=("evaluate",),
        ),
        Key(
            "evaluate",
            "file",
            "your own evaluation instead of the features",
            entry="evaluate",
            replaces=("features", "defaults"),
        ),
        Key("compile", "bool", "false runs your evaluation in Python, slowly", True),
        Key("trusted", "bool", "true compiles it without bounds checks", False),
        *bot_options(),
    )


def limits(depth: int | None = None, nodes: int | None = None) -> tuple[Key, ...]:
    """The three limits, with the defaults for a spec that sets none of them."""
    return (
        Key("depth", "int", "how many plies a search looks ahead", depth, 1, 100, beside=LIMITS),
        Key(
            "nodes",
            "int",
            "how many positions a search looks at for a move",
            nodes,
            low=1,
            high=1e15,
            beside=LIMITS,
        ),
        Key(
            "seconds", "float", "how many seconds a search takes for a move", low=0.001, high=86_400
        ),
    )


def limit_of(settings: Settings) -> Limit:
    """The limits among the settings of a search."""
    return Limit(*(settings[name] for name in LIMITS))


def varies(options: Settings) -> str | None:
    """Why a compiled agent may answer the same position differently."""
    if epsilon := options.get("epsilon"):
        return f"epsilon = {epsilon:g} makes it play some moves at random"
    if options.get("random_ties"):
        return "random_ties makes it choose between equal moves at random"
    for name in ("seconds", "turn_seconds", "game_seconds"):
        if name in options:
            return f"{name} makes its moves depend on the machine; give it depth or nodes"
    return undeclared(options) if options.get("evaluate") else None


def users_code(options: Settings) -> str | None:
    """Which code of a user's runs in a search."""
    evaluate = options.get("evaluate")
    return f"it evaluates by {evaluate}" if evaluate else None
