"""The keys of an agent's table that every bot behind the wall has, and the limits they set."""

from agents.core import Settings
from agents.wall.requests import BotLimits
from games.keys import Key, size_bytes

DEFAULTS = BotLimits()
MEGABYTE = 1 << 20

LIMIT_KEYS = (
    Key("seconds", "float", "how long it may think about a move", above=0, high=86_400),
    Key("memory", "size", "what it may use, its processes together",
        f"{DEFAULTS.memory // MEGABYTE}MB", low=MEGABYTE),
    Key("processes", "int", "how many processes and threads it may have", DEFAULTS.processes,
        low=1, high=10_000),
    Key("start_seconds", "float", "how long it may take to start", DEFAULTS.start_seconds,
        above=0, high=3600),
    Key("max_restarts", "int", "after how many failures in a row it forfeits unasked", 10,
        low=1, high=1_000_000),
    Key("deterministic", "bool", "whether it answers the same question the same way"),
)  # fmt: skip


def bot_limits(options: Settings) -> BotLimits:
    """What a bot of these options may use."""
    memory, processes = options.get("memory"), options.get("processes")
    return BotLimits(
        DEFAULTS.memory if memory is None else size_bytes(memory),
        DEFAULTS.processes if processes is None else processes,
        options.get("start_seconds") or DEFAULTS.start_seconds,
    )
