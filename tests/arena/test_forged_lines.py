"""Names of files are printed on one line, escaped: none begins a line that looks like ours."""

import contextlib
import io

import pytest

from arena.commands.registry import run_verb
from games.base.errors import UserError, run_command
from tests.arena.running import only_run, run_experiment_file, run_in_process, small

NAME = "x\nFORGED\x1b[2J\u202e"
RAISES = "def choose(view, legal, rng):\n    return legal[99]\n"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A directory with such a name, bots and a run in it."""
    base = tmp_path_factory.mktemp("forged") / NAME
    base.mkdir()
    (base / f"raises{NAME}.py").write_text(RAISES)
    (base / f"cannot{NAME}.py").write_text(f"import nowhere\n{RAISES}")
    (base / f"first{NAME}.py").write_text(RAISES.replace("99", "0"))
    (base / "e.toml").write_text(small(2) + '[agents.greedy]\nkind = "greedy"\n')
    (base / "broken.toml").write_text("game = \n")
    run_experiment_file(base / "e.toml", base / "results")
    return base


# The command and its words; {base}, {run} and {name} stand for names of files.
COMMANDS = [
    ("run", "{base}/no{name}.toml"),
    ("run", "{base}/broken.toml"),
    ("verify", "{run}", "--rules-only"),
    ("verify", "{base}/no{name}"),
    ("report", "{run}"),
    ("report", "{base}"),
    ("runs", "show", "{run}"),
    ("runs", "--results", "{base}/results"),
    ("export", "{run}", "--games", "pgn", "--out", "{base}/to{name}"),
    ("judge", "{base}"),
    ("rate", "{base}/no{name}.pgn"),
    ("rate", "{run}"),
    ("play", "kalah(4,3)", "--first", "{base}/first{name}.py", "--second", "random"),
    (
        "play",
        "kalah(4,3)",
        "--first",
        "{base}/cannot{name}.py",
        "--second",
        "random",
    ),
    ("check", "{base}/raises{name}.py", "--game", "kalah(4,3)"),
    ("check", "{base}"),
    ("new", "bot", "{base}/new{name}.py"),
    ("game", "{base}/g{name}.py", "solve"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_line_is_forged(base, words):
    places = {"base": base, "run": only_run(base / "results"), "name": NAME}
    verb, *rest = (word.format(**places) for word in words)
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        run_verb(verb, rest)
    clean(out.getvalue() + errors.getvalue())


def test_no_line_of_a_run_is_forged(base):
    done = run_in_process(base / "e.toml", "--results", base / f"other{NAME}")
    assert done.returncode == 0
    clean(done.stdout + done.stderr)


def clean(text):
    """Nothing but lines of ours."""
    assert text
    assert not [line for line in text.splitlines() if line.strip().startswith("FORGED")]
    assert "\x1b[2J" not in text
    assert "\u202e" not in text


def test_a_mistake_is_one_line_whatever_is_in_it(capsys):
    def work():
        raise UserError("a\nb")

    assert run_command("command", work) == 2
    assert capsys.readouterr().err == "command: a\\nb\n"
