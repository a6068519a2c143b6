"""Pack a run into one zip for others: pitflip share results/smart_vs_bad/2f3de8a327."""

import argparse
import shlex
import sys
from pathlib import Path

from games.base.cli import CommandParser, here
from games.base.errors import DONE, say, status_of


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandParser(
        prog=here("pitflip share"),
        description="Pack the page, the tables, the plan and the users' files of a finished run "
        "into one zip, which arena.verify accepts.",
        epilog="Paths of this machine are left out; run.log and the page hold what bots said.",
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="a run's directory")
    parser.add_argument("--to", type=Path, metavar="FILE", help="not EXPERIMENT-RUN.zip, but FILE")
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command; 2 if there is no finished run."""
    chosen = arguments().parse_args(words)
    return status_of("pitflip share", lambda: shared(chosen))


def shared(chosen: argparse.Namespace) -> int:
    """Write the zip; the exit status."""
    # Only now, so that help is answered before anything large is loaded.
    from arena.keeping.shared_run import pack, stored_run  # noqa: PLC0415
    from arena.storage.versions import kept_file  # noqa: PLC0415

    stored = stored_run(chosen.run)
    missing = [
        name for name in stored.get("files", {}) if kept_file(chosen.run, stored, name) is None
    ]
    for name in missing:
        say(f"{name} is not in it: the run has kept no copy, and verifying needs the file itself")
    path = chosen.to or Path(f"{Path(stored['experiment']).name}-{stored['digest']}.zip")
    inside = pack(chosen.run, stored, path)
    check = here(shlex.join(["pitflip", "verify", str(path)]))
    say(f"packed: {path} ({len(inside)} files; to check it: {check})")
    return DONE


if __name__ == "__main__":
    sys.exit(main())
