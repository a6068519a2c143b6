"""Files that are too large or too deep, and keys of other programs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.config.experiment import ExperimentError, load_experiment
from games.base.files import InputTooLarge, nesting_depth, parse_json, parse_toml, read_with_limit

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
        load_experiment(path)
    return caught.value.problems


@pytest.mark.parametrize("what", HUGE)
def test_oversized_file_gives_one_line(what, tmp_path):
    text, answer = HUGE[what]
    (problem,) = problems_of(text, tmp_path)[:1]
    assert answer in problem or what == "a name"
    assert len(problem) < 700


def test_many_problems_fit_on_a_screen(tmp_path):
    problems = problems_of("".join(f"bad{n} = 1\n" for n in range(1000)), tmp_path)
    assert "more unknown keys" in "\n".join(problems)
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
    assert parse_toml(text)


def test_deep_json_is_refused():
    with pytest.raises(InputTooLarge, match="nested too deep"):
        parse_json("[" * 200_000)


def test_special_files_are_not_read(tmp_path):
    with pytest.raises(OSError, match="not a regular file"):
        read_with_limit(Path("/dev/zero"))
    with pytest.raises(IsADirectoryError):
        read_with_limit(tmp_path)


def test_pipe_without_writer_times_out(tmp_path, monkeypatch):
    monkeypatch.setattr("games.base.files.WAIT_SECONDS", 0.01)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(TimeoutError):
        read_with_limit(pipe)
    program = f"cat > {pipe} <<< 'game = 1'"
    monkeypatch.setattr("games.base.files.WAIT_SECONDS", 30)
    with subprocess.Popen(["bash", "-c", program]):
        assert read_with_limit(pipe) == b"game = 1\n"


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
    'kind = "cpp"': 'did you mean "lines"?',
    'kind = "greedy"\ntime = 2.5': "greedy has no option time, called seconds here, which is for",
    'kind = "smart"\ncommand = ["x"]': "smart has no option command, which is for lines, gtp,",
    "kind = smart": 'text needs quotes: kind = "smart"',
}


@pytest.mark.parametrize("line", WORDS)
def test_keys_of_other_programs_get_a_hint(line, tmp_path):
    assert WORDS[line] in "\n".join(problems_of(f"{GAME}{line}\n{AGENTS}", tmp_path))


@pytest.mark.parametrize("line", OF_AGENTS)
def test_agent_keys_of_other_programs_get_a_hint(line, tmp_path):
    text = f"{GAME}{AGENTS}[agents.c]\n{line}\n"
    assert OF_AGENTS[line] in "\n".join(problems_of(text, tmp_path))


def test_messages_escape_control_characters(tmp_path):
    path = tmp_path / "evil\x1b[31m.toml"
    path.write_text(GAME + '["\\u001b[1m\\u202e"]\n[agents."\\u009b1m"]\nkind = "\\u001b]0;x"\n')
    words = [sys.executable, "-m", "arena.run", str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert all(each.isprintable() or each == "\n" for each in done.stderr)


@pytest.mark.parametrize("stem", ["a\nb", "\udcff", "a\u202eb", " x"])
def test_invalid_file_name_needs_a_name_key(stem, tmp_path):
    path = tmp_path / f"{stem}.toml"
    path.write_text(GAME + AGENTS)
    with pytest.raises(ExperimentError, match="name must be a valid name of a directory"):
        load_experiment(path)
    assert load_experiment(path, ["name=mine"]).name == "mine"


def test_long_path_is_shortened(tmp_path):
    with pytest.raises(ExperimentError) as caught:
        load_experiment(tmp_path / ("a/" * 1000 + "x.toml"))
    (line,) = caught.value.problems
    assert line.endswith("a/x.toml: there is no such file")
    assert len(line) < 400
