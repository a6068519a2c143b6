"""The files of a bot are removed when it ends."""

import os
import resource
from pathlib import Path

from agents.sandbox.usage import (
    MAX_DEPTH,
    directory_bytes,
    lock_directory,
    remove_directory,
    remove_leftovers,
)


def test_any_content_is_removed_and_nothing_else(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("ours")
    scratch = tmp_path / "scratch"
    (scratch / "deep" / "closed" / "more").mkdir(parents=True)
    (scratch / "deep" / "closed" / "more" / "file").write_text("x")
    (scratch / "link").symlink_to(outside)
    os.mkfifo(scratch / "pipe")
    (scratch / "deep" / "closed").chmod(0)
    remove_directory(scratch)
    assert not scratch.exists()
    assert (outside / "kept").read_text() == "ours"


def test_directories_nested_deeper_than_a_path_can_be_named_are_removed(tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    here = os.open(scratch, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("nested", dir_fd=here)
        below = os.open("nested", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    remove_directory(scratch)
    assert not scratch.exists()


def test_directories_of_killed_spawners_are_removed(tmp_path):
    (tmp_path / "pitflip-sandbox-999999999-x" / "1-1").mkdir(parents=True)
    (tmp_path / f"pitflip-sandbox-{os.getpid()}-x").mkdir()
    (tmp_path / "pitflip-other").mkdir()
    remove_leftovers(tmp_path)
    left = sorted(each.name for each in Path(tmp_path).iterdir())
    assert left == ["pitflip-other", f"pitflip-sandbox-{os.getpid()}-x"]


def test_the_directory_of_a_spawner_in_another_container_stays(tmp_path):
    theirs = tmp_path / "pitflip-sandbox-999999999-x"  # no such process here
    theirs.mkdir()
    lock = lock_directory(theirs)
    remove_leftovers(tmp_path)
    assert theirs.exists()
    os.close(lock)
    remove_leftovers(tmp_path)
    assert not theirs.exists()


def test_bytes_are_counted_until_they_are_too_many(tmp_path):
    (tmp_path / "file").write_bytes(b"x" * 10_000)
    assert directory_bytes(tmp_path, 1 << 20) >= 10_000
    assert directory_bytes(tmp_path, 100) > 100


def test_a_deep_directory_is_too_much_and_takes_few_descriptors(tmp_path):
    wide = tmp_path / "wide"
    for each in range(300):
        (wide / str(each)).mkdir(parents=True)
    (wide / "299" / "file").write_bytes(b"x" * 10_000)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        # Other tests of this process may have many files open.
        highest = max(int(each.name) for each in Path("/dev/fd").iterdir())
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 100, hard))
        assert 10_000 <= directory_bytes(wide, 1 << 30) < 1 << 30
        deep = tmp_path / "deep"
        (deep / "/".join("x" * (MAX_DEPTH + 1))).mkdir(parents=True)
        assert directory_bytes(deep, 1 << 30) > 1 << 30
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
