"""The text of a bot's fault: one line, the same on terminals, pages, in logs and on bot pages."""

import re
from pathlib import PurePath

# What the stored words mean where nothing else is known of a fault.
FAULT_WORDS = {
    "illegal": "answered with an illegal move",
    "unreadable": "answered with something that is no move",
    "raised": "raised an exception",
    "timeout": "did not answer in time",
    "unloadable": "could not be loaded",
    "crashed": "its process ended",
    "memory": "used more memory than allowed",
    "flooded": "wrote or started more than allowed",
}
LONGEST = 600  # characters
POSITION = re.compile(r",? in '[^']*'$")
# The line that names an error, of Python, Node and Java.
ERROR = re.compile(
    r"(Uncaught |Exception in thread \"[^\"]*\" )?"
    r"([\w$]+\.)*(\w*(Error|Exception|Interrupt|Exit|Warning|Group)|Stop\w*Iteration)(:|$)"
)
# Where an error was raised: of Python, then of Node and Java.
PYTHON_PLACE = re.compile(r'File "([^"]+)", line (\d+)')
STACK_PLACE = re.compile(r"at .*?([^\s():]+):(\d+)(:\d+)?\)?$")


def fault_line(name: str, kind: str, trace: str, game: int | None = None) -> str:
    """What an agent did wrong, and in which game of the run."""
    place = "" if game is None else f" (game {game})"
    return f"{name}: {fault_text(kind, trace)}{place}"


def fault_text(kind: str, trace: str) -> str:
    """What was done wrong; `kind` is how the game ended, `trace` what is stored of it."""
    head, *rest = trace.splitlines() or [""]
    head = POSITION.sub("", head).strip(" :,") or FAULT_WORDS.get(kind, kind)
    if kind == "memory":  # the kernel refused it, Python did, or it was ended: one fault
        head = FAULT_WORDS[kind]
    late = kind == "timeout"  # what a bot wrote before it was ended explains nothing
    found = next((at for at, line in enumerate(rest) if ERROR.match(line.strip())), None)
    if found is None or late:
        more = [line.strip() for line in rest[:2]] if kind == "unloadable" else []
        text = ": ".join(filter(None, [head, "; ".join(filter(None, more))]))
    elif kind == "memory":
        text = f"{head}{error_place(rest, found)}"
    else:
        joint = " " if head.endswith("raised") else ": "
        text = f"{head}{joint}{rest[found].strip()}{error_place(rest, found)}"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def error_place(lines: list[str], error: int) -> str:
    """Which line of which file raised the error on a line of a trace, if the trace says so."""
    for at in range(error - 1, -1, -1):
        if found := PYTHON_PLACE.search(lines[at]):
            code = lines[at + 1].strip() if at + 1 < error else ""
            return f", line {found[2]} of {PurePath(found[1]).name}{': ' if code else ''}{code}"
    for line in lines[error + 1 :]:
        if found := STACK_PLACE.match(line.strip()):
            return f", line {found[2]} of {PurePath(found[1]).name}"
    return ""
