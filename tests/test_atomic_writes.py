"""Only one module opens files to write: it writes them atomically."""

import ast
import re
from pathlib import Path

import pytest

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


def test_only_whole_files_opens_a_file_to_write():
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    calls = {
        path: [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        for path in paths
    }
    found = {str(path.relative_to(ROOT)) for path in paths if any(map(writes, calls[path]))}
    assert found == {"games/base/files.py"}


@pytest.mark.parametrize(
    "text", ["p.write_text(x)", "open(p, 'w')", "p.open('ab')", "p.open(mode='r+')"]
)
def test_what_writes_a_file_is_seen(text):
    assert writes(ast.parse(text).body[0].value)
    assert not writes(ast.parse("write_text(p, x)").body[0].value)
    assert not writes(ast.parse("p.open('rb')").body[0].value)
