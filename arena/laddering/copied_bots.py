"""A ladder's own copies of its bots' files: who edits the originals makes another agent."""

from pathlib import Path

from agents import AgentSpec, users_trees, with_files
from agents.user_files import split_reference
from arena.planning.plan import copy_of
from games.file_trees import FileTree
from games.whole_files import whole_file

FILES = "files"  # in the ladder's directory


def copied(spec: AgentSpec, ladder: Path) -> AgentSpec:
    """The spec with copies of its files, and of what they import, in the ladder's directory."""
    trees = [tree for tree in users_trees(spec) if not tree.is_large]
    copies = {tree.path: _home(tree, ladder) / tree.path.name for tree in trees}
    for tree in trees:
        home = copies[tree.path].parent
        for name, path in tree.files.items():
            copy = home / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(copy) as file:
                file.write(path.read_bytes())

    def placed(reference: str) -> str:
        path, name = split_reference(reference, "")
        place = copy_of(path, copies)
        if place is None:
            return reference
        return f"{place}:{name}" if name else str(place)

    return with_files(spec, placed)


def _home(tree: FileTree, ladder: Path) -> Path:
    """Where the copy of a file goes, by its content and that of what it imports."""
    return ladder.absolute() / FILES / tree.digest(16)[:12]
