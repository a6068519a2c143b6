"""What travels to another machine: plans, and the users' files by their content."""

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


def there(spec, bag, directory):
    """The spec on another machine, with its files."""
    write_files(pickle.loads(pickle.dumps(bag.files)), directory)
    return package.replace_files(spec, lambda reference: str(directory / reference))


def test_a_program_its_files_and_its_directory_travel_by_content(tmp_path):
    bot = program(tmp_path / "here/bot")
    table = tmp_path / "here/data/deep/table.txt"
    table.parent.mkdir(parents=True)
    table.write_text("1 2 3")
    command = [str(bot), "--fast", str(table)]
    spec = AgentSpec("lines", command=command, readable=[str(tmp_path / "here/data")])
    bag = PackedFiles()
    sent = pack_spec(spec, bag)
    assert str(tmp_path) not in str(sent)
    found = there(sent, bag, tmp_path / "there").options
    one, fast, three = found["command"]
    assert fast == "--fast"
    assert Path(one).read_bytes() == bot.read_bytes()
    assert os.access(one, os.X_OK)
    assert not os.access(three, os.X_OK)
    assert (Path(found["readable"][0]) / "deep/table.txt").read_text() == "1 2 3"


@pytest.mark.parametrize("name", ["tree/bin/python", "no/such/file"])
def test_what_is_installed_and_what_is_not_here_keep_their_paths(tmp_path, name):
    if "bin" in name:
        program(tmp_path / "real").rename(tmp_path / "elsewhere")
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    spec, bag = AgentSpec("lines", command=[str(tmp_path / name)]), PackedFiles()
    assert pack_spec(spec, bag).options["command"] == (str(tmp_path / name),)
    assert not bag.files


def test_a_file_that_changed_has_another_place(tmp_path):
    bot, bag = program(tmp_path / "bot"), PackedFiles()
    first = bag.place(bot)
    bot.chmod(0o644)
    assert PackedFiles().place(bot) != first
    program(bot, "echo bye\n")
    assert PackedFiles().place(bot) != first
    assert bag.place(bot) == first


def test_more_files_than_one_would_send_are_refused_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(package, "MOST_BYTES", 1 << 20)
    for number in range(3):
        (tmp_path / f"{number}.bin").write_bytes(bytes(1 << 19))
    with pytest.raises(UserError, match="files of more than 1 MB in all are not sent to a cluster"):
        PackedFiles().place(tmp_path)


def test_what_a_bot_imports_travels_beside_it(tmp_path):
    (tmp_path / "bot.py").write_text("import bots_book\n")
    (tmp_path / "bots_book.py").write_text("MOVES = 1\n")
    sent = PackedFiles()
    place = sent.place(tmp_path / "bot.py")
    assert set(sent.files) == {place, place.replace("bot.py", "bots_book.py")}
    (tmp_path / "bots_book.py").write_text("MOVES = 2\n")
    assert PackedFiles().place(tmp_path / "bot.py") != place
