"""Templates of `pitflip new` pass `pitflip check`."""

import pytest

from agents.languages import LANGUAGES
from arena.commands.new import BOTS
from games.base.errors import OK, USER_ERROR
from tests.agents.test_bot_files import runs
from tests.commands import check, new

ENDINGS = {language: start[start.index(".") :] for language, start in BOTS.items()}


QUICK = ("lines", "c")


@pytest.mark.parametrize(
    "language",
    [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in BOTS],
)
def test_template_passes_check(tmp_path, monkeypatch, capsys, language):
    monkeypatch.chdir(tmp_path)
    name = f"mine{ENDINGS[language]}"
    assert new(["bot", name, "--language", language]) == OK
    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"wrote {name}"
    if not runs(name):
        pytest.skip(f"nothing here runs {name}")
    assert check([name, "--pairs", "1", "--game", "kalah(4,3)"]) == OK, capsys.readouterr()


def test_language_follows_suffix(tmp_path, capsys):
    for name in ("a.py", "a.js", "a.c", "A.java", "a.sh"):
        assert new(["bot", str(tmp_path / name)]) == OK
    assert "class A " in (tmp_path / "A.java").read_text()
    assert {each.name for each in LANGUAGES.values()} >= set(BOTS) - {"lines"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["there.py"], "exists already"),
        (["a.cobol"], "with --language"),
        (["a.py", "--language", "c"], "ends in .c"),
    ],
)
def test_unwritable_template_is_one_line(tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.py").write_text("")
    assert new(["bot", *words]) == USER_ERROR
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
