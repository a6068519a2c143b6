"""Play an experiment: python -m arena.run experiments/smart_vs_bad.toml."""

import sys

from arena import prefer_own_packages

prefer_own_packages()

from arena.commands.run import main

if __name__ == "__main__":
    sys.exit(main())
