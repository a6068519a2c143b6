"""The ridges that a fit chooses from: those of "auto", or the one that is written."""

from arena.learning.learn_table import AUTO
from arena.reading.problems import Problems
from games.names import shown

GRID = (128.0, 32.0, 8.0)  # in positions: an entry seen so often keeps half of what it says


def read_ridge(written: object, problems: Problems) -> tuple[float, ...]:
    """The ridges to choose from."""
    if written == AUTO:
        return GRID
    if isinstance(written, bool) or not isinstance(written, int | float) or not written > 0:
        message = f'ridge must be "{AUTO}" or a number above 0, got {shown(written)}'
        problems.say(("learn", "ridge"), message, ("learn", "ridge"))
        return ()
    return (float(written),)
