"""GTP: tolerant hosts and engines."""

from dataclasses import replace

import pytest

from agents.protocols.conversation import BotFault
from games import game
from tests.agents.protocols.wire import DEATH, Ours, Script, Table, Wire, fault_of, protocol

OF = game("othello(8)")
GREETING = {"name": "= Test\n\n", "version": "= 1\n\n", "list_commands": "= play\ngenmove\n\n"}


def wire(rules: dict, of=OF, **options) -> Wire:
    both = {**rules, **{key: GREETING[key] for key in GREETING if key not in rules}}
    return Wire(Script({**both, "": "=\n\n"}), protocol("gtp").conversation(of, options))


def first_move(talk: Wire, opening=(), game_seconds=None) -> str:
    table = Table(talk.talk.game, talk, len(opening) % 2, opening)
    talk.open(table.player, OF.start())
    move = talk.run(talk.talk.choose(replace(table.question(), game_seconds=game_seconds)))
    return OF.move_text(table.positions[-1], move)


@pytest.mark.parametrize(
    "reply", ["= f5\n\n", "=f5\n\n", "= F5\n\n", "= f5 \n\n", "=  F5 0.3\n\n", "= f5\nmore\n\n"]
)
def test_move_notations(reply):
    assert first_move(wire({"genmove": reply})) == "f5"


def test_lines_before_reply_are_noted():
    talk = wire({"genmove": "thinking\n\n12%\n= f5\n\n"})
    assert first_move(talk) == "f5"
    assert talk.notes == ["wrote 2 lines before its reply to genmove"]


def test_commands_are_lower_case_without_ids():
    talk = wire({"genmove": "= d6\n\n"})
    first_move(talk, (OF.parse_move(OF.start(), "f5"),))
    assert talk.bot.heard == [
        "name",
        "version",
        "list_commands",
        "clear_board",
        "play black f5",
        "genmove white",
    ]


def test_refused_move_is_sent_again_once():
    opening = (OF.parse_move(OF.start(), "f5"),)
    talk = wire({"play": ["? illegal move\n\n", "=\n\n"], "genmove": "= d6\n\n"})
    assert first_move(talk, opening) == "d6"
    assert talk.bot.heard[-5:] == [
        "clear_board",
        "play black f5",
        "clear_board",
        "play black f5",
        "genmove white",
    ]
    refusing = wire({"play": "? illegal move\n\n", "genmove": "= d6\n\n"})
    assert fault_of(lambda: first_move(refusing, opening)) == "unreadable"


def test_refused_genmove_is_retried_once():
    assert first_move(wire({"genmove": ["? no\n\n", "= f5\n\n"]})) == "f5"
    assert fault_of(lambda: first_move(wire({"genmove": "? no\n\n"}))) == "unreadable"


def moves_before_pass() -> list[int]:
    position, moves = OF.start(), []
    while OF.legal(position) != (OF.pass_move,):
        moves.append(OF.legal(position)[0])
        position = OF.play(position, moves[-1])
    return moves


class NeedsPasses(Ours):
    """An engine that does not infer a pass, and refuses one unless `accepts` is set."""

    def __init__(self, accepts: bool) -> None:
        super().__init__("gtp", OF)
        self.accepts, self.passes = accepts, 0

    def hears(self, line):
        if line.endswith("pass"):
            self.passes += 1
            yield from super().hears(line) if self.accepts else ["? syntax error\n\n"]
        elif line.split()[0] in ("play", "genmove"):
            yield from super().hears(line) if self.in_turn(line) else ["? wrong color\n\n"]
        else:
            yield from super().hears(line)

    def in_turn(self, line: str) -> bool:
        engine = self.steps.gi_frame.f_locals["engine"]
        return ("black", "white")[engine.position.mover] in line


def test_pass_is_sent_only_if_needed():
    moves = moves_before_pass()
    player = len(moves) % 2
    plain = Ours("gtp", OF)
    Table(OF, Wire(plain, protocol("gtp").conversation(OF, {})), 1 - player, tuple(moves)).play()
    assert not [line for line in plain.heard if "pass" in line]
    needy = NeedsPasses(accepts=True)
    Table(OF, Wire(needy, protocol("gtp").conversation(OF, {})), 1 - player, tuple(moves)).play()
    assert needy.passes


def test_refused_pass_is_no_fault():
    moves = moves_before_pass()
    stubborn = NeedsPasses(accepts=False)
    table = Table(
        OF, Wire(stubborn, protocol("gtp").conversation(OF, {})), 1 - len(moves) % 2, tuple(moves)
    )
    with pytest.raises(BotFault, match="twice"):  # of the move behind it
        table.play()
    assert stubborn.passes > 1


def test_refused_size_is_unloadable():
    of = game("othello(6)")
    talk = wire({"boardsize": "? unacceptable size\n\n"}, of)
    assert fault_of(lambda: talk.open(0, of.start())) == "unloadable"


def test_time_is_sent_only_with_clock_and_support():
    every = "= play\ntime_settings\ntime_left\n\n"
    told = wire({"list_commands": every, "genmove": "= f5\n\n"})
    first_move(told, game_seconds=60.5)
    assert told.bot.heard[-3:] == ["time_settings 60 0 0", "time_left black 60 0", "genmove black"]
    for seconds, commands in ((None, every), (60.0, "= play\n\n")):
        silent = wire({"list_commands": commands, "genmove": "= f5\n\n"})
        first_move(silent, game_seconds=seconds)
        assert not [line for line in silent.bot.heard if line.startswith("time")]


def replies(*lines: str, of=OF) -> list[str]:
    engine = Ours("gtp", of)
    list(engine.start(()))
    return ["".join(engine.hears(line)) for line in lines]


COMMANDS = {
    "7 protocol_version": "=7 2",
    "name # comment": "= Pitflip first",
    "known_command play": "= true",
    "known_command fly": "= false",
    "boardsize 8": "=",
    "boardsize 7": "? unacceptable size",
    "boardsize": "? unacceptable size",
    "boardsize x": "? unacceptable size",
    "set_game Othello": "=",
    "komi 6.5": "=",
    "fly": "? unknown command",
    "final_score": "? cannot score",
    "undo": "? cannot undo",
    "play black z9": "? illegal move",
    "play black a1": "? illegal move",
    "play green d3": "? syntax error",
    "play black d3": "=",
    "play BLACK d3": "? wrong colour",
    "genmove black": "? wrong colour",
    "reg_genmove w": "= c3",
    "genmove white": "= c3",
    "time_left black 3 0": "=",
}


@pytest.mark.slow
def test_engine_board_sizes():
    said = replies("boardsize 6", "genmove b", "play w a1", "boardsize 10", "genmove b")
    assert said == ["=\n\n", "= c2\n\n", "? illegal move\n\n", "=\n\n", "= e4\n\n"]


def test_engine_commands():
    assert replies(*COMMANDS) == [f"{reply}\n\n" for reply in COMMANDS.values()]
    assert replies("", "# nothing") == ["", ""]
    assert replies("play b d3", "undo", "undo")[1:] == ["=\n\n", "? cannot undo\n\n"]


def test_engine_passes_and_quits():
    moves = moves_before_pass()
    texts = OF.write(moves).split()
    played = [f"play {'bw'[place % 2]} {text}" for place, text in enumerate(texts)]
    colours = "bw"[len(moves) % 2], "bw"[1 - len(moves) % 2]
    said = replies(
        *played, f"play {colours[1]} pass", f"genmove {colours[0]}", f"genmove {colours[1]}"
    )
    assert set(said[: len(played)]) == {"=\n\n"}
    assert said[-3] == "? illegal move\n\n"
    assert said[-2] == "= pass\n\n"
    assert OF.parse_move(OF.replay(" ".join([*texts, "pass"]))[-1], said[-1][2:4])
    inferred = replies(*played, f"genmove {colours[1]}", "quit")
    assert inferred[-2] == said[-1]
    assert inferred[-1] == "=\n\n" + DEATH


def test_engine_final_score():
    position, lines = OF.start(), []
    while not OF.over(position):
        move = OF.legal(position)[0]
        lines.append(f"play {'bw'[position.mover]} {OF.move_text(position, move)}")
        position = OF.play(position, move)
    margin = OF.margin(position)
    *_, score, passed = replies(*lines, "final_score", "genmove b")
    assert score == f"= {'B' if margin > 0 else 'W'}+{abs(margin)}\n\n"
    assert passed == "= pass\n\n"
