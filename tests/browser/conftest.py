"""A browser for all tests of a file, and the directory of screenshots."""

import os
from pathlib import Path

import pytest

from tests.browser.chromium import NoBrowser, chromium

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="module")
def browser():
    """A headless Chromium; without one the tests fail with what to install."""
    try:
        with chromium() as found:
            yield found
    except NoBrowser as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def axe() -> str:
    if not AXE.exists():
        pytest.fail("axe-core is missing: make browser, or npm ci in tests/browser", pytrace=False)
    return AXE.read_text()


@pytest.fixture(scope="session")
def shots(tmp_path_factory) -> Path:
    named = os.environ.get("PITFLIP_SHOTS")
    path = Path(named) if named else tmp_path_factory.mktemp("shots")
    path.mkdir(parents=True, exist_ok=True)
    return path
