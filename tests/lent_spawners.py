"""Spawners shared by tests: starting one takes half a second."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pytest

from agents.sandbox import sandbox
from agents.sandbox.sandbox import SpawnerProcess, spawner_environment, start_spawner

Begin = Callable[[], SpawnerProcess]
CACHE = "XDG_CACHE_HOME"


class LentSpawner(SpawnerProcess):
    """A spawner that keeps running when a sandbox that uses it is closed."""

    def __init__(self, lender: SpawnerProcess) -> None:
        self.process, self.socket = lender.process, lender.socket
        self.level, self.id = lender.level, lender.id
        self.kill = lender.kill

    def close(self) -> None:
        """Do nothing: `Spawners` ends it."""


class Spawners:
    """One spawner for each environment, ended with the tests.

    The cache directory of a test makes no difference: a spawner only reads compiled code there.
    """

    def __init__(self, begin: Begin) -> None:
        self.begin, self.cache = begin, os.environ.get(CACHE)
        self.running: dict[tuple[tuple[str, str], ...], SpawnerProcess] = {}

    def lent(self) -> SpawnerProcess:
        """Return a shared spawner for a sandbox."""
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv(CACHE, raising=False)
            if self.cache is not None:
                patch.setenv(CACHE, self.cache)
            key = tuple(spawner_environment().items())
            if key not in self.running or self.running[key].process.poll() is not None:
                self.running[key] = self.begin()
        return LentSpawner(self.running[key])

    def close(self) -> None:
        for each in self.running.values():
            each.close()


@contextmanager
def lent_spawners() -> Iterator[None]:
    """Let sandboxes that open meanwhile share spawners."""
    with pytest.MonkeyPatch.context() as patch, closing(Spawners(start_spawner)) as spawners:
        patch.setattr(sandbox, "start_spawner", spawners.lent)
        yield


@contextmanager
def own_spawners() -> Iterator[None]:
    """Let sandboxes that open meanwhile start their own spawners, as outside of tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox, "start_spawner", start_spawner)
        yield
