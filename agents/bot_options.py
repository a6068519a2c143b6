"""The options of everything that runs a user's code: what it may use, what is said about it."""

from agents.core import Settings
from agents.kinds import UNKNOWN
from agents.wall.requests import BotLimits
from games.keys import Key, size_bytes

MEMORY, PROCESSES, START_SECONDS = "512MB", 64, 10.0
MOST_RESTARTS, MOST_TIMEOUTS = 10, 20
TIMEOUT_SECONDS = 300.0  # fewer timeouts where they take longer than this in all

# Beside the limit of a move; instead of those of the experiment.
CLOCKS = (
    Key("turn_seconds", "float", "for a move with its extra turns", above=0, high=86_400),
    Key("game_seconds", "float", "for all its moves of a game", above=0, high=86_400),
    Key("increment", "float", "seconds added to game_seconds after a move", low=0, high=3600),
)
DETERMINISTIC = Key(
    "deterministic", "bool", "true: it answers the same question in the same way, always"
)


def bot_options(processes: int = PROCESSES) -> tuple[Key, ...]:
    """The options; `processes` is how many it may have by default, threads counted."""
    return (
        *CLOCKS,
        DETERMINISTIC,
        Key("memory", "size", "what all its processes and files may take", MEMORY),
        Key("processes", "int", "how many processes and threads", processes, low=1, high=4096),
        Key("start_seconds", "float", "to start and to begin a game", START_SECONDS,
            above=0, high=3600),
        Key("max_restarts", "int", "failures for each game that it finished, and so many once, "
            "before it forfeits the rest", MOST_RESTARTS, low=1, high=10**9),
        Key("max_timeouts", "int", "timeouts in all before it forfeits the rest; usually 20, or "
            "as many as fit into five minutes", low=1, high=10**9),
    )  # fmt: skip


def bot_limits(options: Settings, processes: int = PROCESSES) -> BotLimits:
    """The limits that a spec's options set."""
    return BotLimits(
        size_bytes(options.get("memory", MEMORY)),
        options.get("processes", processes),
        float(options.get("start_seconds", START_SECONDS)),
    )


def undeclared(options: Settings) -> str | None:
    """Why a user's code may answer the same position differently; None if that is denied."""
    return None if options.get("deterministic") else UNKNOWN
