"""The text of a bot's fault: one line, the same on terminals, pages and in logs.

The lines of a bot's error output that belong in its log are chosen here, too.
"""

import re
from collections.abc import Sequence
from pathlib import PurePath

from agents.core import AgentFailure
from agents.user_files import is_user_path

# The texts of faults without a message, by termination.
FAULT_WORDS = {
    "illegal": "answered with an illegal move",
    "unreadable": "answered with something that is not a move",
    "raised": "raised an exception",
    "timeout": "did not answer in time",
    "unloadable": "could not be loaded",
    "crashed": "its process ended",
    "memory": "used more memory than allowed",
    "flooded": "wrote or started more than allowed",
}
SLOW_FAULTS = ("timeout", "unloadable", "memory", "flooded")  # further attempts would take long
LONGEST = 600  # characters of a fault's text
MOST_LINES = 5  # of a log
POSITION = re.compile(r",? in '[^']*'$")
# The line that names an error in Python, Node and Java.
ERROR = re.compile(
    r"(Uncaught |Exception in thread \"[^\"]*\" )?"
    r"([\w$]+\.)*(\w*(Error|Exception|Interrupt|Exit|Warning|Group)|Stop\w*Iteration)(:|$)"
)
# The place of an error in Python, then in Node and Java.
PYTHON_PLACE = re.compile(r'File "([^"]+)", line (\d+)')
STACK_PLACE = re.compile(r"at .*?([^\s():]+):(\d+)(:\d+)?\)?$")
# The same in output that may contain anything else.
PYTHON_FRAME = re.compile(r'\s+File "(?P<path>[^"]*)", line \d+')
STACK_FRAME = re.compile(r"\s+at\s")
MARKS = re.compile(r"[\s^~]*")  # the line below the code of a Python frame
ANY_ERROR = re.compile(r"(Error|Exception|Throwable)\b|\b(error|fatal|panicked at)\b")


def fault_line(name: str, kind: str, trace: str, game: int | None = None) -> str:
    """Return the fault of an agent, with its game of the run."""
    place = "" if game is None else f" (game {game})"
    return f"{name}: {fault_text(kind, trace)}{place}"


def failure_text(failure: AgentFailure) -> str:
    """Return the termination and the text of a failure, without the position."""
    text = fault_text(failure.kind, failure.description)
    return text if text.startswith(failure.kind) else f"{failure.kind}: {text}"


def fault_text(kind: str, trace: str) -> str:
    """Return the text of a fault; `kind` is the termination and `trace` the stored message."""
    head, *rest = trace.splitlines() or [""]
    head = POSITION.sub("", head).strip(" :,") or FAULT_WORDS.get(kind, kind)
    if kind == "memory":  # one text, whether the kernel, Python or the monitor enforced the limit
        head = FAULT_WORDS[kind]
    error = next((at for at, line in enumerate(rest) if ERROR.match(line.strip())), None)
    if error is None or kind == "timeout":  # earlier output does not explain a timeout
        more = [line.strip() for line in rest[:2]] if kind == "unloadable" else []
        text = ": ".join(filter(None, [head, "; ".join(filter(None, more))]))
    elif kind == "memory":
        text = f"{head}{error_place(rest, error)}"
    else:
        joint = " " if head.endswith("raised") else ": "
        text = f"{head}{joint}{rest[error].strip()}{error_place(rest, error)}"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def error_place(lines: list[str], error: int) -> str:
    """Return the file and line that raised the error in a trace; empty if unknown."""
    for at in range(error - 1, -1, -1):
        if found := PYTHON_PLACE.search(lines[at]):
            code = lines[at + 1].strip() if at + 1 < error else ""
            return f", line {found[2]} of {PurePath(found[1]).name}{': ' if code else ''}{code}"
    for line in lines[error + 1 :]:
        if found := STACK_PLACE.match(line.strip()):
            return f", line {found[2]} of {PurePath(found[1]).name}"
    return ""


def relevant_lines(text: str, most: int = MOST_LINES) -> list[str]:
    """Return the error line and its place in the user's file, or else the last lines."""
    lines = [line for line in text.expandtabs(4).splitlines() if line.strip()]
    if (at := _find_python_error(lines)) is not None:
        frame = _user_frame(lines, at)
        return [*frame, *lines[at : at + most - len(frame)]]
    if (at := _find_stack_error(lines)) is not None:
        return lines[at : at + most]
    if len(lines) > most and (at := _find_error(lines)) is not None:
        return [lines[at], *lines[at + 1 :][1 - most :]]
    return lines[-most:]


def _find_python_error(lines: Sequence[str]) -> int | None:
    """Return the first unindented line after a frame of a Python traceback."""
    in_frames = False
    for at, line in enumerate(lines):
        if in_frames and not line[0].isspace():
            return at
        in_frames |= PYTHON_FRAME.match(line) is not None
    return None


def _user_frame(lines: Sequence[str], error: int) -> list[str]:
    """Return the innermost frame in a user's file before the error, with its line of code."""
    frames = [
        (at, found["path"])
        for at in range(error)
        if (found := PYTHON_FRAME.match(lines[at])) is not None
    ]
    own = [at for at, path in frames if is_user_path(path)] or [at for at, _ in frames]
    code = lines[own[-1] + 1]
    shows_code = own[-1] + 1 < error and not (PYTHON_FRAME.match(code) or MARKS.fullmatch(code))
    return [lines[own[-1]], *[code] * shows_code]


def _find_stack_error(lines: Sequence[str]) -> int | None:
    """Return the error line above the first frame of a stack."""
    frame = next((at for at, line in enumerate(lines) if STACK_FRAME.match(line)), None)
    if not frame:
        return None
    above = [at for at in range(frame) if not lines[at][0].isspace()]
    return next((at for at in above if ANY_ERROR.search(lines[at])), above[-1] if above else None)


def _find_error(lines: Sequence[str]) -> int | None:
    return next((at for at, line in enumerate(lines) if ANY_ERROR.search(line)), None)
