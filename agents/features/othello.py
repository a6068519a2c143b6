"""The features of Othello, under the name by which users' files import them."""

from games.othello.features import *  # noqa: F403  # all of it: one list, there
