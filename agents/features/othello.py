"""The features of Othello, under the name by which users' files import them."""

from games.kernels.family import turned  # noqa: F401  # for whoever imports from here
from games.othello.board_words import *  # noqa: F403  # the same
from games.othello.features import *  # noqa: F403  # all of it: one list, there
