"""Tune an agent's weights: python -m arena.tune experiments/tune_kalah.toml."""

import sys

from arena import prefer_own_packages

prefer_own_packages()

from arena.commands.tune import main

if __name__ == "__main__":
    sys.exit(main())
