"""Features and heuristic functions of Othello."""

from games.kernels.family import turned  # noqa: F401  # users' files import it from here
from games.othello.features import *  # the game's package defines the names
from games.othello.heuristic_functions import *
