"""The lines of a bot's error output that say what went wrong."""

import re
from collections.abc import Sequence

from agents.core import AgentFailure
from agents.fault_text import fault_text
from agents.user_files import is_user_path
from games.base.errors import printable

KEPT_LINES = 5
SLOW_FAULTS = ("timeout", "unloadable", "memory", "flooded")  # trying on would take long
PYTHON_FRAME = re.compile(r'\s+File "(?P<path>[^"]*)", line \d+')
STACK_FRAME = re.compile(r"\s+at\s")  # of Node and Java
MARKS = re.compile(r"[\s^~]*")  # the line below the code of a Python frame
ERROR = re.compile(r"(Error|Exception|Throwable)\b|\b(error|fatal|panicked at)\b")


def error_line(text: str) -> str:
    """The first error line of a traceback, a Node or Java stack or other output, else the last
    line."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    at = _python_error(lines)
    at = _stack_error(lines) if at is None else at
    at = _named_error(lines) if at is None else at
    return lines[-1 if at is None else at].strip()


def failure_words(failure: AgentFailure) -> str:
    """Its kind, what happened and the error line, each once, without the position."""
    if failure.kind == "memory":
        return f"{failure.kind}: {fault_text(failure.kind, failure.trace)}"
    message = printable(failure.message).rstrip(",:")
    words = (failure.kind, message, error_line(failure.trace))
    return ": ".join(filter(None, dict.fromkeys(words)))


def telling_lines(text: str, most: int = KEPT_LINES) -> list[str]:
    """The few lines that say what went wrong: the error line and its place in the user's file."""
    lines = [line for line in text.expandtabs(4).splitlines() if line.strip()]
    if (at := _python_error(lines)) is not None:
        frame = _users_frame(lines, at)
        return [*frame, *lines[at : at + most - len(frame)]]
    if (at := _stack_error(lines)) is not None:
        return lines[at : at + most]
    if len(lines) > most and (at := _named_error(lines)) is not None:
        return [lines[at], *lines[at + 1 :][1 - most :]]
    return lines[-most:]


def _python_error(lines: Sequence[str]) -> int | None:
    """The first line that is not indented after a frame of a Python traceback."""
    in_frames = False
    for at, line in enumerate(lines):
        if in_frames and not line[0].isspace():
            return at
        in_frames |= PYTHON_FRAME.match(line) is not None
    return None


def _users_frame(lines: Sequence[str], error: int) -> list[str]:
    """The innermost frame in a file of the user's before the error, with its line of code."""
    frames = [
        (at, found["path"])
        for at in range(error)
        if (found := PYTHON_FRAME.match(lines[at])) is not None
    ]
    own = [at for at, path in frames if is_user_path(path)] or [at for at, _ in frames]
    code = lines[own[-1] + 1]
    shows_code = own[-1] + 1 < error and not (PYTHON_FRAME.match(code) or MARKS.fullmatch(code))
    return [lines[own[-1]], *[code] * shows_code]


def _stack_error(lines: Sequence[str]) -> int | None:
    """The line with the error above the first frame of a stack."""
    frame = next((at for at, line in enumerate(lines) if STACK_FRAME.match(line)), None)
    if not frame:
        return None
    above = [at for at in range(frame) if not lines[at][0].isspace()]
    return next((at for at in above if ERROR.search(lines[at])), above[-1] if above else None)


def _named_error(lines: Sequence[str]) -> int | None:
    return next((at for at, line in enumerate(lines) if ERROR.search(line)), None)
