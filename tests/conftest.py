"""Settings of the whole suite: hypothesis profiles, silence about wrap-around in kernels."""

import gc
import os
import signal
import sys
from pathlib import Path

# Tests run side by side already; NumPy's own threads would only wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# What one test played, another has to play as well.
os.environ["PITFLIP_KNOWN"] = "off"
# As in a shell whose environment is activated: `python` is ours, and commands are printed so.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"

import pytest
from hypothesis import HealthCheck, Phase, settings  # what it loads reads that once

pytest_plugins = ["tests.side_by_side"]

# Collecting makes a million objects, and no garbage worth looking for.
gc.disable()
# Python's own 700, 10 and 10 cost tests a twentieth of their time; what is old is looked at last.
BEFORE_LOOKING = 50_000, 10, 100

# Bytecode is kept, whatever the machine says: else each process compiles all it imports.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Kernels compile inside the first example, which is slow and says nothing about the example.
COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("pitflip", COMMON, derandomize=True, max_examples=25)
# What make test-slow tries.
settings.register_profile("thorough", COMMON, derandomize=True, max_examples=300)
# A fault is planted: one example that shows it is enough, the smallest is not looked for.
settings.register_profile(
    "mutants", COMMON, derandomize=True, max_examples=40, phases=[Phase.explicit, Phase.generate]
)
# New examples in every run: pytest --hypothesis-profile=search
settings.register_profile("search", COMMON, max_examples=5000)
settings.load_profile("pitflip")


def pytest_configure(config):
    """Interpreted, the wrap-around that kernels count on is a warning, and warnings are errors."""
    # Begun in the background of a script, Ctrl-C is ignored, here and in all that we begin.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
        config.addinivalue_line(
            "filterwarnings", "ignore:overflow encountered in scalar:RuntimeWarning"
        )


def pytest_collection_finish():
    """What collecting has made stays until the end: no collection of garbage looks at it again."""
    gc.freeze()
    gc.set_threshold(*BEFORE_LOOKING)
    gc.enable()


@pytest.fixture(autouse=True, scope="session")
def _lent_spawners():
    """Walls of tests share a spawner, which is a process of half a second."""
    from tests.lent_spawners import lent_spawners  # noqa: PLC0415  # it loads NumPy

    with lent_spawners():
        yield


@pytest.fixture(autouse=True, scope="session")
def _no_waiting_for_disks():
    """No test goes on after a power cut, and files of tests are many."""
    from tests.no_waiting_for_disks import no_waiting  # noqa: PLC0415  # as late as the above

    with no_waiting():
        yield


@pytest.fixture(scope="module")
def own_spawners():
    """For files whose tests end spawners, or look at all that one began."""
    from tests.lent_spawners import own_spawners  # noqa: PLC0415  # it loads NumPy

    with own_spawners():
        yield
