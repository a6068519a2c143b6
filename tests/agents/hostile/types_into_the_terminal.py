"""Types a command into the terminal."""
# ends: raised

import fcntl
import termios


def choose(view, legal, rng):
    with open("/dev/tty", "w") as terminal:
        fcntl.ioctl(terminal, termios.TIOCSTI, b"\n")
    return legal[0]
