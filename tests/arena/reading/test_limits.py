"""Files larger or deeper than anything that makes sense are answered at once, in a few lines."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.config.experiment import ExperimentError, load
from games.base.files import InputTooLarge, nesting_depth, parse_json, parsed_toml, read_limited

GAME = 'game = "kalah(6,4)"\n'
AGENTS = '[agents.a]\nkind = "random"\n[agents.b]\nkind = "first"\n'
# What stands in the file, a part of the one line that answers it.
HUGE = {
    "nesting": (f"game = {'[' * 20_000}{']' * 20_000}", "nested more than 64 deep"),
    "a list in a list": ("game = " + "[" * 70 + "\n]" * 70, "nested more than 64 deep"),
    "digits": (f"{GAME}pairs = {'1' * 100_000}", "a number in it has too many digits"),
    "a dotted key": (".".join(["a"] * 50_000) + " = 1", "a dotted key has at most 32 parts"),
    "a quoted one": (".".join(['"a b"'] * 40) + " = 1", "a dotted key has at most 32 parts"),
    "a header": (f"[{' . '.join(['a'] * 40)}]", "a dotted key has at most 32 parts"),
    "lines": ("a = 1\n" * 20_000, "it has 20,001 lines, at most 10,000 are read"),
    "bytes": ("#" * (2 << 20), "it is too large: at most 1,048,576 bytes are read"),
    "a name": (f'{GAME}{AGENTS}\nname = "{"x" * 900_000}"', "table"),
    "agents": (
        GAME + "".join(f'[agents.a{n}]\nkind="random"\n' for n in range(1001)),
        "an experiment has at most 1,000 agents, got 1,001",
    ),
}


def problems_of(text: str, tmp_path: Path) -> list[str]:
    path = tmp_path / "huge.toml"
    path.write_text(text)
    with pytest.raises(ExperimentError) as caught:
        load(path)
    return caught.value.problems


@pytest.mark.parametrize("what", HUGE)
def test_what_is_far_too_much_is_one_line(what, tmp_path):
    text, answer = HUGE[what]
    (problem,) = problems_of(text, tmp_path)[:1]
    assert answer in problem or what == "a name"
    assert len(problem) < 700


def test_many_problems_are_a_screen(tmp_path):
    problems = problems_of("".join(f"bad{n} = 1\n" for n in range(1000)), tmp_path)
    assert "more keys that it cannot have" in "\n".join(problems)
    assert len(problems) <= 31
    assert len("\n".join(problems).encode()) < 4_000
    assert sum("(there are " in problem for problem in problems) == 1
    tables = "".join(f'[agents.a{n}]\nkind = "rendom"\n' for n in range(100))
    assert problems_of(GAME + tables, tmp_path)[-1].endswith(" more like these")


@pytest.mark.parametrize(
    "text", ['x = "[[[[#"', "x = '{{'", "x = 1 # [[[", "[[a]]\nb = [{ c = [1] }]"]
)
def test_brackets_in_strings_and_comments_are_not_counted(text):
    assert nesting_depth(text) <= 4
    assert parsed_toml(text)


def test_json_may_be_deep_but_says_so():
    with pytest.raises(InputTooLarge, match="nested too deep"):
        parse_json("[" * 200_000)


def test_what_is_no_file_is_not_read(tmp_path):
    with pytest.raises(OSError, match="it is no file"):
        read_limited(Path("/dev/zero"))
    with pytest.raises(IsADirectoryError):
        read_limited(tmp_path)


def test_a_pipe_is_read_but_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr("games.base.files.WAIT_SECONDS", 0.01)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(TimeoutError):
        read_limited(pipe)
    program = f"cat > {pipe} <<< 'game = 1'"
    monkeypatch.setattr("games.base.files.WAIT_SECONDS", 30)
    with subprocess.Popen(["bash", "-c", program]):
        assert read_limited(pipe) == b"game = 1\n"


# What people write who know other programs, and what it is here.
WORDS = {
    "games = 12": 'did you mean "pairs"?',
    "rounds = 12": 'did you mean "pairs"?',
    "players = 2": 'did you mean "agents"?',
    "n_games = 12": 'did you mean "pairs"?',
    'player1 = "a"': 'did you mean "agents"?',
    "rng_seed = 12": 'did you mean "seed"?',
    "depth = 5": "it belongs to an agent, below a line such as [agents.mine]",
    'command = ["x"]': "it belongs to an agent, below a line such as [agents.mine]",
    "jobs = 2": "--workers N",
    'results = "x"': "--results DIR",
    "swap_sides = true": "every opening is always played from both sides",
}
OF_AGENTS = {
    'kind = "BadPlayer"': 'did you mean "random"?',
    'kind = "SmartPlayer"': 'did you mean "smart"?',
    'engine = "smart"': 'did you mean "kind"?',
    'kind = "alphabeta"\ntime = 2.5': 'did you mean "seconds"?',
    'kind = "alphabeta"\nmax_depth = 5': 'did you mean "depth"?',
    'kind = "mcts"': 'did you mean "python"?',
    'kind = "cpp"': 'did you mean "lines"?',
    'kind = "greedy"\ntime = 2.5': "greedy has no option time, called seconds here, which is for",
    'kind = "smart"\ncommand = ["x"]': "smart has no option command, which is for lines, gtp,",
    "kind = smart": 'text needs quotes: kind = "smart"',
}


@pytest.mark.parametrize("line", WORDS)
def test_words_of_other_programs_are_understood(line, tmp_path):
    assert WORDS[line] in "\n".join(problems_of(f"{GAME}{line}\n{AGENTS}", tmp_path))


@pytest.mark.parametrize("line", OF_AGENTS)
def test_words_of_other_programs_about_agents_are_understood(line, tmp_path):
    text = f"{GAME}{AGENTS}[agents.c]\n{line}\n"
    assert OF_AGENTS[line] in "\n".join(problems_of(text, tmp_path))


def test_nothing_that_a_file_holds_reaches_the_terminal_raw(tmp_path):
    path = tmp_path / "evil\x1b[31m.toml"
    path.write_text(GAME + '["\\u001b[1m\\u202e"]\n[agents."\\u009b1m"]\nkind = "\\u001b]0;x"\n')
    words = [sys.executable, "-m", "arena.run", str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert all(each.isprintable() or each == "\n" for each in done.stderr)


@pytest.mark.parametrize("stem", ["a\nb", "\udcff", "a\u202eb", " x"])
def test_a_file_that_no_directory_can_be_called_like_needs_a_name(stem, tmp_path):
    path = tmp_path / f"{stem}.toml"
    path.write_text(GAME + AGENTS)
    with pytest.raises(ExperimentError, match="name must be a name that a directory can have"):
        load(path)
    assert load(path, ["name=mine"]).name == "mine"


def test_of_a_very_long_path_the_end_is_said_with_what_is_wrong(tmp_path):
    with pytest.raises(ExperimentError) as caught:
        load(tmp_path / ("a/" * 1000 + "x.toml"))
    (line,) = caught.value.problems
    assert line.endswith("a/x.toml: there is no such file")
    assert len(line) < 400
