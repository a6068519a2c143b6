"""Files that are whole or not there."""

import os
import stat
from pathlib import Path

import pytest

from games.base.files import (
    atomic_write,
    make_subdirectory,
    open_append,
    remove_partial_files,
    write_text,
)


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "run.json"
    write_text(path, "old")
    with pytest.raises(OSError, match="disk full"), atomic_write(path) as file:
        file.write(b"new")
        raise OSError("disk full")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_killed_writers_leave_is_removed(tmp_path):
    kept = tmp_path / "games.parquet"
    for path in (kept, tmp_path / ".games.parquet.123.part"):
        path.write_bytes(b"x")
    remove_partial_files(tmp_path)
    assert list(tmp_path.iterdir()) == [kept]


def test_the_file_is_on_the_disk_before_it_has_its_name_and_the_name_after(tmp_path, monkeypatch):
    path, seen = tmp_path / "run.json", []
    fsync = os.fsync

    def noted(handle):
        seen.append((stat.S_ISDIR(os.fstat(handle).st_mode), path.exists()))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", noted)
    write_text(path, "whole")
    assert seen == [(False, False), (True, True)]


def test_a_device_is_written_to_and_not_replaced():
    write_text(Path("/dev/null"), "whole")
    assert not Path("/dev/null").is_file()


def test_a_link_planted_where_we_write_is_replaced_and_not_followed(tmp_path):
    victim, path = tmp_path / "victim", tmp_path / "run.json"
    victim.write_text("precious")
    (tmp_path / f".run.json.{os.getpid()}.part").symlink_to(victim)
    path.symlink_to(victim)
    write_text(path, "ours")
    assert victim.read_text() == "precious"
    assert not path.is_symlink()
    assert path.read_text() == "ours"


def test_a_link_to_a_pipe_is_replaced_too(tmp_path):
    pipe, path = tmp_path / "pipe", tmp_path / "run.json"
    os.mkfifo(pipe)
    path.symlink_to(pipe)
    write_text(path, "ours")  # without waiting for a reader
    assert path.read_text() == "ours"


def test_what_the_system_links_to_is_written_to_and_never_replaced(tmp_path):
    with (tmp_path / "out").open("w") as file:
        write_text(Path(f"/proc/self/fd/{file.fileno()}"), "ours")
    assert (tmp_path / "out").read_text() == "ours"


def test_nothing_is_appended_through_a_link_or_to_a_pipe(tmp_path):
    victim, link, pipe = tmp_path / "victim", tmp_path / "run.log", tmp_path / "pipe"
    victim.write_text("precious")
    link.symlink_to(victim)
    os.mkfifo(pipe)
    for path in (link, pipe):
        with pytest.raises(OSError):
            open_append(path)
    with open_append(victim) as file:
        file.write("!")
    assert victim.read_text() == "precious!"


def test_a_directory_of_ours_is_no_link(tmp_path):
    make_subdirectory(tmp_path / "bots")
    (tmp_path / "sources").symlink_to(tmp_path / "bots")
    with pytest.raises(OSError, match="symbolic link"):
        make_subdirectory(tmp_path / "sources")
