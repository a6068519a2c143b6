"""The order of files where tests run side by side: those that took longest come first.

What a file takes is known from the last run. So no process is left with a long file at the end
while the others wait.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

KEPT = "pitflip/seconds_of_files"  # in pytest's cache
OF_A_TEST = 0.02  # seconds, where nothing is known


def file_of(nodeid: str) -> str:
    """The file of a test."""
    return nodeid.partition("::")[0]


def longest_first(items: Sequence[pytest.Item], seconds: Mapping[str, float]) -> list[pytest.Item]:
    """The tests, file after file; within a file as they stand there."""
    number = Counter(file_of(item.nodeid) for item in items)
    expected = {file: seconds.get(file, OF_A_TEST * count) for file, count in number.items()}
    return sorted(items, key=lambda item: -expected[file_of(item.nodeid)])


class LongestFirst:
    """Notes in the process that begins the others what files take, and lets those sort by it."""

    def __init__(self, config: pytest.Config) -> None:
        self.cache = getattr(config, "cache", None)  # none with -p no:cacheprovider
        self.known: dict[str, float] = self.cache.get(KEPT, {}) if self.cache else {}
        self.taken = Counter[str]()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node) -> None:
        """Every process gets the same seconds, whoever writes others meanwhile."""
        node.workerinput[KEPT] = self.known

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.taken[file_of(report.nodeid)] += report.duration

    def pytest_sessionfinish(self) -> None:
        if self.cache:
            self.cache.set(KEPT, self.known | self.taken)
