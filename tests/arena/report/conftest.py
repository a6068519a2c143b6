"""Small runs for tests of pages, each played once."""

from functools import cache

import pytest

from tests.arena.report.pages import run_of


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory):
    return cache(lambda name: run_of(name, tmp_path_factory.mktemp(name)))
