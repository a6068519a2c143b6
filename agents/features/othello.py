"""The features of Othello, under the name by which users' files import them."""

from games.kernels.family import turned  # noqa: F401  # for whoever imports from here
from games.othello.features import *  # all of it: one list, there
from games.othello.heuristic_functions import *  # the same
