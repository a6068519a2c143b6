"""Files of git repositories at a revision."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from games.base.text import quote

MAX_BYTES = 4 << 20  # of one file, as of the copies that a run keeps
WAIT_SECONDS = 10.0
MAX_COMMITS = 1000
REVISION = re.compile(r"[\w@][\w./@{}~^+-]{0,199}")  # never an option of git
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
    """A version of a file does not exist; one line says why."""


class NoRevisions(VersionError):  # noqa: N818  # a state of the directory
    """There is no git repository, or it has no commits."""


class Commit(NamedTuple):
    """A commit: its whole name, its day, its first line."""

    name: str
    day: str
    subject: str

    @property
    def short(self) -> str:
        """The name as people write it."""
        return self.name[:10]


class FileContent(NamedTuple):
    """A file of a revision."""

    content: bytes
    is_program: bool = False


class Revision(NamedTuple):
    """All files of a repository at one commit, by their places below its top directory."""

    top: Path
    commit: str

    def place(self, path: Path) -> str:
        """Return the place of a file in the repository."""
        try:
            return path.relative_to(self.top).as_posix()
        except ValueError:
            raise VersionError(f"{path.name} is outside of the git repository") from None

    def mode(self, place: str) -> str:
        """Return the mode of a file as git writes it; "" if the commit does not have the file."""
        output = git(
            self.top, "ls-tree", "-z", "--full-tree", self.commit, "--", literal_pathspec(place)
        )
        for entry in output.decode(errors="replace").split("\0"):
            facts, _, name = entry.partition("\t")
            if name == place:
                return facts.partition(" ")[0]
        return ""

    def below(self, place: str) -> list[str]:
        """Return the places of all files below a directory."""
        words = ("ls-tree", "-r", "-z", "--name-only", "--full-tree", self.commit)
        output = git(self.top, *words, *([] if place == "." else ["--", literal_pathspec(place)]))
        return [each for each in output.decode(errors="surrogateescape").split("\0") if each]

    def content(self, place: str) -> FileContent:
        """Return the content of a file; a VersionError if it is missing, no file or too large."""
        mode, name = self.mode(place), quote(place)
        if not mode:
            raise VersionError(f"there is no file {name} in revision {self.commit[:10]}")
        if mode in (LINK, DIRECTORY) or not mode.startswith("100"):
            raise VersionError(f"{name} is no file in revision {self.commit[:10]}")
        size = int(git(self.top, "cat-file", "-s", f"{self.commit}:{place}"))
        if size > MAX_BYTES:
            raise VersionError(f"{name} is too large: at most {MAX_BYTES:,} bytes are read")
        content = git(self.top, "cat-file", "blob", f"{self.commit}:{place}")
        return FileContent(content, mode == PROGRAM)


def open_revision(path: Path, revision: str) -> Revision:
    """Return the repository of a file, at a revision; the file itself may be gone."""
    directory = next(each for each in path.parents if each.is_dir())
    if not REVISION.fullmatch(revision) or ".." in revision:
        raise VersionError(f"a revision is a name such as HEAD~1, got {quote(revision)}")
    try:
        top = Path(os.fsdecode(git(directory, "rev-parse", "--show-toplevel")).rstrip("\n"))
    except VersionError as error:
        why = "" if str(error).startswith("not a git repository") else f" ({error})"
        raise NoRevisions(f"{quote(path.name)} is in no git repository{why}") from None
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    try:
        commit = git(top, *words).decode().strip()
    except VersionError:
        if not git(top, "rev-list", "--all", "--max-count=1"):
            raise NoRevisions(f"the git repository {quote(top.name)} has no commits") from None
        latest = _latest_commits(top, path)
        raise VersionError(f"there is no revision {quote(revision)}{latest}") from None
    return Revision(top, commit)


def _latest_commits(top: Path, path: Path) -> str:
    """Return the latest commits of a file, for the message that a revision does not exist."""
    try:
        commits = list_commits([path], 3, top)
    except VersionError:
        return ""
    names = ", ".join(each.short for each in commits)
    return f" (the latest of {path.name}: {names})" if names else ""


def list_commits(paths: Sequence[Path], most: int, top: Path | None = None) -> list[Commit]:
    """Return the latest commits that changed one of the files, the latest first."""
    if top is None:
        top = open_revision(paths[0], "HEAD").top
    places = [literal_pathspec(Revision(top, "").place(path)) for path in paths]
    form = "--format=%H%x09%as%x09%s"
    words = ("log", f"--max-count={min(most, MAX_COMMITS)}", form, "HEAD", "--", *places)
    lines = git(top, *words).decode(errors="replace").splitlines()
    return [Commit(*line.split("\t", 2)) for line in lines if line.count("\t") >= 2]


def literal_pathspec(place: str) -> str:
    """Return a place that git takes literally, whatever characters it has."""
    return f":(top,literal){place}"


def git(directory: Path, *words: str) -> bytes:
    """Return git's output in a directory; a VersionError has its first line if it fails."""
    if shutil.which("git") is None:
        raise VersionError("git is not installed")
    environment = {name: os.environ[name] for name in os.environ if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", *QUIET, *words],
            cwd=directory,
            env=environment | SETTINGS,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=WAIT_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        raise VersionError(f"git does not answer: {error}") from None
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise VersionError(lines[0].removeprefix("fatal: ") if lines else "git found nothing")
    return done.stdout
