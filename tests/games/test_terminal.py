"""How commands print and end: closed streams, odd encodings, one line for what goes wrong."""

import errno
import io
import os
import sys
from pathlib import Path

import pytest

from games.base.errors import OK, UNFINISHED, repair_streams, run_command


@pytest.fixture
def descriptors():
    """Standard output as it was, whatever a test closes."""
    kept = [os.dup(number) for number in range(3)]
    yield
    for number, handle in enumerate(kept):
        os.dup2(handle, number)
        os.close(handle)


def test_a_closed_stream_is_opened_before_a_file_can_take_its_place(monkeypatch, descriptors):
    os.close(1)
    monkeypatch.setattr(sys, "stdout", None)
    assert run_command("games.test", lambda: print("nobody reads this") or OK) == OK
    assert os.fstat(1).st_rdev == Path(os.devnull).stat().st_rdev
    with open(os.devnull) as file:  # noqa: PTH123  # any file: it is not standard output
        assert file.fileno() > 2


def test_what_a_terminal_cannot_write_becomes_a_question_mark(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    repair_streams()
    print("50 % \u00b1 3 \udcff", flush=True)
    assert written.getvalue() == b"50 % ? 3 ?\n"


def test_a_full_disk_is_one_line(monkeypatch, capsys):
    with open("/dev/full", "w") as full:  # noqa: PTH123
        monkeypatch.setattr(sys, "stdout", full)
        status = run_command("games.test", lambda: print("x", flush=True) or OK)
        monkeypatch.undo()
        with pytest.raises(OSError, match="No space"):
            full.close()
    assert status == UNFINISHED
    assert capsys.readouterr().err == "games.test: No space left on device\n"


def no_directory() -> int:
    raise FileNotFoundError(errno.ENOENT, "No such file or directory")


def no_memory() -> int:
    raise MemoryError


def no_room() -> int:
    raise ImportError("libx.so: failed to map segment from shared object")


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (no_directory, "the working directory was deleted"),
        (no_memory, "there is not enough memory"),
        (no_room, "there is not enough memory (libx.so: failed to map segment"),
    ],
)
def test_what_the_system_does_not_have_is_said_in_one_line(work, words, capsys):
    assert run_command("games.test", work) == UNFINISHED
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line


def test_a_library_that_is_missing_is_our_mistake():
    with pytest.raises(ModuleNotFoundError):
        run_command("games.test", lambda: __import__("no_such_library"))


def test_who_reads_no_more_is_not_told(monkeypatch, capsys):
    reads, writes = os.pipe()
    os.close(reads)
    with open(writes, "w") as pipe:  # noqa: PTH123
        monkeypatch.setattr(sys, "stdout", pipe)
        status = run_command("games.test", lambda: print("x", flush=True) or OK)
        monkeypatch.undo()
    assert status == UNFINISHED
    assert capsys.readouterr().err == ""
