"""Spawners that tests lend one another: each is a process of half a second, and they are alike."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pytest

from agents.sandbox import sandbox
from agents.sandbox.sandbox import SpawnerProcess, begin_spawner, spawner_environment

Begin = Callable[[], SpawnerProcess]
CACHE = "XDG_CACHE_HOME"


class LentSpawner(SpawnerProcess):
    """A spawner that goes on when the wall that borrowed it is closed."""

    def __init__(self, lender: SpawnerProcess) -> None:
        self.process, self.root, self.level = lender.process, lender.root, lender.level
        self.kill = lender.kill

    def close(self) -> None:
        """Whoever lends it ends it."""


class Spawners:
    """One for each environment that walls are begun in, ended with the tests.

    Where a test has its cache makes no other: a spawner only finds there what is compiled.
    """

    def __init__(self, begin: Begin) -> None:
        self.begin, self.cache = begin, os.environ.get(CACHE)
        self.running: dict[tuple[tuple[str, str], ...], SpawnerProcess] = {}

    def lent(self) -> SpawnerProcess:
        """What a wall gets in place of a spawner of its own."""
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
    """Walls that are begun meanwhile borrow their spawners."""
    with pytest.MonkeyPatch.context() as patch, closing(Spawners(begin_spawner)) as spawners:
        patch.setattr(sandbox, "begin_spawner", spawners.lent)
        yield


@contextmanager
def own_spawners() -> Iterator[None]:
    """Walls that are begun meanwhile have spawners of their own, as they do outside of tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox, "begin_spawner", begin_spawner)
        yield
