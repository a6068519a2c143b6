"""The defaults of searches: what the game's pack recommends where a spec says nothing."""

from agents.core import Weights
from agents.evaluations.weight_files import checked_weights
from games import Game


def classroom_weights(of: Game) -> Weights:
    """The weights of the classroom; 1 for every feature if the pack names none."""
    classroom = of.defaults.classroom if of.has("defaults") else {}
    features = of.features if of.has("features") else ()
    return checked_weights(classroom or dict.fromkeys(features, 1.0), features)


def smart_weights(of: Game) -> Weights:
    """The best known weights, of the features that this game has."""
    weights = of.defaults.weights if of.has("defaults") else {}
    return checked_weights({k: v for k, v in weights.items() if k in of.features}, of.features)


def best_weights(of: Game) -> Weights | str:
    """The file of weights that were learned for this game, else the best weights of features."""
    learned = of.defaults.learned.get(of.name) if of.has("defaults") else None
    return smart_weights(of) if learned is None else str(learned)


def endgame_from(of: Game) -> int | None:
    """How many beans or empties are left when the endgame is solved; None if it never is."""
    return of.defaults.endgame if of.has("defaults") else None
