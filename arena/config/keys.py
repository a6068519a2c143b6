"""The keys at the top of an experiment file, `[stop]` too; their values as `Settings`."""

import re
from dataclasses import dataclass, fields

from arena.config.toml_file import Problems
from arena.stats.sprt import EloModel, SprtPlan
from games.base.schema import GAME_TIME_KEY, Key, KeyValues, default_values
from games.base.text import quote

ELO0 = Key("elo0", "float", "the difference that is too little", required=True)
ELO1 = Key("elo1", "float", "the difference that is enough", required=True)
SPRT_KEYS = (
    ELO0,
    ELO1,
    Key("alpha", "float", "the chance to accept elo1 when elo0 holds", 0.05),
    Key("beta", "float", "the chance to accept elo0 when elo1 holds", 0.05),
    Key(
        "model",
        "text",
        "the scale of both",
        "logistic",
        choices=tuple(model.value for model in EloModel),
    ),
)
ROSTER_KEYS = (
    Key(
        "directory",
        "text",
        "where the bots lie",
        required=True,
        example=', as in directory = "bots"',
    ),
    Key("options", "table", "what the table of every bot has, such as { seconds = 2 }"),
    Key("must_survive", "text", "a file of positions that no bot may fail in, one a line"),
)
EXPERIMENT_KEYS = (
    Key("game", "text", "what is played", required=True, example=', as in game = "kalah(6,4)"'),
    Key("name", "text", "of the experiment; usually that of its file"),
    Key("pairs", "int", "how many pairings each match has", low=1, high=10**9),
    Key("seed", "int", "where everything random comes from", 1, low=0, high=2**63 - 1),
    Key("schedule", "any", "who meets whom", "round_robin"),  # read by `way_tables`
    Key("openings", "any", "where games begin"),  # likewise
    Key("keep_moves", "bool", "whether the moves of all games are stored"),
    Key("search_info", "bool", "whether values, depths and nodes of moves are stored", False),
    Key(
        "move_seconds",
        "float",
        "how long an agent may take; usually 5 for a bot without a clock, else 60",
        None,
        above=0,
        high=86_400,
    ),
    Key(
        "turn_seconds",
        "float",
        "how long a move with its extra turns may take",
        None,
        above=0,
        high=86_400,
    ),
    GAME_TIME_KEY,
    Key(
        "isolation",
        "text",
        "whether bots may play behind weak walls",
        "any",
        choices=("any", "required"),
    ),
    Key("anchor", "text", 'the agent that is held at a rating, as in "smart=1500"'),
    Key(
        "stop",
        "table",
        "when to stop before all pairs are played",
        keys=(Key("sprt", "table", "a sequential test", required=True, keys=SPRT_KEYS),),
    ),
    Key("standings", "text", "how agents are ranked", "elo", choices=("elo", "points")),
    Key("roster", "table", "a class of bots, each an agent", keys=ROSTER_KEYS),  # made into agents
    # Read by `agent_tables`, with what their kinds declare.
    Key("agents", "table", "who plays", required=True, example=", as in [agents.smart]"),
    Key("checks", "any", "what is claimed", ()),  # read by `check_tables`
    Key("sweep", "any", "values that are tried in turn"),  # read by `sweep_table`
    Key("tune", "any", "what is tuned"),  # means something to `pitflip tune` only
    Key("learn", "any", "what is learned"),  # and this to `pitflip learn`
)
TOP_NAMES = tuple(key.name for key in EXPERIMENT_KEYS)
NAME = re.compile(r"[^./\\\x00-\x20][^/\\\x00-\x1f]{0,99}")  # what a directory can be called


@dataclass(frozen=True, slots=True)
class Settings:
    """What a file says besides its agents, openings and checks, as far as it is right."""

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
    stop: SprtPlan | None


def top_level_hint(key: str) -> str:
    """Return where a key belongs that stands in a table but is one of the top level."""
    return "it belongs above the first [table] of the file" if key in TOP_NAMES else ""


def is_valid_name(name: str) -> bool:
    """Whether a directory of ours can be called so, and the name be printed as it is."""
    return NAME.fullmatch(name) is not None and name.isprintable()


def read_settings(values: KeyValues, stem: str, problems: Problems) -> Settings:
    """The settings among the values of `TOP`; what is wrong with them is said.

    `stem` is what the file is called, which is the name if it gives none.
    """
    plain = {**default_values(EXPERIMENT_KEYS), **values}
    plain["name"] = stem if plain["name"] is None else plain["name"]
    if not is_valid_name(plain["name"]):
        message = f"name must be a name that a directory can have, got {quote(plain['name'])}"
        problems.add(("name",), message)
    sprt = (plain["stop"] or {}).get("sprt", {})
    plain["stop"] = _read_sprt(sprt, problems) if len(sprt) == len(SPRT_KEYS) else None
    return Settings(**{field.name: plain[field.name] for field in fields(Settings)})


def _read_sprt(values: KeyValues, problems: Problems) -> SprtPlan | None:
    """The sequential test; None if it is impossible, which is said."""
    try:
        return SprtPlan(**{**values, "model": EloModel(values["model"])})
    except ValueError as error:
        problems.add(("stop", "sprt"), str(error), ("stop", "sprt"))
        return None
