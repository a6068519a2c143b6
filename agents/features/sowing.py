"""The features of sowing games, under the name by which users' files import them."""

from games.sowing.board_words import *  # noqa: F403  # the same
from games.sowing.features import *  # noqa: F403  # all of it: one list, there
