"""One browser for all tests of a file, and where their screenshots are kept."""

import os
from pathlib import Path

import pytest

from tests.browser.chromium import NoBrowser, chromium

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="module")
def browser():
    """A headless Chromium; without one the tests fail and say what to install."""
    try:
        with chromium() as found:
            yield found
    except NoBrowser as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def axe() -> str:
    """The accessibility checker."""
    if not AXE.exists():
        pytest.fail("axe-core is missing: make browser, or npm ci in tests/browser", pytrace=False)
    return AXE.read_text()


@pytest.fixture(scope="session")
def shots(tmp_path_factory) -> Path:
    """Where screenshots are kept: PITFLIP_SHOTS, or a temporary directory."""
    named = os.environ.get("PITFLIP_SHOTS")
    path = Path(named) if named else tmp_path_factory.mktemp("shots")
    path.mkdir(parents=True, exist_ok=True)
    return path
