"""Lines that are printed every few seconds while something takes long and shows nothing itself."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

SECONDS = 4.0  # so that a line comes every 5 s, however busy the machine


@contextmanager
def regular_lines(
    text: Callable[[], str], tell: Callable[[str], object], seconds: float = SECONDS
) -> Iterator[None]:
    """Tell the text every few seconds while the block runs."""
    over = Event()

    def repeat() -> None:
        while not over.wait(seconds):
            tell(text())

    thread = Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
