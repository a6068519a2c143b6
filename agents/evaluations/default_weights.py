"""What agents use where a spec says nothing: the weights of the game's pack."""

from agents.core import Weights
from agents.evaluations.weight_files import checked_weights
from games import Game


def classroom_weights(of: Game) -> Weights:
    """The weights of the classroom; every feature once where the pack names none."""
    classroom = of.defaults.classroom if of.has("defaults") else {}
    features = of.features if of.has("features") else ()
    return checked_weights(classroom or dict.fromkeys(features, 1.0), features)


def smart_weights(of: Game) -> Weights:
    """The best known weights, without those that mean nothing in this game."""
    weights = of.defaults.weights if of.has("defaults") else {}
    return checked_weights({k: v for k, v in weights.items() if k in of.features}, of.features)


def endgame_from(of: Game) -> int | None:
    """How little must be left for the exact endgame; None if the pack does not say."""
    return of.defaults.endgame if of.has("defaults") else None
