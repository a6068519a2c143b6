"""Fuzz targets on a few new inputs and on all inputs that once broke a law."""

from functools import partial
from pathlib import Path

import pytest

from tools.fuzz.law import violation
from tools.fuzz.processes import COMMANDS, command_violation
from tools.fuzz.search import CASES, search_inputs
from tools.fuzz.targets import TARGETS, finished_run

FOUND = sorted(path for path in CASES.glob("*/*") if path.is_file())
FEW, MANY = 2, 150


@pytest.fixture(scope="module", autouse=True)
def finished_run_first() -> Path:
    """Play the run before the watch on written files starts."""
    return finished_run()


def finding_of(name: str, seed: int, examples: int) -> tuple[bytes, str] | None:
    """Return an input of a target that breaks a law, if there is one."""
    return search_inputs(
        TARGETS[name].inputs, partial(violation, TARGETS[name]), seed, examples
    ).finding


@pytest.mark.parametrize("name", TARGETS)
def test_a_few_inputs_are_answered(name):
    assert finding_of(name, 1, FEW) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_many_inputs_are_answered(name):
    assert finding_of(name, 2, MANY) is None


@pytest.mark.parametrize("path", FOUND, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_an_earlier_finding_is_fixed(path):
    name, content = path.parent.name.replace("_", " "), path.read_bytes()
    if name in COMMANDS:
        assert command_violation(COMMANDS[name], content) == ""
    else:
        assert violation(TARGETS[name], content) == ""
