"""Only games/base/files.py opens files to write, which it does atomically."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("games", "agents", "arena")
WRITERS = ("write_text", "write_bytes")


def writes(call: ast.Call) -> bool:
    """Whether a call opens a file to write, or writes one at once."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in WRITERS:
        return isinstance(call.func, ast.Attribute)
    said = [*call.args, *(each.value for each in call.keywords if each.arg in ("mode", "flags"))]
    words = [each.value for each in said if isinstance(each, ast.Constant)]
    modes = [word for word in words if isinstance(word, str) and re.fullmatch(r"[rwaxbt+]+", word)]
    return name == "open" and any(set("wax+") & set(mode) for mode in modes)


def test_only_the_module_of_atomic_files_opens_files_to_write():
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    calls = {
        path: [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        for path in paths
    }
    found = {str(path.relative_to(ROOT)) for path in paths if any(map(writes, calls[path]))}
    # Control groups are changed by writing to files of the kernel.
    assert found == {"agents/sandbox/usage.py", "games/base/files.py"}
