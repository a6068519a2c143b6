"""Every input is answered soon, in a few printable lines; what once hurt is tried again."""

from functools import partial
from pathlib import Path

import pytest

from tools.fuzz.law import broken
from tools.fuzz.processes import COMMANDS, broken_command
from tools.fuzz.search import CASES, found
from tools.fuzz.targets import TARGETS, finished_run

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
