"""Conversations in one thread without processes: a host and a scripted bot or one of ours."""

import importlib
from collections import deque
from collections.abc import Callable, Iterator

from agents.core import AgentSpec
from agents.protocols import PROTOCOLS
from agents.protocols.conversation import (
    BotFault,
    Choose,
    Data,
    Drop,
    Host,
    NoLine,
    Note,
    Ply,
    Question,
    Read,
    Restart,
    Steps,
    Write,
)
from agents.registry import build
from games import Game, Position

# What a bot does instead of a line; the driver of processes sees the same from outside.
SILENCE, DEATH, FLOOD = "\0silence", "\0death", "\0flood"


def protocol(name: str):
    """The module of a protocol."""
    return importlib.import_module(PROTOCOLS[name])


class Script:
    """A bot that answers by the first rule that matches a line.

    A rule maps the beginning of a line to successive outputs; the last output repeats. Output
    without a line end is half a line.
    """

    def __init__(self, rules: dict[str, str | list[str]], opens: str = "") -> None:
        self.rules = {
            hears: [then] if isinstance(then, str) else then for hears, then in rules.items()
        }
        self.opens = opens
        self.starts: list[tuple[str, ...]] = []
        self.heard: list[str] = []
        self.times = dict.fromkeys(self.rules, 0)

    def start(self, arguments: tuple[str, ...]) -> Iterator[str]:
        self.starts.append(arguments)
        yield self.opens

    def hears(self, line: str) -> Iterator[str]:
        self.heard.append(line)
        for hears, then in self.rules.items():
            if line.startswith(hears):
                time = self.times[hears]
                self.times[hears] += 1
                yield then[min(time, len(then) - 1)]
                return


class Ours:
    """Our agent, served by the protocol; `spoil` changes its output."""

    def __init__(
        self,
        spoken: str,
        of: Game,
        kind: str = "first",
        spoil: Callable[[str], str] = lambda text: text,
        **options: object,
    ) -> None:
        self.name, self.of, self.spoil, self.options = spoken, of, spoil, options
        self.agent = build(AgentSpec(kind), of)
        self.starts: list[tuple[str, ...]] = []
        self.heard: list[str] = []

    def start(self, arguments: tuple[str, ...]) -> Iterator[str]:
        self.starts.append(arguments)
        self.agent.start(0)
        self.steps = protocol(self.name).serve(self.of, self.agent, self.options)
        self.ended = False
        yield from self._run(None)

    def hears(self, line: str) -> Iterator[str]:
        self.heard.append(line)
        if not self.ended:
            yield from self._run(line)

    def _run(self, line: str | None) -> Iterator[str]:
        """Until it waits for a line for ever."""
        reply = line
        try:
            request = (
                next(self.steps) if not self.starts or reply is None else self.steps.send(reply)
            )
            while True:
                if isinstance(request, Read):
                    if NoLine.TIME_UP not in request.allowed:
                        return
                    request = self.steps.send(NoLine.TIME_UP)
                elif isinstance(request, Choose):
                    self.agent.start(0)
                    same = request.game in (None, self.of)
                    agent = self.agent if same else build(self.agent.spec, request.game)
                    move = agent.choose(request.position, request.limit).move
                    request = self.steps.send(move)
                else:
                    assert isinstance(request, Write)
                    yield self.spoil(request.text)
                    request = self.steps.send(None)
        except StopIteration:
            self.ended = True
            yield DEATH


class Driven(Exception):  # noqa: N818  # a record, not an error of ours
    """The fault that a transport records: timeout, crash or flood."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        super().__init__(kind)


class Wire:
    """Runs conversations with a bot that answers at once or never."""

    def __init__(self, bot: Script | Ours, talk: Host) -> None:
        self.bot, self.talk = bot, talk
        self.lines: deque[str] = deque()
        self.half = ""
        self.alive = self.started = self.flooded = False
        self.notes: list[str] = []
        self.said: list[Data] = []
        self.dropped: list[str] = []

    def open(self, player: int, start: Position, seed: int = 1) -> None:
        """Start a process if there is none, and a game."""
        if not self.alive:
            self.started = False
            self.run(self.talk.greet())
        self.run(self.talk.new_game(player, start, seed))

    def run(self, steps: Steps):
        """Run a conversation and return its result."""
        reply = None
        try:
            while True:
                reply = self._done(steps.send(reply))
        except StopIteration as end:
            return end.value

    def _done(self, request):
        if isinstance(request, Restart):
            self._take(self.bot.start(request.arguments), fresh=True)
            return None
        if isinstance(request, Note):
            self.notes.append(request.text)
            return None
        if isinstance(request, Data):
            self.said.append(request)
            return None
        if not self.started:
            self._take(self.bot.start(()), fresh=True)
        if isinstance(request, Write):
            assert request.text.endswith("\n")
            for line in request.text.splitlines():
                if self.alive:
                    self._take(self.bot.hears(line))
            return None
        if isinstance(request, Drop):
            self.dropped += [*self.lines, *filter(None, [self.half])]
            self.lines.clear()
            self.half = ""
            return None
        assert isinstance(request, Read), request
        return self._read(request)

    def _take(self, said: Iterator[str], fresh: bool = False) -> None:
        if fresh:
            self.lines.clear()
            self.half, self.alive, self.started = "", True, True
        for text in said:
            if text == DEATH:
                self.alive = False
            elif text == FLOOD:
                self.flooded = True
            elif text != SILENCE:
                *whole, self.half = (self.half + text).split("\n")
                self.lines += [line.strip() for line in whole]

    def _read(self, request: Read):
        if self.flooded:
            raise Driven("flooded")
        if self.lines:
            return self.lines.popleft()
        silence = NoLine.TIME_UP if self.alive else NoLine.ENDED
        if silence in request.allowed:
            return silence
        raise Driven("timeout" if self.alive else "crashed")


class Table:
    """A game between a bot on a wire and the last legal move, under the rules of the owner."""

    def __init__(self, of: Game, wire: Wire, player: int, opening: tuple[int, ...] = ()) -> None:
        self.of, self.wire, self.player = of, wire, player
        self.positions = [of.start()]
        self.plies: list[Ply] = []
        for move in opening:
            self.place(move)

    def place(self, move: int) -> None:
        before = self.positions[-1]
        self.positions.append(self.of.play(before, move))
        self.plies.append(Ply(before, move, self.positions[-1]))

    def question(self) -> Question:
        now = self.positions[-1]
        return Question(now, self.of.legal(now), tuple(self.plies), 1.0)

    def play(self, most: int = 1000) -> "Table":
        """To the end, or for a number of plies."""
        self.wire.open(self.player, self.of.start())
        while most and not self.of.over(self.positions[-1]):
            most -= 1
            legal = self.of.legal(self.positions[-1])
            if legal == (self.of.pass_move,) or self.positions[-1].mover != self.player:
                self.place(legal[-1])
            else:
                self.place(self.wire.run(self.wire.talk.choose(self.question())))
        self.wire.run(self.wire.talk.game_over(tuple(self.plies)))
        return self


def fault_of(work: Callable[[], object]) -> str:
    """The termination that the work ends by, or nothing."""
    try:
        work()
    except (BotFault, Driven) as fault:
        return fault.kind
    return ""
