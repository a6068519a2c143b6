"""Read files of git repositories at a revision."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from games.base.text import quote

LARGEST = 4 << 20  # bytes of one file, as of those that a run keeps
WAIT_SECONDS = 10.0
MOST_LISTED = 1000  # revisions
REVISION = re.compile(r"[\w@][\w./@{}~^+-]{0,199}")  # never an option of git's
LINK, DIRECTORY, PROGRAM = "120000", "040000", "100755"
# No hook, no pager, no prompt, no network: the content of a repository is only data.
QUIET = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--no-pager")
SETTINGS = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C",
}


class VersionError(ValueError):
    """There is no such version of a file; one line says why."""


class Commit(NamedTuple):
    """A revision: its whole name, its day, its first line."""

    name: str
    day: str
    subject: str

    @property
    def short(self) -> str:
        """The name as people write it."""
        return self.name[:10]


class FileContent(NamedTuple):
    """A file of a revision."""

    text: bytes
    program: bool = False


class Revision(NamedTuple):
    """All files of a repository at one commit, by their places below its top directory."""

    top: Path
    commit: str

    def place(self, path: Path) -> str:
        """Return the place of a file in the repository."""
        try:
            return path.relative_to(self.top).as_posix()
        except ValueError:
            raise VersionError(f"{path.name} lies outside of the git repository") from None

    def kind(self, place: str) -> str:
        """Return the mode of a file as git writes it; "" if the commit does not have the file."""
        listed = git(
            self.top, "ls-tree", "-z", "--full-tree", self.commit, "--", literal_pathspec(place)
        )
        entries = [each for each in listed.decode(errors="replace").split("\0") if each]
        found = [each for each in entries if each.partition("\t")[2] == place]
        return found[0].partition(" ")[0] if found else ""

    def below(self, place: str) -> list[str]:
        """Return the places of all files below a directory."""
        words = ("ls-tree", "-r", "-z", "--name-only", "--full-tree", self.commit)
        found = git(self.top, *words, *([] if place == "." else ["--", literal_pathspec(place)]))
        return [each for each in found.decode(errors="surrogateescape").split("\0") if each]

    def content(self, place: str) -> FileContent:
        """Return the content of a file; a VersionError if there is none of a sensible size."""
        kind, name = self.kind(place), quote(place)
        if not kind:
            raise VersionError(f"there is no file {name} in revision {self.commit[:10]}")
        if kind in (LINK, DIRECTORY) or not kind.startswith("100"):
            raise VersionError(f"{name} is no file in revision {self.commit[:10]}")
        size = int(git(self.top, "cat-file", "-s", f"{self.commit}:{place}"))
        if size > LARGEST:
            raise VersionError(f"{name} is too large: at most {LARGEST:,} bytes are read")
        return FileContent(
            git(self.top, "cat-file", "blob", f"{self.commit}:{place}"), kind == PROGRAM
        )


def open_revision(path: Path, revision: str) -> Revision:
    """Return the repository of a file, at a revision; the file itself may be gone."""
    beside = next(each for each in path.parents if each.is_dir())
    if not REVISION.fullmatch(revision) or ".." in revision:
        raise VersionError(f"a revision is a name such as HEAD~1, got {quote(revision)}")
    try:
        top = Path(os.fsdecode(git(beside, "rev-parse", "--show-toplevel")).rstrip("\n"))
    except VersionError as error:
        why = "" if str(error).startswith("not a git repository") else f" ({error})"
        raise VersionError(f"{quote(path.name)} is in no git repository{why}") from None
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    try:
        commit = git(top, *words).decode().strip()
    except VersionError:
        raise VersionError(
            f"there is no revision {quote(revision)}{_recent_commits(top, path)}"
        ) from None
    return Revision(top, commit)


def _recent_commits(top: Path, path: Path) -> str:
    """Return the newest revisions of a file, for the message that one does not exist."""
    try:
        newest = list_commits([path], 3, top)
    except VersionError:
        return ""
    names = ", ".join(each.short for each in newest)
    return f" (the latest of {path.name}: {names})" if names else ""


def list_commits(paths: Sequence[Path], most: int, top: Path | None = None) -> list[Commit]:
    """Return the newest commits that changed one of the files, the newest first."""
    if top is None:
        top = open_revision(paths[0], "HEAD").top
    places = [literal_pathspec(Revision(top, "").place(path)) for path in paths]
    form = "--format=%H%x09%as%x09%s"
    words = ("log", f"--max-count={min(most, MOST_LISTED)}", form, "HEAD", "--", *places)
    lines = git(top, *words).decode(errors="replace").splitlines()
    return [Commit(*line.split("\t", 2)) for line in lines if line.count("\t") >= 2]


def literal_pathspec(place: str) -> str:
    """Return a place that git takes literally, whatever characters it has."""
    return f":(top,literal){place}"


def git(directory: Path, *words: str) -> bytes:
    """Return git's output in a directory; a VersionError has its first line if it fails."""
    if shutil.which("git") is None:
        raise VersionError("git is not there")
    inherited = {name: os.environ[name] for name in os.environ if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", *QUIET, *words],
            cwd=directory,
            env=inherited | SETTINGS,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=WAIT_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        raise VersionError(f"git does not answer: {error}") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise VersionError(said[0].removeprefix("fatal: ") if said else "git found nothing")
    return done.stdout
