"""The features of sowing games, under the name by which users' files import them."""

from games.sowing.features import *  # all of it: one list, there
from games.sowing.heuristic_functions import *  # the same
