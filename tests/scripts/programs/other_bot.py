"""A bot that somebody else might have written, in four protocols, with every fault on demand.

It knows the protocols from their specifications, and nothing of ours:

    other_bot.py PROTOCOL [FAULT [AT [GAMES]]]

It takes the lowest move. The fault happens instead of answer AT (1 is the first) of each process.
"""

import os
import re
import socket
import sys
import time
from pathlib import Path

PROTOCOL = sys.argv[1]
FAULT = sys.argv[2] if len(sys.argv) > 2 else ""
AT = int(sys.argv[3]) if len(sys.argv) > 3 else 1
PORT = next((int(word) for word in sys.argv[4:] if word.isdecimal()), 2671)
ILLEGAL = {
    "lines": "99",
    "gtp": "= a1",
    "nboard": "=== A1",
    "kgp": "move 99\r\nyield",
}
answers = 0


def write(text, target=None):
    """To standard output, or to the server of KGP."""
    if target is not None:
        target.sendall(text.encode())
        return
    sys.stdout.write(text)
    sys.stdout.flush()


def answer(text, end="\n", target=None):
    """Write an answer, unless it is the one with the fault."""
    global answers
    answers += 1
    if not FAULT or answers != AT:
        write(text + end, target)
        return
    if FAULT == "silence":
        time.sleep(1000)
    elif FAULT == "garbage":
        # Without its sign a line of GTP or NBoard is chatter, and no answer at all.
        sign = {"gtp": "= ", "nboard": "=== "}.get(PROTOCOL, "")
        write(f"{sign}Zwei\tBohnen \x1b[31m{end}", target)
    elif FAULT == "half":
        write((text + end).rstrip()[: max(1, len(text) // 2)], target)
        time.sleep(1000)
    elif FAULT == "twice":
        write((text + end) * 2, target)
    elif FAULT == "death":
        os._exit(3)
    elif FAULT == "after":
        write(text + end, target)
        os._exit(0)
    elif FAULT == "flood":
        while True:
            write("x" * 65536, target)
    elif FAULT == "stderr":
        sys.stderr.write("y" * 300_000)
        sys.stderr.flush()
        write(text + end, target)
    elif FAULT == "illegal":
        write(ILLEGAL[PROTOCOL] + end, target)
    elif FAULT == "slowly":
        for letter in text + end:
            write(letter, target)
            time.sleep(0.01)
    elif FAULT == "resign":
        write({"lines": "resign", "gtp": "= resign"}[PROTOCOL] + end, target)


def lines():
    """One question, one answer."""
    for line in sys.stdin:
        answer(line.split(";")[1].split()[0])


# ------------------------------------------------------------------------- Othello


class Othello:
    """A board of its own: squares by (column, row), 0 Black and 1 White."""

    def __init__(self):
        self.discs = {(3, 3): 1, (4, 4): 1, (4, 3): 0, (3, 4): 0}

    def flips(self, square, colour):
        """The discs that a move turns."""
        found = []
        if square in self.discs:
            return found
        for right in (-1, 0, 1):
            for down in (-1, 0, 1):
                x, y = square[0] + right, square[1] + down
                line = []
                while (right or down) and self.discs.get((x, y)) == 1 - colour:
                    line.append((x, y))
                    x, y = x + right, y + down
                if line and self.discs.get((x, y)) == colour:
                    found += line
        return found

    def moves(self, colour):
        """Legal squares, row by row."""
        every = [(x, y) for y in range(8) for x in range(8)]
        return [square for square in every if self.flips(square, colour)]

    def play(self, square, colour):
        """Put a disc and turn the others."""
        for each in self.flips(square, colour):
            self.discs[each] = colour
        self.discs[square] = colour


def square_of(text):
    """The square of a text such as C4."""
    return ord(text[0].lower()) - ord("a"), int(text[1]) - 1


def text_of(square):
    return f"{'abcdefgh'[square[0]]}{square[1] + 1}"


def gtp():
    """Replies end with an empty line; a pass left out is inferred from two moves of one colour."""
    board = Othello()
    for line in sys.stdin:
        words = line.lower().split()
        if not words:
            continue
        if words[0] == "name":
            write("= Somebody\n\n")
        elif words[0] == "clear_board":
            board = Othello()
            write("=\n\n")
        elif words[0] == "play":
            colour = "bw".index(words[1][0])
            if words[2] == "pass":
                write("? syntax error\n\n")
            elif board.flips(square_of(words[2]), colour):
                board.play(square_of(words[2]), colour)
                write("= \n\n")
            else:
                write("? illegal move\n\n")
        elif words[0] == "genmove":
            colour = "bw".index(words[1][0])
            move = next(iter(board.moves(colour)), None)
            if move:
                board.play(move, colour)
            answer(f"= {text_of(move).upper() if move else 'pass'}", "\n\n")
        elif words[0] == "quit":
            write("=\n\n")
            return
        elif words[0] in ("version", "list_commands"):
            write("= 0.1\n\n")
        else:
            write("? unknown command\n\n")


def nboard():
    """A position is changed by the host alone."""
    board, mover = Othello(), 0
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "ping":
            write(f"pong {rest}\n")
        elif word == "set" and rest.startswith("game"):
            squares = re.search(r"BO\[8 (\S+) ([*O])\]", rest)
            board.discs = {
                (place % 8, place // 8): "*O".index(letter)
                for place, letter in enumerate(squares[1])
                if letter in "*O"
            }
            mover = "*O".index(squares[2])
        elif word == "set":
            write("set myname Somebody\n")
        elif word == "move":
            move = rest.partition("/")[0]
            if move.upper() != "PA":
                board.play(square_of(move), mover)
            mover = 1 - mover
        elif word == "go":
            moves = board.moves(mover)
            answer(f"status thinking\n=== {text_of(moves[0]) if moves else 'PA'}/0.5/0.01")
            write("status\n")


# --------------------------------------------------------------------------- Kalah


def kgp():
    """A client: South in every state; CRLF."""
    server = socket.create_connection(("localhost", PORT))
    number = 1
    for raw in server.makefile():
        words = raw.split()
        own = words[0].partition("@")[0]
        name, arguments = words[1], words[2:]
        if name == "kgp":
            write('1 set info:name "Somebody"\r\n3 mode freeplay\r\n', server)
            number = 5
        elif name == "ping":
            write(f"{number}@{own} pong\r\n", server)
            number += 2
        elif name == "state":
            numbers = [int(each) for each in arguments[0].strip("<>").split(",")]
            pits = numbers[3 : 3 + numbers[0]]
            move = next(place for place, beans in enumerate(pits, 1) if beans)
            answer(f"{number}@{own} move {move}\r\n{number + 2}@{own} yield", "\r\n", server)
            number += 4
        elif name == "goodbye":
            return


def files():
    """The two paths are the last arguments; moves that it thinks better of come first."""
    words = [int(word) for word in Path(sys.argv[-2]).read_text().split()]
    legal = sorted(zip(words[66::2], words[67::2], strict=True))
    with Path(sys.argv[-1]).open("a") as action:
        for x, y in reversed(legal):
            action.write(f"{x} {y}\n")
            action.flush()
        if FAULT == "illegal":
            action.write("0 0\n")
        elif FAULT == "garbage":
            action.write("0\n")
        elif FAULT == "half":
            action.write("7")
        elif FAULT == "silence":
            action.flush()
            time.sleep(1000)
        elif FAULT == "death":
            action.truncate(0)
            action.flush()
            os._exit(3)


if __name__ == "__main__":
    globals()[PROTOCOL]()
