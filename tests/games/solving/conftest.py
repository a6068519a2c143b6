"""Databases of the tests lie in a cache of their own."""

import pytest


@pytest.fixture(scope="session")
def databases(tmp_path_factory):
    """One directory for all of them: what a file has built, the next one finds."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True, scope="module")
def own_cache(databases):
    """Only while these tests run: other tests of the process have the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(databases))
        yield
