"""Options that several kinds share: limits, noise, evaluation, bot limits."""

from collections.abc import Callable

from agents.core import LIMITS, Limit, Options, Weights
from agents.registry import EXTERNAL
from agents.sandbox.messages import BotLimits
from games import Game
from games.base.schema import GAME_TIME_KEY, Key, parse_size

MEMORY, PROCESSES, START_SECONDS = "512MB", 64, 10.0
MAX_TIMEOUTS = 20
TIMEOUT_SECONDS = 300.0  # long timeouts are limited to this total
# These replace the clocks of the experiment; the limit of a move still holds.
CLOCKS = (
    Key("turn_seconds", "float", "seconds for a move with its extra turns", above=0, high=86_400),
    GAME_TIME_KEY,
)
TIME_OPTIONS = ("seconds", *(key.name for key in CLOCKS))
DETERMINISTIC = Key(
    "deterministic", "bool", "true: it always answers the same position with the same move"
)
UNCHECKED = "unchecked"
EPSILON = Key("epsilon", "float", "the share of random moves", 0.0, low=0, high=1)
RANDOM_TIES = Key("random_ties", "bool", "choose at random between equally good moves", False)
NOISE = (EPSILON, RANDOM_TIES)


def bot_options(processes: int = PROCESSES) -> tuple[Key, ...]:
    """Return the options of bots; `processes` is the default limit of processes and threads."""
    return (
        *CLOCKS,
        DETERMINISTIC,
        Key("memory", "size", "memory of all its processes and files", MEMORY),
        Key("processes", "int", "the most processes and threads", processes, low=1, high=4096),
        Key("start_seconds", "float", "seconds to start and begin a game, at most", START_SECONDS,
            above=0, high=3600),
        Key("max_timeouts", "int", "timeouts after which it forfeits its other games (default: "
            "20, or as many as fit into five minutes)", low=1, high=10**9),
    )  # fmt: skip


def bot_limits(options: Options, processes: int = PROCESSES) -> BotLimits:
    """Return the limits that the options of a spec set."""
    return BotLimits(
        parse_size(options.get("memory", MEMORY)),
        options.get("processes", processes),
        float(options.get("start_seconds", START_SECONDS)),
    )


def external_reason(options: Options) -> str | None:
    """Return why a user's code may vary its answers; None if its options exclude that."""
    return None if options.get("deterministic") else EXTERNAL


def evaluation_options(weights: Callable[[Game], Weights | str]) -> tuple[Key, ...]:
    """Return the options of evaluations; `weights` are the defaults."""
    return (
        Key(
            "weights",
            "weights",
            "a number per feature, or per name in your WEIGHTS",
            weights,
            default_unless=("evaluate",),
        ),
        Key(
            "evaluate",
            "file",
            "your own evaluation in place of the features",
            default_function="evaluate",
            replaces=("features", "defaults"),
        ),
        Key(
            "compile",
            "any",
            '"unchecked": your evaluation is compiled without bounds checks',
            True,
            choices=(True, UNCHECKED),
        ),
        *bot_options(),
    )


def limit_options(depth: int | None = None, nodes: int | None = None) -> tuple[Key, ...]:
    """Return the options of the three limits; the defaults hold if none of them is set."""
    return (
        Key("depth", "int", "depth of the search in plies", depth, 1, 100, default_unless=LIMITS),
        Key("nodes", "int", "nodes per move", nodes, low=1, high=1e15, default_unless=LIMITS),
        Key("seconds", "float", "seconds per move", low=0.001, high=86_400),
    )


def limit_of(settings: Options) -> Limit:
    """Return the limits among the settings of a search."""
    return Limit(*(settings[name] for name in LIMITS))


def search_randomness_reason(options: Options) -> str | None:
    """Return why a search may vary its answers, or None."""
    if epsilon := options.get("epsilon"):
        return f"epsilon = {epsilon:g} makes it play some moves at random"
    if options.get("random_ties"):
        return "random_ties makes it choose between equal moves at random"
    for name in TIME_OPTIONS:
        if name in options:
            return f"{name} makes its moves depend on the machine; give it depth or nodes"
    return external_reason(options) if options.get("evaluate") else None


def evaluation_reason(options: Options) -> str | None:
    """Return which code of a user a search runs; None if it runs none."""
    evaluate = options.get("evaluate")
    return f"it evaluates by {evaluate}" if evaluate else None
