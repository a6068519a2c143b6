"""What agents use where a spec says nothing: weights, when to solve the endgame."""

from agents.core import Weights
from agents.evaluations.weight_files import checked_weights, shipped_weights
from agents.features import feature_names, features_of
from games import Game

# Beans in play or empty squares from which a search is finished exactly within its budget.
ENDGAMES = {"sowing": 12, "othello": 11}


def classroom_weights(of: Game) -> Weights:
    """The weights of the classroom: pot difference; every Othello term once."""
    names = feature_names(of)
    return {"pot": (1.0,)} if "pot" in names else dict.fromkeys(names, (1.0,))


def smart_weights(of: Game) -> Weights:
    """The best known weights, without those that mean nothing in this game."""
    names = feature_names(of)
    shipped = shipped_weights(f"smart_{features_of(of.family_name)}")
    return checked_weights({k: v for k, v in shipped.items() if k in names}, names)


def endgame_from(of: Game) -> int:
    """How little must be left for the exact endgame."""
    return ENDGAMES[features_of(of.family_name)]
