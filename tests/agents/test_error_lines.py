"""The lines of a bot's error output that say what went wrong."""

import pytest

from agents.error_lines import error_line, telling_lines

PYTHON = """book: none
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
NODE = """reading the book
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
        (PYTHON, "FileNotFoundError: [Errno 2] No such file or directory: 'book.txt'", "bot.py"),
        (NODE, "Error: no book", "bot.js:3"),
        (NODE_MODULE, "Error: Cannot find module './search'", "bot.js"),
        (JAVA, 'Exception in thread "main" java.lang.RuntimeException: no book', "Bot.java:2"),
        (RUST, "thread 'main' panicked at src/main.rs:3:5:", "index out of bounds"),
        ("one\ntwo\nthree\n", "three", "one"),
        ("", "", ""),
    ],
)
def test_the_first_error_line_and_its_place_are_kept(log, line, place):
    assert error_line(log) == line
    kept = telling_lines(log)
    assert len(kept) <= 5
    assert error_line("\n".join(kept)) == line
    assert place in "\n".join(kept)
