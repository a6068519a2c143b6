"""Text for others names no directory of this machine, and is otherwise as it was."""

from pathlib import Path

import pytest

from games.base.text import did_you_mean_file, without_machine_paths

BASE = Path("/srv/a teacher/class")
TEXTS = {
    "/srv/a teacher/class/bots/x.py raised in 'S 0, N 1/2'": "bots/x.py raised in 'S 0, N 1/2'",
    "in /srv/a teacher/class, not in /srv/class2/": "in ., not in class2",
    'File "/srv/a teacher/class/bots/x.py", line 3': 'File "bots/x.py", line 3',
    'File "/usr/lib/python 3/random.py", line 3': 'File "random.py", line 3',
    "at choose (/srv/node/lib.js:7:3)": "at choose (lib.js:7:3)",
    "PATH=/opt/bin:/usr/local/bin": "PATH=bin:bin",
    "see https://example.org/a/b, bots/x.py, and/or ./a/b": (
        "see https://example.org/a/b, bots/x.py, and/or ./a/b"
    ),
    "3/4 of / and /": "3/4 of / and /",
}  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_paths_are_seen_from_the_experiment_or_are_a_name(text):
    assert without_machine_paths(text, BASE) == TEXTS[text]


FILES = {
    "smrt_player.py": "smart_player.py",
    "smart_player.js": "smart_player.py",
    "mnie.toml": "mine.toml",
    "mnie.py": "mine.py",
    "other.py": "",
    "nowhere/mine.py": "",
}


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_suggests_only_a_similar_name(tmp_path, name):
    for file in ("smart_player.py", "mine.py", "mine.toml", "two.py"):
        (tmp_path / file).touch()
    told = f'; did you mean "{FILES[name]}"?' if FILES[name] else ""
    assert did_you_mean_file(tmp_path / name) == told
