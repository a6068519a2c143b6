"""The `[learn]` table of an experiment file as it is written: keys, types and ranges."""

from dataclasses import dataclass, replace

from arena.planning.openings_spec import OpeningsSpec
from arena.reading.file_tables import ALPHA, BETA, TOP
from arena.stats.sprt import SprtPlan
from games.keys import Key, KeyValues, defaults

AUTO = "auto"
MOST_GAMES, MOST_ROUNDS = 10_000_000, 20
MATCH = (
    Key("nodes", "int", "positions a move for both; without it the teacher's limits", low=1),
    Key("elo0", "float", "the difference that is too little", 0.0),
    Key("elo1", "float", "the difference that is enough", 20.0),
    ALPHA,
    BETA,
    Key("pairs", "int", "pairings at most", 500, low=10, high=10**6),
)
LEARN = (
    Key("teacher", "text", "who plays the first games", required=True),
    Key("agent", "text", "whose weights are learned; usually the teacher"),
    Key("tables", "text", "what has weights: features, patterns, holes, pairs"),
    Key("patterns", "table", 'patterns of your own, as in corner = "a1 b1 a2"'),
    Key("phases", "int", "parts of the game with weights of their own", low=1, high=64),
    Key("games", "any", "games of a round, or a list with those of each", 20_000),
    Key("from", "paths", "runs whose games are learned from, in place of new ones", ()),
    Key("rounds", "int", "how often the winner plays new games", 1, low=1, high=MOST_ROUNDS),
    Key("ridge", "any", "positions that hold a weight at 0", AUTO),
    Key("refits", "int", "fits more, labelled by the positions that followed", 0, low=0, high=10),
    Key("trust", "float", "of such a label, the share of what came later", 0.8, low=0, high=1),
    Key("held_out", "float", "the share of games that only test", 0.05, low=0.01, high=0.5),
    Key("opening_plies", "numbers", "from so many random moves to so many"),
    Key("solve_from", "int", "how much is left where games are solved; -1: never", low=-1, high=40),
    Key("curve", "bool", "whether a sixteenth and a quarter of the games are tried too", False),
    Key("matters", "bool", "whether each group of tables is left out in turn", False),
    Key("match", "table", "the match that decides about a round", keys=MATCH),
)
LEARN_TOP = tuple(
    replace(key, type="table", required=True, keys=LEARN) if key.name == "learn" else key
    for key in TOP
)
MATCH_OPENINGS = OpeningsSpec("plies", {"plies": (7, 9)})  # shorter than any that is learned from


@dataclass(frozen=True, slots=True)
class MatchTable:
    """The match of the weights of a round against those before it."""

    nodes: int | None
    elo0: float
    elo1: float
    alpha: float
    beta: float
    pairs: int

    def plan(self) -> SprtPlan:
        """The test; a ValueError says why there is none."""
        return SprtPlan(self.elo0, self.elo1, self.alpha, self.beta)


def match_table(values: KeyValues | None) -> MatchTable:
    """The match with the values of `MATCH`."""
    return MatchTable(**(defaults(MATCH) | dict(values or {})))
