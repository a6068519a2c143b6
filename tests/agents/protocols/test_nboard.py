"""NBoard: a tolerant host, and our engine."""

import pytest

from games import game
from tests.agents.protocols.wire import Ours, Script, Table, Wire, fault_of, protocol

OF = game("othello(8)")


class Engine(Script):
    """Answers every ping, after other output."""

    def __init__(self, goes: str | list[str], chatter: str = "") -> None:
        super().__init__({"go": goes})
        self.chatter = chatter

    def hears(self, line):
        if line.startswith("ping"):
            self.heard.append(line)
            yield f"{self.chatter}pong {line.split()[1]}\nstatus waiting\n"
        else:
            yield from super().hears(line)


def ask(bot, opening=()) -> str:
    table = Table(OF, Wire(bot, protocol("nboard").conversation(OF, {"depth": 3})), 0, opening)
    table.wire.open(0, OF.start())
    move = table.wire.run(table.wire.talk.choose(table.question()))
    return OF.move_text(table.positions[-1], move)


@pytest.mark.parametrize(
    "answer", ["=== F5", "=== f5 0.00 0.0", "=== F5/-1.39/0.00", "=== f5//0.00", "===F5"]
)
def test_move_notations(answer):
    said = f"status thinking\nnodestats 5 0.1\nsearch E6 +1 0 3\n{answer}\nstatus\n"
    assert ask(Engine(said)) == "f5"


@pytest.mark.parametrize(
    ("answer", "value"),
    [("=== F5", None), ("=== f5 0.50 0.0", "0.50"), ("=== F5/-1.39/0.00", "-1.39"),
     ("=== f5//0.00", None), ("===F5", None)],
)  # fmt: skip
def test_evaluation_and_nodes_are_data(answer, value):
    bot = Engine(f"nodestats 5 0.1\n{answer}\n")
    table = Table(OF, Wire(bot, protocol("nboard").conversation(OF, {"depth": 3})), 0)
    table.wire.open(0, OF.start())
    table.wire.run(table.wire.talk.choose(table.question()))
    said = dict(table.wire.said)
    assert said.pop("nodes") == "5"
    assert said == ({} if value is None else {"value": value})


def test_greeting_and_pongs():
    bot = Engine("=== D6\n", "set myname X\n=== A1\npong 99\nstatus\n")
    assert ask(bot, (OF.parse_move(OF.start(), "f5"),)) == "d6"
    start = "---------------------------O*------*O--------------------------- *"
    assert bot.heard[0] == "nboard 2"
    assert bot.heard[1] == "set depth 3"
    assert bot.heard[2].startswith("set game (;GM[Othello]")
    assert f"BO[8 {start}]" in bot.heard[2]
    assert bot.heard[3:] == ["ping 1", bot.heard[2], "ping 2", "move F5", "ping 3", "go"]


def test_missing_pong_is_a_timeout():
    assert fault_of(lambda: ask(Script({"ping": "pong 7\n"}))) == "timeout"


def test_all_moves_and_passes_are_sent():
    bot = Ours("nboard", OF, "first")
    table = Table(OF, Wire(bot, protocol("nboard").conversation(OF, {})), 0).play()
    told = [line.split()[1] for line in bot.heard if line.startswith("move")]
    texts = OF.write([ply.move for ply in table.plies]).upper().replace("PASS", "PA").split()
    assert told == texts[: len(told)]
    assert len(told) >= len(texts) - 2  # moves after its last question are not sent


def replies(*lines: str) -> list[str]:
    engine = Ours("nboard", OF)
    list(engine.start(()))
    return ["".join(engine.hears(line)) for line in lines]


def test_engine_does_not_play_its_choices():
    game_text = "(;GM[Othello]PC[x]PB[a]PW[b]RE[?]TI[0]TY[8]BO[8 {} *]B[F5]W[F6//1.25];)".format(
        "---------------------------O*------*O---------------------------"
    )
    said = replies(
        "nboard 2", "set depth 2", "ping 1", "go", "go", "move D3/1.00/0.1", "C3", "hint 1",
        "learn", f"set game {game_text}", "go", "analyze", "move Z9", "go", "quit",
    )  # fmt: skip
    assert said[1] == "set myname Pitflip-first\n"
    assert said[2] == "pong 1\n"
    assert said[3] == said[4] == "status Pitflip is thinking\n=== D3\nstatus\n"
    assert said[7].startswith("search ")
    assert said[8] == "learned\n"
    after = OF.replay("f5 f6")[-1]
    first = OF.move_text(after, OF.legal(after)[0]).upper()
    assert said[10] == said[13] == f"status Pitflip is thinking\n=== {first}\nstatus\n"
    assert said[9] == said[11] == said[12] == ""
