"""Packages for other machines: users' files by content."""

import os
import pickle
from pathlib import Path

import pytest

from agents.core import AgentSpec
from arena.playing.cluster import package
from arena.playing.cluster.package import PackedFiles, pack_spec, write_files
from games.base.errors import UserError


def program(path: Path, text: str = "echo hello\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def there(spec, packed, directory):
    """The spec on another machine, with its files."""
    write_files(pickle.loads(pickle.dumps(packed.files)), directory)
    return package.replace_files(spec, lambda reference: str(directory / reference))


def test_program_and_its_files_are_packed_by_content(tmp_path):
    bot = program(tmp_path / "here/bot")
    table = tmp_path / "here/data/deep/table.txt"
    table.parent.mkdir(parents=True)
    table.write_text("1 2 3")
    command = [str(bot), "--fast", str(table)]
    spec = AgentSpec("lines", command=command, readable=[str(tmp_path / "here/data")])
    packed = PackedFiles()
    sent = pack_spec(spec, packed)
    assert str(tmp_path) not in str(sent)
    found = there(sent, packed, tmp_path / "there").options
    one, fast, three = found["command"]
    assert fast == "--fast"
    assert Path(one).read_bytes() == bot.read_bytes()
    assert os.access(one, os.X_OK)
    assert not os.access(three, os.X_OK)
    assert (Path(found["readable"][0]) / "deep/table.txt").read_text() == "1 2 3"


@pytest.mark.parametrize("name", ["tree/bin/python", "no/such/file"])
def test_installed_and_missing_files_keep_their_paths(tmp_path, name):
    if "bin" in name:
        program(tmp_path / "real").rename(tmp_path / "elsewhere")
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    spec, packed = AgentSpec("lines", command=[str(tmp_path / name)]), PackedFiles()
    assert pack_spec(spec, packed).options["command"] == (str(tmp_path / name),)
    assert not packed.files


def test_changed_file_has_another_place(tmp_path):
    bot, packed = program(tmp_path / "bot"), PackedFiles()
    first = packed.place(bot)
    bot.chmod(0o644)
    assert PackedFiles().place(bot) != first
    program(bot, "echo bye\n")
    assert PackedFiles().place(bot) != first
    assert packed.place(bot) == first


def test_too_large_files_are_refused_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(package, "MAX_BYTES", 1 << 20)
    for number in range(3):
        (tmp_path / f"{number}.bin").write_bytes(bytes(1 << 19))
    with pytest.raises(UserError, match="files of more than 1 MB in all are not sent to a cluster"):
        PackedFiles().place(tmp_path)


def test_imports_are_packed_next_to_the_bot(tmp_path):
    (tmp_path / "bot.py").write_text("import bots_book\n")
    (tmp_path / "bots_book.py").write_text("MOVES = 1\n")
    sent = PackedFiles()
    place = sent.place(tmp_path / "bot.py")
    assert set(sent.files) == {place, place.replace("bot.py", "bots_book.py")}
    (tmp_path / "bots_book.py").write_text("MOVES = 2\n")
    assert PackedFiles().place(tmp_path / "bot.py") != place
