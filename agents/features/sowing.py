"""Features and heuristic functions of sowing games."""

from games.sowing.features import *  # the game's package defines the names
from games.sowing.heuristic_functions import *
