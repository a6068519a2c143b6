"""A shared run verifies elsewhere; a zip that is anything else is refused before it is unpacked."""

import json
import shutil
import stat
import sys
import zipfile

import pytest

from arena.commands import share, verify
from arena.keeping import shared_run
from tests.arena.running import directory_of, experiment_file, played, small

NAME = "0123456789"
RAISES = (
    "def choose(view, legal, rng):\n    if len(legal) < 3:\n        raise OSError(__file__)\n"
    "    return legal[0]\n"
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """The zip of a run with a Python bot, all of it gone from where it was played."""
    directory = tmp_path_factory.mktemp("shared")
    (directory / "there").mkdir()
    path = experiment_file(directory / "there", small(4), "good")
    bot = directory / "there" / "good.py"
    bot.write_text(bot.read_text().replace("rng.choice(legal)", "choices.one_of(rng, legal)"))
    bot.write_text("import random, choices\n" + bot.read_text())
    choices = "from twice import twice\ndef one_of(rng, legal):\n    return twice(rng, legal)\n"
    (directory / "there" / "choices.py").write_text(choices)
    (directory / "there" / "twice.py").write_text("def twice(rng, legal):\n    return legal[-1]\n")
    (directory / "there" / "unused.py").write_text("")
    played(path, directory / "there" / "results", page=True)
    run = directory_of(directory / "there" / "results")
    assert share.main([str(run), "--to", str(directory / "one.zip")]) == 0
    assert share.main([str(run), "--to", str(directory / "two.zip")]) == 0
    shutil.rmtree(directory / "there")
    return directory


def test_a_shared_run_verifies_where_nothing_else_is(shared, capsys):
    assert verify.main([str(shared / "one.zip"), "--known", "off"]) == 0
    told = capsys.readouterr().err
    for name in ("good.py", "choices.py", "twice.py"):
        assert f"{name} is gone since this run: its kept copy" in told
    assert (shared / "one.zip").read_bytes() == (shared / "two.zip").read_bytes()


def test_it_holds_page_tables_plan_and_sources_and_no_path_of_this_machine(shared):
    with zipfile.ZipFile(shared / "one.zip") as packed:
        names = {name.partition("/")[2] for name in packed.namelist()}
        (stored,) = (name for name in packed.namelist() if name.endswith("run.json"))
        content = packed.read(stored).decode()
    assert {"report.html", "games.parquet", "elo.parquet", "summary.json"} <= names
    sources = {name.rpartition("/")[2] for name in names if name.startswith("sources/")}
    assert sources == {"good.py", "choices.py", "twice.py"}
    assert json.loads(content)["path"] == "demo.toml"
    assert str(shared) not in content


def test_no_file_in_it_names_a_directory_of_this_machine(tmp_path):
    path = experiment_file(tmp_path, small(4), "good")
    (tmp_path / "raises.py").write_text(RAISES)
    path.write_text(
        'unloadable = "forfeit"\n'
        + path.read_text()
        + '[agents.raises]\nkind = "python"\nfile = "raises.py"\n'
    )
    played(path, tmp_path / "results", page=True)
    packed = tmp_path / "one.zip"
    assert share.main([str(directory_of(tmp_path / "results")), "--to", str(packed)]) == 0
    with zipfile.ZipFile(packed) as opened:
        contents = {name.partition("/")[2]: opened.read(name) for name in opened.namelist()}
    assert b"raises.py" in contents["run.log"] and b"raises.py" in contents["run.json"]
    for name, content in contents.items():
        assert str(tmp_path).encode() not in content, name
        assert sys.prefix.encode() not in content, name


def member(name, mode=stat.S_IFREG | 0o644):
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


HOSTILE = {
    "up": [member(f"{NAME}/../../evil.py")],
    "absolute": [member("/etc/passwd")],
    "other": [member(f"{NAME}/evil.py")],
    "source above": [member(f"{NAME}/sources/{'a' * 16}/..")],
    "deep": [member(f"{NAME}/sources/{'a' * 16}/b/c.py")],
    "backslash": [member(f"{NAME}/sources/{'a' * 16}/..\\b.py")],
    "link": [member(f"{NAME}/run.json", stat.S_IFLNK | 0o777)],
    "two runs": [member(f"{NAME}/run.json"), member("abcdef0123/run.json")],
    "twice": [member(f"{NAME}/run.json"), member(f"{NAME}/run.json")],
    "no run": [member(f"{NAME}/games.parquet")],
    "empty": [],
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_zip_is_refused_in_one_line_and_leaves_nothing(kind, tmp_path, capsys):
    path, into = tmp_path / "it.zip", tmp_path / "in" / "side"
    with zipfile.ZipFile(path, "w") as packed:
        for info in HOSTILE[kind]:
            packed.writestr(info, b"{}")
    with pytest.raises(shared_run.NotARun):
        shared_run.unpack(path, into)
    assert {each.name for each in tmp_path.iterdir()} <= {"it.zip", "in"}
    assert verify.main([str(path)]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "Traceback" not in told


def test_a_bomb_is_stopped_while_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(shared_run, "MOST_BYTES", 1 << 20)
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(f"{NAME}/run.json", b"{}")
        packed.writestr(f"{NAME}/games.parquet", bytes(4 << 20))
    with pytest.raises(shared_run.NotARun, match="more than"):
        shared_run.unpack(path, tmp_path / "inside")
    assert not (tmp_path / "inside" / NAME / "games.parquet").exists()


def test_what_is_no_zip_or_no_finished_run_is_a_mistake(tmp_path, capsys):
    (tmp_path / "no.zip").write_bytes(b"PK\x03\x04 no zip at all")
    assert verify.main([str(tmp_path / "no.zip")]) == 2
    assert share.main([str(tmp_path)]) == 2
    (tmp_path / "run.json").write_text("[]")
    assert share.main([str(tmp_path)]) == 2
    assert "Traceback" not in capsys.readouterr().err
