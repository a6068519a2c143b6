"""A fault in one line: the error, and the line of the bot's code that raised it."""

import pytest

from agents.fault_text import FAULT_WORDS, fault_line, fault_text

PYTHON = """\
raised in 'S 4 4 4, N 4 4 4, pots 0-0, South to move'
  File "/bots/mine.py", line 9, in choose
    return helper(0)
  File "/bots/mine.py", line 4, in helper
    return 1 / x
           ~~^~~
ZeroDivisionError: division by zero"""
NODE = """\
ended with exit status 1 in 'S 4 4 4'
TypeError: Cannot read properties of undefined (reading 'x')
    at choose (/bots/mine.js:7:15)
    at Interface.<anonymous> (node:events:517:28)

Node.js v18.19.0"""
CHAIN = """\
raised in 'S 4'
  File "/b.py", line 2, in choose
    {}["a"]
KeyError: 'a'

During handling of the above exception, another exception occurred:
  File "/b.py", line 4, in choose
    raise ValueError("second")
ValueError: second"""
OUT_OF_MEMORY = """\
raised in 'S 4'
  File "/b.py", line 4, in choose
    hog.append(bytearray(50_000_000))
MemoryError"""
LATE = "did not answer within 5 s (does it flush its output?) in 'S 4 4'\nPipeError: ignored"


@pytest.mark.parametrize(
    ("kind", "trace", "words", "left_out"),
    [
        ("raised", PYTHON, ("ZeroDivisionError", "line 4 of mine.py", "return 1 / x"), "South"),
        ("crashed", NODE, ("exit status 1", "TypeError", "line 7 of mine.js"), "node:events"),
        ("raised", CHAIN, ("KeyError: 'a'", "line 2 of b.py"), "second"),
        ("timeout", LATE, ("5 s", "flush"), "ignored"),
        ("unloadable", "no compiling:\nline 2: x\nno such y", ("line 2: x", "no such y"), "\n"),
        ("memory", "", ("memory",), "\n"),
        ("memory", OUT_OF_MEMORY, (FAULT_WORDS["memory"], "line 4 of b.py"), "MemoryError"),
        ("memory", "used more than 512 MB of memory in 'S'", (FAULT_WORDS["memory"],), "512"),
        ("unheard_of", "", ("unheard_of",), "\n"),
    ],
)  # fmt: skip
def test_it_says_the_error_and_its_line_and_nothing_else(kind, trace, words, left_out):
    text = fault_text(kind, trace)
    assert all(word in text for word in words)
    assert left_out not in text
    assert "\n" not in text
    assert fault_line("mine", kind, trace, 3) == f"mine: {text} (game 3)"
