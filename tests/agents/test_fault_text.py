"""The text of a fault, and the relevant lines of a bot's error output."""

import pytest

from agents.fault_text import FAULT_WORDS, fault_line, fault_text, relevant_lines

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
def test_text_has_error_and_place(kind, trace, words, left_out):
    text = fault_text(kind, trace)
    assert all(word in text for word in words)
    assert left_out not in text
    assert "\n" not in text
    assert fault_line("mine", kind, trace, 3) == f"mine: {text} (game 3)"


PYTHON_LOG = """book: none
Traceback (most recent call last):
  File "/class/mina/bot.py", line 2, in <module>
    text = pathlib.Path("book.txt").read_text()
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/usr/lib/python3.11/pathlib.py", line 1058, in read_text
    with self.open(mode='r', encoding=encoding, errors=errors) as f:
         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
FileNotFoundError: [Errno 2] No such file or directory: 'book.txt'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/class/mina/bot.py", line 9, in <module>
    raise SystemError
SystemError
"""
NODE_LOG = """reading the book
/class/mina/bot.js:3
  if (!book) throw new Error("no book");
             ^

Error: no book
    at deep (/class/mina/bot.js:3:49)
    at deep (/class/mina/bot.js:3:38)
    at Interface.<anonymous> (/class/mina/bot.js:5:20)
    at Interface.emit (node:events:517:28)
    at [_onLine] [as _onLine] (node:internal/readline/interface:416:12)
    at [_line] [as _line] (node:internal/readline/interface:887:18)

Node.js v18.19.0
"""
NODE_MODULE = """node:internal/modules/cjs/loader:1080
  throw err;
  ^

Error: Cannot find module './search'
Require stack:
- /class/mina/bot.js
    at Module._resolveFilename (node:internal/modules/cjs/loader:1077:15)
    at Module._load (node:internal/modules/cjs/loader:922:27)
    at node:internal/main/run_main_module:23:47
"""
JAVA = """search of depth 3
Exception in thread "main" java.lang.RuntimeException: no book
\tat Bot.deep(Bot.java:2)
\tat Bot.main(Bot.java:5)
"""
RUST = """thread 'main' panicked at src/main.rs:3:5:
index out of bounds: the len is 3 but the index is 9
note: run with `RUST_BACKTRACE=1` to display a backtrace
"""


@pytest.mark.parametrize(
    ("log", "line", "place"),
    [
        (
            PYTHON_LOG,
            "FileNotFoundError: [Errno 2] No such file or directory: 'book.txt'",
            "bot.py",
        ),
        (NODE_LOG, "Error: no book", "bot.js:3"),
        (NODE_MODULE, "Error: Cannot find module './search'", "bot.js"),
        (JAVA, 'Exception in thread "main" java.lang.RuntimeException: no book', "Bot.java:2"),
        (RUST, "thread 'main' panicked at src/main.rs:3:5:", "index out of bounds"),
        ("one\ntwo\nthree\n", "three", "one"),
        ("", "", ""),
    ],
)
def test_relevant_lines_contain_error_and_place(log, line, place):
    lines = relevant_lines(log)
    assert len(lines) <= 5
    assert line in [each.strip() for each in lines] or not log
    assert place in "\n".join(lines)
