"""Fuzz targets of the protocols: hostile bots that we host, hostile hosts of our agents."""

import importlib
import random
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NoReturn

from agents.core import Agent, AgentFailure, AgentSpec, Resignation
from agents.protocols import PROTOCOLS
from agents.registry import build
from agents.sandbox.messages import BotLimits
from agents.sandbox.protocol_agent import Program, ProtocolAgent
from agents.serving import ProtocolServer
from games import Game, Position, game
from games.base.errors import OK
from tools.fuzz.hostile_lines import line_streams
from tools.fuzz.law import Target

SILENCE = b"{silence}"  # no answer within the limit
MOVE, PING, REFERENCE = b"{move}", b"{ping}", b"{ref}"  # replaced by the correct answer
MOST_PLIES = 80
GAMES = {
    "lines": "kalah(6,4)", "gtp": "othello(6)", "nboard": "othello(8)", "kgp": "kalah(6,4)",
    "files": "othello(8)",
}  # fmt: skip
# Valid lines of a bot; their words are combined into invalid ones.
ANSWERS = {
    "lines": "{move}|{move}|'{move}'|pong|chooses {move}|resign|data value = 3.5|7|0|{silence}|",
    "gtp": "= {move}||= {move}|=|=||? no|= pass|= resign|= list_commands\nset_game|data a = 1|",
    "nboard": "pong {ping}|pong {ping}|=== {move}/1.5/0.1|=== {move}|nodestats 9 1|set myname x"
    "|status x|=== PA|nodestats|{silence}",
    "kgp": "2 mode freeplay|2@{ref} move {move}|4@{ref} yield|6 ping|set info:comment \"x\"|error"
    "|goodbye|mode simple|8@{ref} move 99|{silence}|2@3 move",
    "files": "{move}|0|27|-1|x|{silence}",
}  # fmt: skip
# The same for a host.
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
    "files": "1|2|0|8|x|-1|00000000|9|{silence}",
}  # fmt: skip


class ScriptedBot:
    """A bot in this process that answers each request with the next line of a stream."""

    def __init__(self, lines: list[bytes]) -> None:
        self.lines, self.name, self.limits = lines[::-1], "fuzz", BotLimits()
        self.alive, self.is_at_end, self.has_output, self.heard = False, False, False, ""
        self.ever_wrote, self.move = True, b"1"

    def start(self, *_: object) -> None:
        """Mark the bot as running."""
        self.alive = True

    def end_turn(self) -> None:
        """Do nothing: there are no processes to stop."""

    def new_game(self) -> None:
        """Do nothing: no usage is measured."""

    def send(self, content: bytes | memoryview, _: float) -> None:
        """Store the last request."""
        self.heard = bytes(content).decode(errors="replace")

    def receive(self, _: float, __: int) -> bytes | None:
        """Return the next line, nothing at the end, None for a timeout."""
        if not self.lines:
            return b""
        line = self.lines.pop()
        if line == SILENCE:
            return None
        words = self.heard.split() or ["0"]
        answers = {MOVE: self.move, PING: words[-1].encode(), REFERENCE: words[0].encode()}
        for place, word in answers.items():
            line = line.replace(place, word)
        return line + b"\n"

    def close_input(self, _: float) -> bool:
        """Return False: no output is buffered."""
        return False

    def end(self) -> None:
        """Mark the bot as ended."""
        self.alive = False

    def raise_crash(self) -> NoReturn:
        """Raise the failure of a crashed bot."""
        self.raise_fault("crashed", "ended")

    def raise_fault(self, kind: str, message: str) -> NoReturn:
        """End the bot and raise a failure."""
        self.end()
        raise AgentFailure(kind, self.name, "", message)


def host_answer(kind: str, options: Mapping[str, object]) -> Callable[[bytes, Path], int]:
    """Return a function that plays games against a bot until all its lines are used."""

    def answer(content: bytes, _: Path) -> int:
        of = game(GAMES[kind])
        module = importlib.import_module(PROTOCOLS[kind])
        conversation = module.conversation(of, options)
        bot = ScriptedBot(content.split(b"\n"))
        spec = AgentSpec(kind, {"command": ["fuzz"]})
        driver = ProtocolAgent(spec, of, conversation, Program(("fuzz",)), bot, 1.0)  # type: ignore[arg-type]
        dice = random.Random(len(content))
        while bot.lines:
            left = len(bot.lines)
            try:
                play(driver, of, bot, dice)
            except AgentFailure as failure:
                print(failure.kind, failure.message, failure.trace)
            except Resignation:
                pass
            if len(bot.lines) == left:  # a game without a request
                bot.lines.pop()
        print(*driver.notes, driver.data, sep="\n")
        driver.close()
        return OK

    return answer


def play(driver: ProtocolAgent, of: Game, bot: ScriptedBot, dice: random.Random) -> None:
    """Play a game against random moves."""
    position, mine = of.start(), dice.randrange(2)
    driver.start(1)
    for _ in range(MOST_PLIES):
        if of.over(position) or not bot.lines:
            break
        legal = of.legal(position)
        move = dice.choice(legal)
        if position.mover == mine:
            bot.move = move_word(driver.spec.kind, of, position, move)
            move = driver.choose(position).move
        before, position = position, of.play(position, move)
        driver.note_move(move, before, position)
    driver.finish()


def move_word(kind: str, of: Game, position: Position, move: int) -> bytes:
    """Return a move in the notation of this protocol."""
    text = of.move_text(position, move)
    return (str(move + 1) if kind == "kgp" else text).encode()


@cache
def agent_for(of: Game) -> Agent:
    """Return the fastest agent, for hosts."""
    return build(AgentSpec("first"), of)


def write(text: str) -> None:
    """Print output for a host; KGP ends lines with CR LF."""
    print(text.replace("\r\n", "\n"), end="")


def server_answer(kind: str) -> Callable[[bytes, Path], int]:
    """Return a function that serves an agent to a host, in as many sessions as its lines need."""

    def answer(content: bytes, _: Path) -> int:
        of, module = game(GAMES[kind]), importlib.import_module(PROTOCOLS[kind])
        options = {key.name: key.default for key in getattr(module, "SERVE_OPTIONS", ())}
        lines = content.decode(errors="replace").split("\n")
        while lines:
            serving = ProtocolServer(
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
        return OK

    return answer


def bot_target(kind: str) -> Target:
    """Return the target of bots of a protocol."""
    lines = ANSWERS[kind].split("|")
    return Target(line_streams(lines, words_in(lines)), host_answer(kind, {}))


def host_target(kind: str) -> Target:
    """Return the target of hosts of a protocol."""
    lines = QUESTIONS[kind].split("|")
    return Target(line_streams(lines, words_in(lines)), server_answer(kind))


def words_in(lines: list[str]) -> list[str]:
    """Return the distinct words of lines, sorted."""
    return sorted({word for line in lines for word in line.replace(";", " ").split()})


BOTS = {
    **{f"{name} bot": bot_target(name) for name in ANSWERS},
    **{f"{kind} host": host_target(kind) for kind in QUESTIONS},
}
