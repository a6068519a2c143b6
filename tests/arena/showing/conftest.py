"""What the tests of pages share: each small run is played once."""

from functools import cache

import pytest

from tests.arena.showing.pages import run_of


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory):
    """The directory of a small run by its name, with its page; tests may add files."""
    return cache(lambda name: run_of(name, tmp_path_factory.mktemp(name)))
