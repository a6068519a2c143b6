"""`pitflip serve`: our agents in other programs."""

import io
import socket
import subprocess
import sys
import threading
from functools import partial

import pytest

from agents.protocols import kgp
from agents.protocols.conversation import Drop, NoLine, Note, Question, Read, Write
from games import game
from games.base.errors import OK, USER_ERROR
from tests.agents.helpers import ROOT
from tests.commands import serve
from tests.forked import in_fork

MOST_SECONDS = 120


def replies(monkeypatch, capsys, words: list[str], *lines: str) -> str:
    stdin = io.TextIOWrapper(io.BytesIO("".join(f"{line}\n" for line in lines).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert serve(words) == OK
    return capsys.readouterr().out


def test_agent_of_experiment_is_served(monkeypatch, capsys):
    words = ["lines", "--agent", f"{ROOT}/experiments/smart_vs_bad.toml:bad", "--seed", "1"]
    question = "S 0 0 0 0 0 1, N 4 4 4 4 4 4, pots 0-0, South to move"
    assert replies(monkeypatch, capsys, words, question) == "6\n"


def test_user_bot_is_served_from_sandbox(monkeypatch, capsys, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "import os\nHERE = os.getpid()\n"
        "def choose(view, legal, rng):\n"
        "    return legal[-1] if os.getpid() == HERE else legal[0]\n"
        f"import sys; open({str(tmp_path / 'reached')!r}, 'w').write('x') "
        "if 'pytest' in sys.modules else None\n"
    )
    words = ["lines", "--agent", f"{path}:choose", "--game", "kalah(6,4)", "--seed", "1"]
    question = "S 4 4 4 4 4 4, N 4 4 4 4 4 4, pots 0-0, South to move"
    assert replies(monkeypatch, capsys, words, question) == "6\n"
    assert not (tmp_path / "reached").exists()


def test_standard_input_is_answered(monkeypatch, capsys):
    words = ["gtp", "--agent", "first"]
    said = replies(monkeypatch, capsys, words, "name", "genmove b", "play w c3")
    assert said == "= Pitflip first\n\n= d3\n\n=\n\n"


def test_answer_comes_while_input_is_open():
    command = in_fork(partial(serve, ["lines", "--agent", "nearest_pot"]), stdin=-1, stdout=-1)
    with subprocess.Popen(text=True, **command) as bot:
        assert bot.stdin
        assert bot.stdout
        bot.stdin.write("S 4 4 4 4 4 4, N 4 4 4 4 4 4, pots 0-0, North to move\n")
        bot.stdin.flush()
        assert bot.stdout.readline() == "1\n"
        bot.stdin.close()
        assert bot.wait(MOST_SECONDS) == OK


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["gtp", "--game", "kalah(6,4)"], "gtp is for othello, not for kalah(6,4)"),
        (["gtp", "--agent", "smrt"], 'did you mean "smart"'),
        (["nboard", "--game", "othello(6)"], "nboard is for othello(8)"),
        (["kgp", "--port", "1"], "refused"),
    ],
)
def test_serve_error_is_one_line(words, message, capsys):
    assert serve(words) != OK
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_unknown_protocol_is_one_line(capsys):
    assert serve(["gpt"]) == USER_ERROR
    assert "gtp" in capsys.readouterr().err


class Server(threading.Thread):
    def __init__(self, of) -> None:
        super().__init__(daemon=True)
        self.of = of
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(MOST_SECONDS)
        self.port = self.listener.getsockname()[1]
        self.said: list[str] = []
        self.last = of.start()

    def run(self) -> None:
        with self.listener:
            connection, _ = self.listener.accept()
        connection.settimeout(MOST_SECONDS)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection, connection.makefile("r", newline="\n") as self.lines:
            self.connection = connection
            talk = kgp.conversation(self.of, {})
            self.carry(talk.greet())
            while not self.of.over(self.last):
                question = Question(self.last, self.of.legal(self.last))
                self.last = self.of.play(self.last, self.carry(talk.choose(question)))
            self.carry(talk.bye())

    def carry(self, steps):
        reply = None
        try:
            while True:
                request, reply = steps.send(reply), None
                if isinstance(request, Write):
                    pinged = "9998 ping\r\n" if " state " in request.text else ""
                    self.connection.sendall((pinged + request.text).encode())
                elif isinstance(request, Read):
                    self.said.append(self.lines.readline())
                    reply = self.said[-1].strip() if self.said[-1] else NoLine.ENDED
                else:
                    assert isinstance(request, Drop | Note)
        except StopIteration as end:
            return end.value


def test_client_plays_on_server():
    server = Server(game("kalah(6,4)"))
    server.start()
    assert serve(["kgp", "--agent", "minimax", "--depth", "2", "--port", str(server.port)]) == OK
    server.join(MOST_SECONDS)
    assert server.of.over(server.last)
    states = sum("yield" in line for line in server.said)
    assert sum("@9998 pong" in line for line in server.said) == states > 10
