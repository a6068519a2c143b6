"""Every input is answered soon, in a few printable lines; what once hurt is tried again."""

import random
from pathlib import Path

import pytest
from hypothesis import strategies as st

from tests.fuzz.campaign import CASES, found
from tests.fuzz.law import Target, broken
from tests.fuzz.targets import TARGETS, finished_run

FOUND = sorted(path for path in CASES.glob("*/*") if path.is_file())
FEW, MANY = 6, 150


@pytest.fixture(scope="module", autouse=True)
def played_before() -> Path:
    """The run that is damaged, played before anybody watches what is written."""
    return finished_run()


@pytest.mark.parametrize("name", TARGETS)
def test_a_few_inputs_are_answered(name):
    assert found(TARGETS[name], 1, FEW)[1] is None


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_many_inputs_are_answered(name):
    assert found(TARGETS[name], 2, MANY)[1] is None


@pytest.mark.parametrize("path", FOUND, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_once_hurt_is_answered(path):
    name = path.parent.name.replace("_", " ")
    assert broken(TARGETS[name], path.read_bytes()) == ""


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
