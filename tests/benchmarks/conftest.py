"""C programs of tests count and search what ours do; how fast they are, no test asks."""

import pytest

from benchmarks import c_program


@pytest.fixture(autouse=True, scope="session")
def _compiled_quickly():
    """Optimized they count the same, and take ten times as long to compile."""
    quick = tuple("-O0" if flag == "-O3" else flag for flag in c_program.FLAGS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(c_program, "FLAGS", quick)
        yield
