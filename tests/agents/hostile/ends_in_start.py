"""Ends its process when a game begins."""
# ends: crashed

import os


class Bot:
    def start(self, seed):
        os._exit(4)

    def choose(self, view, legal, rng):
        return legal[0]


choose = Bot
