"""The keys at the top level of an experiment file, and of `[stop]` and `[roster]`."""

import re
from dataclasses import dataclass, fields

from arena.config.toml_file import Problems
from arena.stats.sprt import EloModel, SprtPlan
from arena.stats.stopping import MAX_WIDTH, MIN_WIDTH, StopPlan, WidthPlan
from games.base.schema import GAME_TIME_KEY, Key, KeyValues, default_values
from games.base.text import quote

ELO0 = Key("elo0", "float", "the Elo difference of the null hypothesis", required=True)
ELO1 = Key("elo1", "float", "the Elo difference of the alternative, above elo0", required=True)
SPRT_KEYS = (
    ELO0,
    ELO1,
    Key("alpha", "float", "the error rate of accepting elo1 when elo0 holds", 0.05),
    Key("beta", "float", "the error rate of accepting elo0 when elo1 holds", 0.05),
    Key(
        "model",
        "text",
        "the scale of elo0 and elo1",
        "logistic",
        choices=tuple(model.value for model in EloModel),
    ),
)
STOP_KEYS = (
    Key("sprt", "table", "a sequential test", keys=SPRT_KEYS),
    Key(
        "width",
        "float",
        "stop when half the width of the 95 % interval is at most this many Elo",
        low=MIN_WIDTH,
        high=MAX_WIDTH,
        example=", as in stop = { width = 20 }",
    ),
)
ROSTER_KEYS = (
    Key(
        "directory",
        "text",
        "the directory of the bots",
        required=True,
        example=', as in directory = "bots"',
    ),
    Key("options", "table", "options of every bot, such as { seconds = 2 }"),
    Key("must_survive", "text", "a file of positions that every bot must answer, one per line"),
)
EXPERIMENT_KEYS = (
    Key(
        "game",
        "text",
        "the game with its sizes and rules",
        required=True,
        example=', as in game = "kalah(6,4)"',
    ),
    Key("name", "text", "the name of the experiment (default: the name of the file)"),
    Key(
        "pairs",
        "int",
        "pairs per match: a pair is one opening played from both sides",
        low=1,
        high=10**9,
    ),
    Key("seed", "int", "the seed of all random choices", 1, low=0, high=2**63 - 1),
    Key("schedule", "any", "which agents meet", "round_robin"),
    Key("openings", "any", "the openings (default: { random_plies = 6 })"),
    Key("keep_moves", "bool", "store the moves of all games (default: below 100,000 games)"),
    Key("search_info", "bool", "store what agents report about moves: value, depth, nodes", False),
    Key(
        "move_seconds",
        "float",
        "seconds for a move (default: 5 for a bot without a clock, else 60)",
        None,
        above=0,
        high=86_400,
    ),
    Key(
        "turn_seconds",
        "float",
        "seconds for a move with its extra turns",
        None,
        above=0,
        high=86_400,
    ),
    GAME_TIME_KEY,
    Key(
        "isolation",
        "text",
        "required: refuse to play if the sandbox is weak",
        "any",
        choices=("any", "required"),
    ),
    Key("anchor", "text", 'the agent whose rating is fixed, such as "smart=1500"'),
    Key(
        "stop",
        "table",
        "a rule that ends the run before all pairs are played",
        keys=STOP_KEYS,
    ),
    Key(
        "standings", "text", "rank agents by rating or by points", "elo", choices=("elo", "points")
    ),
    Key("roster", "table", "a directory of bots, each an agent", keys=ROSTER_KEYS),
    Key(
        "agents",
        "table",
        'the agents by name: up to 40 characters, without " beats "',
        required=True,
        example=", as in [agents.smart]",
    ),
    Key("checks", "any", "claims about the result", ()),
    Key("sweep", "any", "lists of values: each combination is a run"),
    Key("tune", "any", "a search for better weights or options"),
    Key("learn", "any", "learning of weights from games"),
)
TOP_NAMES = tuple(key.name for key in EXPERIMENT_KEYS)
NAME = re.compile(r"[^./\\\x00-\x20][^/\\\x00-\x1f]{0,99}")  # names of directories


@dataclass(frozen=True, slots=True)
class Settings:
    """The valid values of the top level, without agents, openings and checks."""

    game: str | None
    name: str
    pairs: int | None
    seed: int
    keep_moves: bool | None
    search_info: bool
    move_seconds: float | None
    turn_seconds: float | None
    game_time: str | None
    isolation: str
    anchor: str | None
    stop: StopPlan | None


def top_level_hint(key: str) -> str:
    """Return the hint that a key belongs to the top level; empty for other keys."""
    return "it belongs above the first [table] of the file" if key in TOP_NAMES else ""


def is_valid_name(name: str) -> bool:
    """Return whether a directory can have this name and all its characters are printable."""
    return NAME.fullmatch(name) is not None and name.isprintable()


def read_settings(values: KeyValues, stem: str, problems: Problems) -> Settings:
    """Return the settings among the values of the top level.

    `stem` is the name of the file, the default name of the experiment.
    """
    plain = {**default_values(EXPERIMENT_KEYS), **values}
    plain["name"] = stem if plain["name"] is None else plain["name"]
    if not is_valid_name(plain["name"]):
        message = f"name must be a valid name of a directory, got {quote(plain['name'])}"
        problems.add(("name",), message)
    plain["stop"] = None if plain["stop"] is None else _read_stop(plain["stop"], problems)
    return Settings(**{field.name: plain[field.name] for field in fields(Settings)})


def _read_stop(stop: KeyValues, problems: Problems) -> StopPlan | None:
    """Return the stop rule; report an impossible one and return None."""
    values, width = stop.get("sprt"), stop.get("width")
    if (values is None) == (width is None):
        if values is None and problems.source.tables["stop"]:
            return None  # its key or value is wrong, which is reported
        got = "neither" if values is None else "both"
        message = f"exactly one of sprt and width must be given, got {got}"
        problems.add(("stop",), message, ("stop",))
        return None
    if values is None:
        assert width is not None
        return WidthPlan(width)
    if len(values) != len(SPRT_KEYS):
        return None
    try:
        return SprtPlan(**{**values, "model": EloModel(values["model"])})
    except ValueError as error:
        problems.add(("stop", "sprt"), str(error), ("stop", "sprt"))
        return None
