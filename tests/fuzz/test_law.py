"""Every input is answered soon, in a few printable lines; what once hurt is tried again."""

import random
from functools import partial
from pathlib import Path

import pytest
from hypothesis import strategies as st

from tests.fuzz import campaign
from tests.fuzz.law import Target, broken
from tests.fuzz.printed import BEGIN, END
from tests.fuzz.processes import COMMANDS, Command, broken_command, fixed
from tests.fuzz.search import CASES, found, keep, shorter
from tests.fuzz.targets import TARGETS, finished_run

FOUND = sorted(path for path in CASES.glob("*/*") if path.is_file())
FEW, MANY = 2, 150


@pytest.fixture(scope="module", autouse=True)
def played_before() -> Path:
    """The run that is damaged, played before anybody watches what is written."""
    return finished_run()


def finding_of(name: str, seed: int, examples: int) -> tuple[bytes, str] | None:
    """What breaks the law among some inputs of a target."""
    return found(TARGETS[name].inputs, partial(broken, TARGETS[name]), seed, examples).finding


@pytest.mark.parametrize("name", TARGETS)
def test_a_few_inputs_are_answered(name):
    assert finding_of(name, 1, FEW) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_many_inputs_are_answered(name):
    assert finding_of(name, 2, MANY) is None


@pytest.mark.parametrize("path", FOUND, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_once_hurt_is_answered(path):
    name, content = path.parent.name.replace("_", " "), path.read_bytes()
    if name in COMMANDS:
        assert broken_command(COMMANDS[name], content) == ""
    else:
        assert broken(TARGETS[name], content) == ""


def fails(_: bytes, __: Path) -> int:
    raise KeyError("x")


def writes(_: bytes, directory: Path) -> int:
    (directory.parent / f"{directory.name}.txt").write_text("")
    (directory.parent / f"{directory.name}.txt").unlink()
    return 0


def prints(text: str) -> Target:
    def answer(_: bytes, __: Path) -> int:
        print(text)
        return 2

    return Target(st.just(b""), answer)


def hangs(_: bytes, __: Path) -> int:
    return sum(random.Random(n).randrange(2) for n in range(6_000)) * 0


BREAKS = {
    "a traceback": Target(st.just(b""), fails),
    "wrote outside": Target(st.just(b""), writes),
    "printed ['\\x1b']": prints("\x1b[1m"),
    "printed 51 lines": prints("x\n" * 50),
    "printed 5,001 characters": prints("x" * 5000),
    "without a word": prints(""),
    "status 7": Target(st.just(b""), lambda *_: 7),
}


@pytest.mark.parametrize("law", BREAKS)
def test_each_law_can_be_broken(law):
    assert law in broken(BREAKS[law], b"")


def test_what_takes_long_breaks_the_law(monkeypatch):
    monkeypatch.setattr("tests.fuzz.law.SECONDS", 0.005)
    monkeypatch.setattr("tests.fuzz.law.SLOWER", 0.01)
    assert "took" in broken(Target(st.just(b""), hangs), b"")


def test_a_finding_is_made_short_and_becomes_a_case(tmp_path):
    tried = found(st.sampled_from([b"a\nbad\nc", b"b"]), has_bad, 1, 50)
    assert tried.finding == (b"bad", "it is bad")
    assert tried.lines > tried.inputs > 0
    path = keep("any reader", b"bad", tmp_path)
    assert path.parent == tmp_path / "any_reader"
    assert path.read_bytes() == b"bad"


def has_bad(content: bytes) -> str:
    return "it is bad" if b"bad" in content else ""


def test_the_lines_that_a_finding_needs_stay():
    both = lambda content: "both" if b"x" in content and b"y" in content else ""  # noqa: E731
    assert shorter(b"1\nx\n2\ny\n3", "both", both) == (b"x\ny", "both")


OUTSIDE = "import os; path = os.getcwd() + '.txt'; open(path, 'w').close(); os.unlink(path)"
# What a command of Python's own does, begun as ours are.
BREAKING = {
    "a traceback": fixed("timeit", "-n1", "1/0"),
    "without a word": fixed("timeit", "-n1", "import os; os._exit(2)"),
    "status -9": fixed("timeit", "-n1", "import os; os.kill(os.getpid(), 9)"),
    "wrote outside": fixed("timeit", "-n1", OUTSIDE),
}


@pytest.mark.parametrize("law", BREAKING)
def test_a_command_can_break_each_law(law):
    assert law in broken_command(Command(st.just(b""), BREAKING[law]), b"")


def test_a_command_without_a_fault_breaks_none():
    assert broken_command(Command(st.just(b""), fixed("platform")), b"") == ""


def test_a_campaign_goes_on_where_it_was_and_puts_its_table_into_a_page(tmp_path, monkeypatch):
    monkeypatch.setattr(campaign, "AT_ONCE", 2)
    page, journal = tmp_path / "page.md", tmp_path / "journal"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    words = ["--lines", "1", "--only", "python bot", "--journal", str(journal), "--into", str(page)]
    assert campaign.main(words) == 0
    assert campaign.main(words) == 0  # nothing is left to do
    (line,) = campaign.stored(journal)
    assert (line.sort, line.inputs, line.finding) == ("bot", 2, "")
    table = page.read_text()
    assert table.startswith(f"before\n{BEGIN}")
    assert f"| python bot | 2 | {line.lines:,} | 0 |" in table
    assert table.endswith(f"{END}\nafter\n")
    assert "old" not in table
