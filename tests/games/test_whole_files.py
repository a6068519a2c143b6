"""Files that are whole or not there."""

import os
import stat
from pathlib import Path

import pytest

from games.whole_files import remove_unfinished, whole_file, write_text


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "run.json"
    write_text(path, "old")
    with pytest.raises(OSError, match="disk full"), whole_file(path) as file:
        file.write(b"new")
        raise OSError("disk full")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_killed_writers_leave_is_removed(tmp_path):
    kept = tmp_path / "games.parquet"
    for path in (kept, tmp_path / ".games.parquet.123.part"):
        path.write_bytes(b"x")
    remove_unfinished(tmp_path)
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
