"""What bots print: kept with every run, and shown by --show-output."""

from pathlib import Path

import pytest

from agents.sandbox.usage import KEPT_BYTES, OutputFile
from games.base.errors import OK
from tests.commands import check, match, run

BOT = """
import sys
print("loaded", flush=False)
def choose(view, legal, rng):
    print("\\x1b[31mred\\x1b[0m\\r\\nsecond: forged")
    print("on stderr", file=sys.stderr)
    return legal[{at}]
"""
LINES = {"loaded", "\\x1b[31mred\\x1b[0m", "second: forged", "on stderr"}
PROGRAM = """#!/usr/bin/env python3
import sys
print("started", file=sys.stderr, flush=True)
for line in sys.stdin:
    words = line.split()
    if words[:1] == ["pitflip"]:
        continue
    print("asked", words, file=sys.stderr, flush=True)
    print(7, flush=True)
"""


@pytest.fixture
def bots(tmp_path, monkeypatch):
    """Two bots that print a lot, in the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "first.py").write_text(BOT.format(at=0))
    (tmp_path / "second.py").write_text(BOT.format(at=-1))
    return tmp_path


def kept(directory):
    """The lines that a run kept, by bot."""
    (path,) = directory.glob("results/*/*/output.log")
    lines = dict[str, set[str]]()
    for line in path.read_text().splitlines():
        name, _, text = line.partition(": ")
        lines.setdefault(name, set()).add(text)
    return lines


@pytest.mark.parametrize("workers", ["0", "2"])
def test_output_is_kept_and_shown_only_on_request(bots, workers, capfd):
    more = ["--pairs", "3", "--game", "kalah(4,3)", "--workers", workers, "--cache", "off"]
    assert match(["first.py", "second.py", *more]) == OK
    shown = capfd.readouterr()
    assert "[31m" not in shown.err + shown.out
    assert "output.log" in shown.err
    assert kept(bots) == {"first": LINES, "second": LINES}
    assert match(["first.py", "second.py", *more, "--fresh", "--show-output"]) == OK
    shown = capfd.readouterr()
    lines = set(shown.err.splitlines())
    assert {f"{name}: {text}" for name in ("first", "second") for text in LINES} <= lines
    assert "\x1b" not in shown.err + shown.out
    assert "[31m" not in shown.out


def test_output_of_an_experiment_and_a_test_is_shown(bots, capfd):
    (bots / "mine.toml").write_text(
        'game = "kalah(4,3)"\npairs = 2\n[agents.mine]\nkind = "python"\nfile = "first.py"\n'
        '[agents.other]\nkind = "first"\n'
    )
    assert run(["mine.toml", "--workers", "0", "--cache", "off", "--show-output"]) == OK
    assert "\nmine: on stderr\n" in capfd.readouterr().err


def test_check_names_the_file_with_the_output(bots, capfd):
    assert check(["first.py", "--pairs", "1", "--game", "kalah(4,3)"]) == OK
    shown = capfd.readouterr().err
    assert "on stderr" not in shown
    (line,) = [line for line in shown.splitlines() if "output of the bot: " in line]
    assert "first.py: on stderr\n" in Path(line.partition("bot: ")[2]).read_text()
    assert check(["first.py", "--pairs", "1", "--game", "kalah(4,3)", "--show-output"]) == OK
    assert "first.py: on stderr\n" in capfd.readouterr().err


def test_errors_of_programs_are_kept(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    (tmp_path / "mine.toml").write_text(
        'game = "kalah(4,3)"\npairs = 1\n[agents.mine]\nkind = "lines"\n'
        'command = ["python3", "program.py"]\n[agents.other]\nkind = "first"\n'
    )
    run(["mine.toml", "--workers", "0", "--cache", "off"])
    assert "started" in capfd.readouterr().err or "started" in kept(tmp_path)["mine"]


def test_file_of_a_bot_that_writes_too_much_is_cut(tmp_path):
    file = OutputFile(str(tmp_path / "output.log"))
    for _ in range(40):
        file.write("loud", [b"x" * 300] * 200)
    file.write("quiet", [b"\xff\x00", "ü".encode()])
    lines = (tmp_path / "output.log").read_text().splitlines()
    assert (tmp_path / "output.log").stat().st_size < KEPT_BYTES + 1000
    assert lines[-3].startswith("loud: (cut here")
    assert lines[-2:] == ["quiet: \\xff\\x00", "quiet: ü"]
    assert set(lines[:-3]) == {"loud: " + "x" * 300}
