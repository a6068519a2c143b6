"""A ladder's own copies of its bots' files: who edits the originals makes another agent."""

from pathlib import Path

from agents import AgentSpec, users_files, with_files
from agents.user_files import split_reference
from arena.keeping.known_keys import source_digest, sources
from games.whole_files import whole_file

FILES = "files"  # in the ladder's directory


def copied(spec: AgentSpec, ladder: Path) -> AgentSpec:
    """The spec with copies of its files, and of what they import, in the ladder's directory."""
    for path in users_files(spec):
        home = _home(path, ladder)
        for each in sources(path):
            if not each.is_relative_to(path.parent):
                continue
            copy = home / each.relative_to(path.parent)
            copy.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(copy) as file:
                file.write(each.read_bytes())

    def placed(reference: str) -> str:
        path, name = split_reference(reference, "")
        if not path.is_file():
            return reference
        place = _home(path, ladder) / path.name
        return f"{place}:{name}" if name else str(place)

    return with_files(spec, placed)


def _home(path: Path, ladder: Path) -> Path:
    """Where the copy of a file goes, by its content and that of what it imports."""
    return ladder.absolute() / FILES / source_digest(path)[:12]
