"""Every command and block of README, CONTRIBUTING and docs/ works as its page says.

A page is read from top to bottom in a directory of its own with a copy of `experiments/`: a block
that names its file is written there, commands run as printed, other TOML is part of an experiment
that must be playable, other Python runs. Where a page shows an answer it must be that one; a line
`...` and a `<word>` stand for anything.
"""

import contextlib
import doctest
import io
import re
import shlex
import shutil
import tomllib
from functools import cache
from pathlib import Path

import pytest

from arena.commands.registry import COMMANDS, make_parser, run_verb
from arena.learning.config import load_learn_config
from arena.tuning.study_config import load_study
from tests.arena.running import WHO_PLAYS
from tests.docs.answers import matches
from tests.docs.pages import (
    PAGES,
    ROOT,
    Block,
    Command,
    blocks,
    changes_ours,
    commands,
    inline_commands,
    name_of,
)

PREFIXES = (".venv/bin/", "uv run ")
LANGUAGES = {"sh", "console", "toml", "python", "pycon", "text", "yaml", "{toctree}"}
MAKEFILE = (ROOT / "Makefile").read_text()
FINDING = 1
PLAY = ("run", "judge")  # have --workers

# Slow commands: the default suite plays one pair of them, or reads their file.
SLOW = {
    "make run",
    "python -m arena.run experiments/smart_vs_bad.toml --set agents.smart.depth=6 --set game=owari",
    "python -m arena.run experiments/smart_vs_bad.toml "
    '--set "openings={ enumerate = 4 }" --pairs 500',
    "python -m arena.run winnable.toml --quiet",
    "pitflip tune tune_heuristic.toml",
    "pitflip learn experiments/learn_kalah.toml",
    "pitflip learn experiments/learn_othello.toml",
    "python -m arena.tune experiments/tune_kalah.toml",
    "python -m arena.tune experiments/tune_kalah.toml --budget 1m",
}

# Options that shorten commands without a shown answer in the default suite.
SHORTER = {"python -m arena.run experiments/othello_greedy_vs_random.toml": ("--pairs", "100")}

# Commands that are not run, and why. An entry that is on no page is an error.
NOT_RUN = {
    ". .venv/bin/activate": "changes the shell",
    'pitflip play "kalah(6,4)" my_bot.py --browser': "ends with Ctrl-C; tests/browser plays",
    "uv lock": "changes the lock",
    'git commit --all --message "Version 0.2.0"': "changes the repository",
    "uv build": "asks a package index for the build backend",
    "(cd dist && uv run --isolated --no-project --with ./*.whl "
    'pitflip game "kalah(6,4)" perft 5)': "asks a package index",
    "git tag v0.2.0": "changes the repository",
    "git push origin main v0.2.0": "changes another repository",
    "uv publish": "changes the package index",
    "python -m arena.run experiments/kalah_ladder.toml --pairs 60": "is stopped half way; "
    "tests/arena/test_kill.py stops runs and continues them",
    "pitflip verify results/demo/*": "needs a table with a wrong number; "
    "tests/arena/test_verify.py makes one",
}


def bare(line: str) -> str:
    for prefix in PREFIXES:
        line = line.removeprefix(prefix)
    return line


def printed(page: Path) -> list[Command]:
    shown = [block for block in blocks(page) if block.language in ("sh", "console")]
    return [Command(bare(each.line), each.answer) for block in shown for each in commands(block)]


# ------------------------------------------------------------------- one command


def run(line: str, quick: bool, shown: bool = True) -> tuple[int, str]:
    """Run a command in this process; return its status and all output.

    With `quick`, slow commands run in part, commands without an answer have fewer pairs, and
    quiet runs write no page.
    """
    if line.startswith("make "):
        return make(line.split()[1], quick)
    verb, words = verb_and_words(line)
    words = [each for word in words for each in matching(word)]
    if quick and line in SLOW:
        return in_part(verb, *words)
    if quick and not shown:
        words += SHORTER.get(line, ())
    if quick and verb in PLAY and not WHO_PLAYS & set(words):
        words += ["--workers", "0"]
    if quick and verb == "run" and "--quiet" in words:
        words += ["--no-page"]  # no answer names it
    return answered(verb, words)


@cache  # several pages name the same shipped experiments
def in_part(verb: str, *words: str) -> tuple[int, str]:
    """Read the file of a slow command, or play its first pair."""
    if verb == "tune":
        load_study(Path(words[0]))
        return 0, ""
    if verb == "learn":
        load_learn_config(Path(words[0]))
        return 0, ""
    return answered(verb, [*words, "--pair", "0"])


def verb_and_words(line: str) -> tuple[str, list[str]]:
    program, *words = shlex.split(line)
    if program == "pitflip":
        return words[0], words[1:]
    _, module, *rest = words
    if module == "pitflip":
        return rest[0], rest[1:]
    return module.removeprefix("arena."), rest


def answered(verb: str, words: list[str]) -> tuple[int, str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        status = run_verb(verb, words)
    return status, out.getvalue().replace("python -m pitflip ", "pitflip ")


def matching(word: str) -> list[str]:
    found = (path for path in Path().glob(word) if path.name[0] != ".") if "*" in word else ()
    return sorted(map(str, found)) if "*" in word else [word]


def make(target: str, quick: bool) -> tuple[int, str]:
    """Run the recipe of `make run`; other targets must only exist."""
    assert re.search(rf"^\.PHONY:.* {target}\b", MAKEFILE, re.MULTILINE)
    if target != "run":
        return 0, ""
    (experiment,) = re.findall(r"^EXPERIMENT \?= (\S+)$", MAKEFILE, re.MULTILINE)
    assert "\nrun: .venv/.run\n\t@$(BIN)/python -m arena.run $(EXPERIMENT) ||" in MAKEFILE
    return run(f"python -m arena.run {experiment}", quick)


def answers(command: Command, quick: bool) -> None:
    status, text = run(command.line, quick, shown=command.answer is not None)
    if command.answer is None:
        assert status <= FINDING, f"{command.line} ends with {status}:\n{text}"
    elif not (quick and command.line in SLOW):
        assert matches(command.answer, text), (
            f"{command.line} answers\n{text}\nand not\n{command.answer}"
        )


# --------------------------------------------------------------------- one block


def whole(text: str) -> str:
    """Complete a part of an experiment."""
    table = tomllib.loads(text)
    before = "" if "game" in table else 'game = "kalah(6,4)"\n'
    agents = {"smart", "bad"} - set(table.get("agents", {}))
    after = "".join(f'[agents.{name}]\nkind = "random"\n' for name in sorted(agents))
    return f"{before}{text}\n{after}"


def toml(block: Block) -> None:
    path = Path("experiments", f"line{block.line}.toml")
    path.write_text(whole(block.text))
    if "tune" in tomllib.loads(block.text):
        load_study(path)
    else:
        assert run_verb("run", [str(path), "--pair", "0"]) == 0


def python(block: Block) -> None:
    exec(compile(block.text, f"{block.page}:{block.line}", "exec"), {"__name__": "page"})


def session(block: Block) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, {}, block.page, None, block.line)
    assert test.examples
    assert not doctest.DocTestRunner().run(test).failed


def show(block: Block, quick: bool) -> None:
    if block.file:
        block.write(Path())
    elif block.language in ("sh", "console"):
        for command in commands(block):
            if bare(command.line) not in NOT_RUN:
                answers(command._replace(line=bare(command.line)), quick)
    elif block.language in ("toml", "python", "pycon"):
        {"toml": toml, "python": python, "pycon": session}[block.language](block)


# --------------------------------------------------------------------- the tests

PLAIN = [page for page in PAGES if not changes_ours(page)]  # the others: tests/newcomer


@pytest.fixture
def desk(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "experiments", tmp_path / "experiments")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


# Only at full length: a search for one more game must be compiled, and clusters start processes.
HOW_TO = ROOT / "docs" / "how-to"
LONG = {HOW_TO / "write-a-game.md", HOW_TO / "use-a-cluster.md"}


@pytest.mark.parametrize("page", [page for page in PLAIN if page not in LONG], ids=name_of)
def test_the_blocks_of_a_page_work(page, desk):
    for block in blocks(page):
        show(block, quick=True)


@pytest.mark.slow
@pytest.mark.parametrize("page", PLAIN, ids=name_of)
def test_the_blocks_of_a_page_work_at_full_length(page, desk):
    for block in blocks(page):
        show(block, quick=False)


# tests/newcomer runs the commands of recipes, which need the code that a recipe adds.
@pytest.mark.parametrize("page", PLAIN, ids=name_of)
def test_commands_in_the_text_parse(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    for line in inline_commands(page):
        verb, words = verb_and_words(line)
        # A name that starts with "my_" is a file of the reader.
        files = [word for word in words if re.fullmatch(r"(?!my_).*\.toml", word)]
        assert all(Path(name).is_file() for name in files), f"{line} names no file"
        if verb == "help":
            verb, words = words[0], []
        if verb not in COMMANDS:  # a module of benchmarks or tools
            continue
        parser = make_parser(verb)
        if words:  # else it is the name of the command alone
            parser.parse_args([word.rstrip(".") for word in words])


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_has_a_known_language(page):
    unknown = {block.line: block.language for block in blocks(page)}
    assert {line: name for line, name in unknown.items() if name not in LANGUAGES} == {}


def test_exceptions_are_commands_of_pages():
    shown = {command.line for page in PAGES for command in printed(page)}
    assert set(NOT_RUN) - shown == set()
    assert SLOW - shown == set()
    assert set(SHORTER) - shown == set()
