"""Lines that are printed every few seconds while something takes long and shows nothing itself."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic

FIRST_SECONDS = 2.0
SECONDS = 4.0  # so that a line comes every 5 s, however busy the machine


@contextmanager
def regular_lines(
    text: Callable[[], str], tell: Callable[[str], object], seconds: float = SECONDS
) -> Iterator[None]:
    """Tell the text after two seconds, then every few seconds, while the block runs."""
    over = Event()

    def repeat() -> None:
        wait = min(FIRST_SECONDS, seconds)
        while not over.wait(wait):
            tell(text())
            wait = seconds

    thread = Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class WaitLines:
    """The same where workers are forked, which no thread may do beside: told by who waits."""

    def __init__(self, text: Callable[[], str], tell: Callable[[str], object]) -> None:
        """The first line is due after two seconds."""
        self.text, self.tell, self.due = text, tell, monotonic() + FIRST_SECONDS

    def show(self) -> None:
        """Tell the text if it is time to."""
        if monotonic() >= self.due:
            self.tell(self.text())
            self.due = monotonic() + SECONDS
