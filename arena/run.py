"""The command `pitflip run`, as `python -m arena.run FILE`."""

import sys

from arena import prepare_process

prepare_process()

from arena.commands.registry import run_verb

if __name__ == "__main__":
    sys.exit(run_verb("run"))
