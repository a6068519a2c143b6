"""Every protocol both ways: hostile bots that we ask, hostile hosts that ask our agents."""

import importlib
import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NoReturn

from hypothesis import strategies as st

from agents.core import Agent, AgentFailure, AgentSpec, Resigned, Terms
from agents.protocols import PROTOCOLS
from agents.registry import build
from agents.sandbox import bot_server
from agents.sandbox.messages import BotLimits
from agents.sandbox.protocol_agent import Driver, Program
from agents.sandbox.sandbox import Wall
from agents.sandbox.sandboxed_agent import FarAgent
from agents.serving import Serving
from games import Game, Position, game
from games.base.errors import DONE
from tests.fuzz.hostile_lines import MOST_LINES, SEEDS, streams
from tests.fuzz.law import Target

SILENCE = b"{silence}"  # nothing comes in time
MOVE, PING, REFERENCE = b"{move}", b"{ping}", b"{ref}"  # what would be right
MOST_PLIES = 80
GAMES = {
    "lines": "kalah(6,4)", "gtp": "othello(6)", "nboard": "othello(8)", "kgp": "kalah(6,4)",
    "manchester": "kalah-manchester(7,7)", "files": "othello(8)",
}  # fmt: skip
OPTIONS: Mapping[str, Mapping[str, object]] = {
    "lines": {}, "lines console": {"form": "console"}, "lines squares": {"form": "squares"},
    "lines 17": {"form": "17"}, "gtp": {"tell_time": True},
}  # fmt: skip
# What a bot says, and the words of which it makes what it would not say.
ANSWERS = {
    "lines": "{move}|{move}|'{move}'|pong|chooses {move}|resign|data value = 3.5|7|0|{silence}|",
    "gtp": "= {move}||= {move}|=|=||? no|= pass|= resign|= list_commands\nset_game|data a = 1|",
    "nboard": "pong {ping}|pong {ping}|=== {move}/1.5/0.1|=== {move}|nodestats 9 1|set myname x"
    "|status x|=== PA|nodestats|{silence}",
    "kgp": "2 mode freeplay|2@{ref} move {move}|4@{ref} yield|6 ping|set info:comment \"x\"|error"
    "|goodbye|mode simple|8@{ref} move 99|{silence}|2@3 move",
    "manchester": "MOVE;{move}|MOVE;{move}|SWAP|MOVE;0|MOVE;|{silence}",
    "files": "{move}|0|27|-1|x|{silence}",
}  # fmt: skip
# The same of a host.
QUESTIONS = {
    "lines": "S 4 4 4 4 4 4, N 4 4 4 4 4 4, pots 0-0, South to move;1 2;0.5;9;kalah"
    "|S 0 0 0 0 0 1, N 4 4 4 4 4 4, pots 0-0, South to move|x;y|;;;|S",
    "gtp": "genmove b|play w d3|genmove white|3 name|clear_board|boardsize 8|undo|showboard|quit"
    "|reg_genmove b|known_command x|final_score|list_commands|komi 7.5|set_game Othello",
    "nboard": "nboard 2|set depth 5|set game (;GM[Othello]PC[x]BO[8 ---------------------------O*--"
    "----*O--------------------------- *]B[F5]W[F6];)|move F5|go|ping 3|hint 2|learn|D3/1/2",
    "kgp": "kgp 1 0 1|0 kgp 1 0 0|4 state <6,0,0,4,4,4,4,4,4,4,4,4,4,4,4>|8@6 ok|stop|@6 stop"
    "|2 ping|6 state <6,0,0,0,0,0,0,0,0,4,4,4,4,4,4>|9 problem <6,0,0,4,4,4,4,4,4,4,4,4,4,4,4> 1"
    "|goodbye|5@4 error \"x\"|7@4 stop|state <99999,0>|12 state <7,1,1,3,3,3,3,3,3,3,3,3>",
    "manchester": "START;South|START;North|END|CHANGE;2;8,7,7,7,7,7,7,0,7,0,8,8,8,8,8,1;YOU"
    "|CHANGE;SWAP;7,7,7,7,7,7,7,0,7,7,7,7,7,7,7,0;YOU|CHANGE;2;1,2;YOU|CHANGE;x;a,b;YOU|CHANGE;1;;END",
    "files": "1|2|0|8|x|-1|00000000|9|{silence}",
}  # fmt: skip


class Talker:
    """A bot in this process that says the lines of a stream, whatever it is asked."""

    def __init__(self, lines: list[bytes]) -> None:
        """Not alive until it is begun."""
        self.lines, self.name, self.limits = lines[::-1], "fuzz", BotLimits()
        self.alive, self.gone, self.has_written, self.heard = False, False, False, ""
        self.move = b"1"

    def begin(self, *_: object) -> None:
        """Start."""
        self.alive = True

    def new_game(self) -> None:
        """Nothing is measured."""

    def send(self, content: bytes | memoryview, _: float) -> None:
        """Remember the last question."""
        self.heard = bytes(content).decode(errors="replace")

    def receive(self, _: float, __: int) -> bytes | None:
        """The next line; the end when there is none, None for silence."""
        if not self.lines:
            return b""
        line = self.lines.pop()
        if line == SILENCE:
            return None
        words = self.heard.split() or ["0"]
        said = {MOVE: self.move, PING: words[-1].encode(), REFERENCE: words[0].encode()}
        for place, word in said.items():
            line = line.replace(place, word)
        return line + b"\n"

    def hung_up(self, _: float) -> bool:
        """It keeps nothing."""
        return False

    def end(self) -> None:
        """Stop."""
        self.alive = False

    def died(self) -> NoReturn:
        """Raise what its end is."""
        self.fault("crashed", "ended")

    def fault(self, kind: str, message: str) -> NoReturn:
        """Raise its failure."""
        self.end()
        raise AgentFailure(kind, self.name, "", message)


def asked(kind: str, options: Mapping[str, object]) -> Callable[[bytes, Path], int]:
    """Host a bot that says these lines, game after game, until it has said all."""

    def answer(content: bytes, _: Path) -> int:
        of = game("othello(6)" if options.get("form") == "squares" else GAMES[kind])
        module = importlib.import_module(PROTOCOLS[kind])
        conversation = module.conversation(of, options)
        bot = Talker(content.split(b"\n"))
        spec = AgentSpec(kind, {"command": ["fuzz"]})
        driver = Driver(spec, of, conversation, Program(("fuzz",)), bot, 1.0)  # type: ignore[arg-type]
        dice = random.Random(len(content))
        while bot.lines:
            left = len(bot.lines)
            try:
                play(driver, of, bot, dice)
            except AgentFailure as failure:
                print(failure.kind, failure.message, failure.trace)
            except Resigned:
                pass
            if len(bot.lines) == left:  # a game in which it was not asked
                bot.lines.pop()
        print(*driver.notes, driver.said, sep="\n")
        driver.close()
        return DONE

    return answer


def play(driver: Driver, of: Game, bot: Talker, dice: random.Random) -> None:
    """A game against moves by chance."""
    position, mine = of.start(), dice.randrange(2)
    driver.start(1)
    for _ in range(MOST_PLIES):
        if of.over(position) or not bot.lines:
            break
        legal = of.legal(position)
        move = dice.choice(legal)
        if position.mover == mine:
            bot.move = right_word(driver.spec.kind, of, position, move)
            move = driver.choose(position).move
        before, position = position, of.play(position, move)
        driver.played(move, before, position)
    driver.finish()


def right_word(kind: str, of: Game, position: Position, move: int) -> bytes:
    """A legal move as a bot of this kind says it."""
    text = of.move_text(position, move)
    return (str(move + 1) if kind in ("kgp", "manchester") else text).encode()


@cache
def agent_for(of: Game) -> Agent:
    """The agent that is asked: it takes no time."""
    return build(AgentSpec("first"), of)


def write(text: str) -> None:
    """Print what goes to a host; KGP ends lines as the network does."""
    print(text.replace("\r\n", "\n"), end="")


def served(kind: str) -> Callable[[bytes, Path], int]:
    """Our agent as the bot of a host that says these lines; who ends it begins again."""

    def answer(content: bytes, _: Path) -> int:
        of, module = game(GAMES[kind]), importlib.import_module(PROTOCOLS[kind])
        options = {key.name: key.default for key in getattr(module, "SERVE_OPTIONS", ())}
        lines = content.decode(errors="replace").split("\n")
        while lines:
            serving = Serving(
                lines,
                lambda text: print(text.replace("\r\n", "\n")),
                of,
                agent_for(of),
                agent_for,
                1,
            )
            serving.run(module.serve(of, agent_for(of), options))
            left = list(iter(serving.arrived.get, None))
            lines = lines[len(lines) - len(left) :] if len(left) < len(lines) else []
        return DONE

    return answer


class Mute(Wall):
    """In place of a wall, for a bot that is not started."""

    def connection(self) -> "Mute":  # type: ignore[override]
        """Ourselves."""
        return self

    def prepare(self, _: bytes, __: bool = False) -> str:
        """Nothing is needed."""
        return ""


def python_messages(seed: bytes, count: int) -> bytes:
    """Messages of a Python bot, each behind its length; right ones have a head of zeros."""
    dice, found = random.Random(seed), b""
    for _ in range(count):
        body = bytes([dice.randrange(9)]) + dice.randbytes(dice.randrange(1, 40))
        if dice.random() < 0.6:
            body = bytes([0, dice.randrange(256)]) + dice.randbytes(2)
        found += bytes([len(body)]) + body
    return found


def python_answer(content: bytes, _: Path) -> int:
    """A Python bot whose process writes these bytes as answers."""
    of = game("kalah(6,4)")
    far = FarAgent(AgentSpec("python", {"file": "x.py"}), of, Terms(Mute()), (), BotLimits())
    messages, place = list[bytes](), 0
    while place < len(content):
        messages.append(content[place + 1 : place + 1 + content[place]])
        place += 1 + content[place]
    bot = far.bot = Pipe(messages, far)  # type: ignore[assignment]
    position = of.start()
    while bot.lines:
        left = len(bot.lines)
        try:
            far.start(1)
            for _ in range(MOST_PLIES):
                if of.over(position):
                    position = of.start()
                position = of.play(position, far.choose(position).move)
        except AgentFailure as failure:
            print(failure.kind, failure.message, failure.trace)
        if len(bot.lines) == left:
            break
    with suppress(AgentFailure):
        far.close()
    return DONE


class Pipe(Talker):
    """The process of a Python bot: whole messages in place of lines."""

    def __init__(self, messages: list[bytes], far: FarAgent) -> None:
        """`far` is who asks: it numbers its questions."""
        super().__init__(messages)
        self.far, self.wall, self.alive, self.begun = far, Mute(), True, False

    def begin(self, *_: object) -> None:
        """Start: it is ready at once."""
        self.alive = self.begun = True

    def quick_answer(self, _: float) -> bytes | None:
        """Nothing is there without waiting."""
        return None

    def answer(self, _: float, __: int, ___: str = "") -> bytes:
        """The next message; right where it begins with a zero."""
        if self.begun:
            self.begun = False
            return bytes([bot_server.READY, 0])
        if not self.lines:
            self.died()
        message = self.lines.pop()
        if message[:1] != b"\0":
            return message or self.died()
        kind = int(self.far.board.words[0]) & 0xFF
        if kind in (bot_server.GAME, bot_server.CHANGE):
            return bytes([bot_server.STARTED, self.far.count])
        slots = self.far.board.slots
        slot = slots[message[1] % len(slots)] if len(slots) else 0
        return bot_server.MOVE.pack(bot_server.MOVED, self.far.count, slot)


def of_bots(name: str) -> Target:
    """A bot of this kind, or in this form of lines."""
    kind = name.partition(" ")[0]
    said = ANSWERS[kind].split("|")
    return Target(streams(said, words_in(said)), asked(kind, OPTIONS.get(name, {})))


def of_hosts(kind: str) -> Target:
    """A host of our agents."""
    said = QUESTIONS[kind].split("|")
    return Target(streams(said, words_in(said)), served(kind))


def words_in(lines: list[str]) -> list[str]:
    """The words of some lines."""
    return sorted({word for line in lines for word in line.replace(";", " ").split()})


BOTS = {
    **{f"{name} bot": of_bots(name) for name in dict.fromkeys((*PROTOCOLS, *OPTIONS))},
    **{f"{kind} host": of_hosts(kind) for kind in PROTOCOLS},
    "python bot": Target(
        st.builds(python_messages, SEEDS, st.integers(1, MOST_LINES)), python_answer
    ),
}
