"""Directories in which bots may write where they have no root of their own: removed with them."""

import os
import re
from contextlib import suppress
from pathlib import Path

NAME = re.compile(r"pitflip-wall-([0-9]+)-.*")
MOST_FILES = 4096


def remove(directory: Path) -> None:
    """Remove a directory and its contents, whatever a bot put there; links are not followed."""
    with suppress(OSError):
        os.chmod(directory, 0o700, follow_symlinks=False)
    with suppress(OSError):
        top = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        while sum(_removed(top, name) for name in os.listdir(top)):
            pass
        os.close(top)
        directory.rmdir()


def _removed(top: int, name: str) -> bool:
    """Remove a file, or a directory after what is in it has moved up: bots nest thousands."""
    with suppress(OSError):
        os.unlink(name, dir_fd=top)
        return True
    with suppress(OSError):
        os.chmod(name, 0o700, dir_fd=top)
    with suppress(OSError):
        below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
        for inner in os.listdir(below):
            with suppress(OSError):  # a directory is moved only by who may write in it
                os.chmod(inner, 0o700, dir_fd=below)
            new = f"{os.urandom(8).hex()}"
            os.rename(inner, new, src_dir_fd=below, dst_dir_fd=top)
        os.close(below)
        os.rmdir(name, dir_fd=top)
        return True
    return False


def scratch_bytes(directory: Path, most: int) -> int:
    """What lies in a directory, counted until it is more than `most`; many files are too much."""
    total = files = 0
    for place, _, names in os.walk(directory):
        for name in names:
            files += 1
            with suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_blocks * 512
            if total > most or files > MOST_FILES:
                return most + 1
    return total


def cleaned(base: Path) -> None:
    """Remove what killed spawners left behind."""
    with suppress(OSError):
        for each in base.iterdir():
            found = NAME.fullmatch(each.name)
            if found and not Path(f"/proc/{found[1]}").exists():
                remove(each)
