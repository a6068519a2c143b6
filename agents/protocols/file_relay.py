"""Runs in a bot's process: writes the state that it is sent to a file, and passes on the actions.

It is executed as a file by a Python without libraries, and so imports nothing of ours:

    python -IS file_relay.py COMMAND...
"""

import os
import subprocess
import sys
import time
from pathlib import Path

STATE, ACTION = "state", "action"
LOOK_SECONDS = 0.002
CHUNK = 1 << 16


def read_state() -> str:
    """As many lines as a state has."""
    lines = [sys.stdin.readline(), sys.stdin.readline()]
    size = len(lines[1].split())
    lines += [sys.stdin.readline() for _ in range(size)]
    lines += [sys.stdin.readline() for _ in range(int(lines[1 + size]))]
    return "".join(lines)


class ActionFile:
    """What a bot has appended, passed on line by line."""

    def __init__(self, path: Path) -> None:
        """The file may come later."""
        self.path, self.at, self.rest = path, 0, b""

    def pass_on(self) -> None:
        """Write the lines that are whole; one that is not waits for its end."""
        try:
            with self.path.open("rb") as file:
                if os.fstat(file.fileno()).st_size < self.at:
                    self.at, self.rest = 0, b""  # it begins anew
                file.seek(self.at)
                while content := file.read(CHUNK):
                    self.at += len(content)
                    whole, _, self.rest = (self.rest + content).rpartition(b"\n")
                    if whole:
                        os.write(1, whole + b"\n")
        except OSError:
            pass


def main(command: "list[str]") -> int:
    """Run the bot for one state; its exit status."""
    paths = [str(Path(name).absolute()) for name in (STATE, ACTION)]
    written = os.open(STATE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(written, read_state().encode())  # the bot, which reads it, is started after it
    os.close(written)
    bot = subprocess.Popen([*command, *paths], stdin=subprocess.DEVNULL, stdout=2, stderr=2)
    actions = ActionFile(Path(ACTION))
    while bot.poll() is None:
        actions.pass_on()
        time.sleep(LOOK_SECONDS)
    actions.pass_on()
    return bot.returncode & 0xFF


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
