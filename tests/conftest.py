"""Settings of the whole suite: hypothesis profiles, workers, lent spawners."""

import os
import signal
import sys
from pathlib import Path

# Tests run in parallel already: NumPy's own threads would only compete with them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# No test may use games that another test has played.
os.environ["PITFLIP_CACHE"] = "off"
# As in a shell whose environment is activated: `python` is ours, and commands are printed so.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"

import pytest
from hypothesis import HealthCheck, Phase, settings  # it reads these variables when it is loaded

from games.base import progress
from tests.lent_spawners import lent_spawners, own_spawners

# Kernels compile inside the first example, which is slow and says nothing about the example.
COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("pitflip", COMMON, derandomize=True, max_examples=25)
# The profile of make test-slow.
settings.register_profile("thorough", COMMON, derandomize=True, max_examples=300)
# For planted faults: any failing example will do, so none is shrunk.
settings.register_profile(
    "mutants", COMMON, derandomize=True, max_examples=40, phases=[Phase.explicit, Phase.generate]
)
# New examples in every run: pytest --hypothesis-profile=search
settings.register_profile("search", COMMON, max_examples=5000)
settings.load_profile("pitflip")

MOST_WORKERS = 8


def pytest_configure(config):
    """Let Ctrl-C through, and ignore the wrap-around of interpreted kernels."""
    # A script's background processes ignore Ctrl-C, and their children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Tests of exact output would fail on a slow machine if commands showed that they work.
    progress.FIRST_SECONDS = 600.0
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
        config.addinivalue_line(
            "filterwarnings", "ignore:overflow encountered in scalar:RuntimeWarning"
        )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Start three workers on two cores, because some tests wait for bots and ports."""
    return min(MOST_WORKERS, 3 * (os.cpu_count() or 1) // 2)


@pytest.fixture(autouse=True, scope="session")
def _lent_spawners():
    """Share the spawner of bots among tests: each one takes half a second to start."""
    with lent_spawners():
        yield


@pytest.fixture(scope="module", name="own_spawners")
def _own_spawners():
    """Give the tests of a file spawners of their own, because they end or inspect them."""
    with own_spawners():
        yield
