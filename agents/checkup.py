"""What is wrong with a bot: it is played through everything that a tournament asks of one."""

import ast
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import numpy as np

from agents.core import Agent, AgentFailure, AgentSpec, GameFollower, HostSettings, Resignation
from agents.create import create_agent
from agents.error_lines import SLOW_FAULTS, error_line, failure_words
from agents.registry import user_files
from agents.sandbox.protocol_agent import UNFLUSHED_TEXT, ProtocolAgent, accepts_any_position
from games import Game, Position
from games.base.errors import UserError, printable
from games.base.files import read_limited
from games.base.progress import Progress
from games.base.text import GameError, listed, quote
from games.board import Board, printed_moves
from games.kernels.board_layout import STATE

MOST_POSITIONS = 10_000
LONGEST = 2000
MOST_OPENING_PLIES = 6
PAIRS = 5  # of games, from openings of their own
SEED = 1
SURER = 3  # new processes more, before a bot is said to keep state
SMALLEST_VALUE = 0.01  # that one value at least should reach
HIGHEST_VALUE = 999_999.999  # of a position that is not decided
SLOW_SHARE = 0.5  # of the time that a bot may take to start
SOWN = "sowing"
NUMBERS = re.compile(r"\d[\d, ]*")  # faults that differ only in them are equal
COMPILE = "cannot be compiled"  # in the message of an evaluation
GIVEN_NUMBER = "the random number that comes with the question"
OWN_RANDOM = re.compile(r"(random|numpy\.random|secrets)\.\w+|os\.urandom|uuid\.uuid[14]")
SEEDED = re.compile(r"Random$|default_rng$|RandomState$")
LEAVES = (
    "it ends with a game: it is started again for the next one, which costs time; read questions "
    'until your input ends, or say process = "game"'
)
ADVICE = {
    "timeout": "each question must be answered within the limit (--seconds)",
    "crashed": "it must live until its input ends",
    "unreadable": "an answer is one line that holds a move and nothing else; one written before "
    "the question, or after the answer, is taken for the next answer",
    "flooded": "an answer is one line",
    "memory": 'memory = "2GB" in its table allows more',
}


def read_positions(path: Path, of: Game) -> list[Position]:
    """Return the positions of the file, without blank lines and lines that begin with #."""
    try:
        lines = read_limited(path).decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: the positions cannot be read: {printable(str(error))}") from None
    found = []
    for number, line in enumerate(lines, 1):
        if (text := line.partition("#")[0].strip()) == "":
            continue
        try:
            position = of.parse(text)
        except GameError as error:
            raise UserError(f"{path}, line {number}: {error}") from None
        if of.over(position):
            raise UserError(f"{path}, line {number}: the game is over in {quote(text)}")
        found.append(position)
    if not 0 < len(found) <= MOST_POSITIONS:
        raise UserError(f"{path}: has 1 to {MOST_POSITIONS:,} positions, got {len(found):,}")
    return found


def failed_positions(
    agent: Agent, of: Game, positions: Sequence[Position], seed: int
) -> Iterator[tuple[Position, str]]:
    """The positions in which it fails, and how; the last one is where it was too slow to go on."""
    if positions and not accepts_any_position(agent):
        raise UserError("it follows games move by move: positions cannot be put to it")
    for position in positions:
        try:
            agent.start(seed)
            if of.legal(position) != (of.pass_move,):
                agent.choose(position)
        except AgentFailure as failure:
            yield position, failure_words(failure)
            if failure.kind in SLOW_FAULTS:
                return
        except Resignation:
            yield position, "it resigns"


@dataclass(slots=True)
class TrialGame:
    """One game of a bot against a random player."""

    player: int
    seed: int
    answers: list[tuple[Position, int]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)  # of its answers, the start counted
    extra_turns: int = 0
    passes: int = 0
    resigned: bool = False
    failure: AgentFailure | None = None
    asked: Position | None = None  # where it failed


def play_trial(agent: Agent, of: Game, player: int, seed: int) -> TrialGame:
    """Play one game; the same seed is the same opening and the same opponent."""
    trial, dice = TrialGame(player, seed), random.Random(f"{of.name} {seed}")
    opening = dice.randrange(MOST_OPENING_PLIES)
    position, ply = of.start(), 0
    since = time.monotonic()
    try:
        agent.start(seed)
        while not of.over(position) and ply < LONGEST:
            move = dice.choice(of.legal(position))  # drawn by both: answers change nothing else
            if position.mover == player and ply >= opening and move != of.pass_move:
                trial.asked = position
                move = agent.choose(position).move
                trial.seconds.append(time.monotonic() - since)
                trial.answers.append((position, move))
            before, position, ply = position, of.play(position, move), ply + 1
            _count(trial, of, before, position, move)
            if isinstance(agent, GameFollower):
                agent.played(move, before, position)
            since = time.monotonic()
        if isinstance(agent, GameFollower):
            agent.finish()
    except AgentFailure as failure:
        trial.failure = failure
    except Resignation:
        trial.resigned = True
    return trial


def _count(trial: TrialGame, of: Game, before: Position, after: Position, move: int) -> None:
    if move == of.pass_move:
        trial.passes += 1
    elif before.mover == after.mover == trial.player and not of.over(after):
        trial.extra_turns += 1


def first_difference(one: TrialGame, other: TrialGame) -> tuple[Position, int, int] | None:
    """The first question that two trials answer differently, with both answers."""
    for (position, move), (same, another) in zip(one.answers, other.answers, strict=False):
        if position == same and move != another:
            return position, move, another
    return None


@dataclass(slots=True)
class CheckReport:
    """What was seen: what is wrong, and what is worth knowing."""

    findings: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)


class BotCheck:
    """One bot in one game."""

    def __init__(
        self,
        spec: AgentSpec,
        of: Game,
        terms: HostSettings,
        pairs: int = PAIRS,
        positions: Sequence[Position] = (),
    ) -> None:
        """Nothing is started yet; `positions` are those that it must survive beside games."""
        self.spec, self.of, self.terms, self.pairs = spec, of, terms, pairs
        self.positions = positions
        self.report = CheckReport()
        self.trials: list[TrialGame] = []
        self.doing = "starting the bot"

    def run(self) -> CheckReport:
        """Play it through; what comes later presumes that nothing was wrong before."""
        for step in (
            self.games,
            self.check_unsolicited_output,
            self.check_speed,
            self.check_positions,
            self.check_values,
            self.check_state,
        ):
            step()
            if self.report.findings and step in (self.games, self.check_state):
                break
        return self.report

    def progress(self) -> Progress:
        """Return what is being examined."""
        return Progress(self.doing)

    def agent(self) -> Agent:
        """The bot in a process of its own."""
        agent = create_agent(self.spec, self.of, self.terms)
        if isinstance(agent, ProtocolAgent):
            agent.tests_flushing = True
        return agent

    def games(self) -> None:
        """Whole games from both sides in one process."""
        self.terms.wall.open()  # so that its time is not the bot's
        self.main = self.agent()
        if prepare := getattr(self.main, "prepare", None):
            prepare()
        for seed, player in product(range(SEED, SEED + self.pairs), (0, 1)):
            self.doing = f"game {len(self.trials) + 1} of {2 * self.pairs}"
            trial = play_trial(self.main, self.of, player, seed)
            self.trials.append(trial)
            if trial.failure and trial.failure.kind in SLOW_FAULTS:
                break
            leaves = not trial.failure and seed == SEED and self.ended()
            if leaves and LEAVES not in self.report.findings:
                self.report.findings.append(LEAVES)
        if faults := self.equal_faults():
            self.report.findings += map(self.failure, faults)
        else:
            self.count()

    def equal_faults(self) -> list[list[TrialGame]]:
        """The games that failed, those with equal faults together."""
        found: dict[tuple[str, str], list[TrialGame]] = {}
        for trial in self.trials:
            if trial.failure:
                key = trial.failure.kind, error_line(trial.failure.trace)
                found.setdefault(key, []).append(trial)
        return list(found.values())

    def failure(self, trials: Sequence[TrialGame]) -> str:
        """How games with equal faults ended, in words that say what to do about it."""
        trial, failure = trials[0], trials[0].failure
        assert failure is not None  # the caller has seen it
        side = ("first", "second")[trial.player]
        number = self.trials.index(trial) + 1
        when = f"as {side} player in game {number}"
        when += f"; {len(trials)} of {len(self.trials)} games failed so" * (len(self.trials) > 1)
        words = failure_words(failure)
        if COMPILE in failure.message:  # its reasons stand below
            words = f"{failure.kind}: {failure.message.rstrip(':')}"
        lines = [f"{words} ({when})"]
        if trial.asked is not None and failure.kind != "unloadable":
            lines.append(f"the position: {self.of.text(trial.asked)}")
            lines += self.numbering_hints(trial.asked, failure.message)
        lines += [ADVICE[failure.kind]] if failure.kind in ADVICE else []
        if UNFLUSHED_TEXT in failure.message:
            lines.append("flush after every answer, as in print(move, flush=True), fflush(stdout)")
        # What it wrote is shown as such; what does not compile was found by us.
        lead = "" if COMPILE in failure.message else "it wrote: "
        lines += [f"{lead}{line}" for line in failure.trace.splitlines()]
        return "\n".join(lines)

    def numbering_hints(self, position: Position, message: str) -> Iterator[str]:
        """Which other way of counting would make a number legal that is not."""
        found = re.search(r"answered \D{0,1}(\d{1,4})\b", message)
        if self.of.pack != SOWN or not found:
            return
        given, numbers = int(found[1]), printed_moves(self.of)[position.side].number
        slots = [slot for slot in map(self.of.slots_of, self.of.legal(position)) if slot in numbers]
        ways: dict[str, Callable[[int], int]] = {
            "counted from 0 instead of 1": lambda slot: numbers[slot] - 1,
            "counted in sowing order, from the mover's side": lambda slot: slot + 1,
            "counted in sowing order from 0": lambda slot: slot,
        }
        fits = [words for words, way in ways.items() if given in map(way, slots)]
        if fits:
            yield f"it would be legal {' or '.join(fits)}: is your numbering wrong?"
        yield f"answer the numbers printed on the board: {listed([numbers[s] for s in slots])}"

    def ended(self) -> bool:
        """Whether its process has ended with the game."""
        if not isinstance(self.main, ProtocolAgent) or self.spec.kind == "files":
            return False
        single = self.spec.options.get("process", "run") != "run"
        has_ended = getattr(self.main.bot, "has_ended", None)
        return not single and self.main.bot.alive and has_ended is not None and has_ended()

    def count(self) -> None:
        """What the games had in them."""
        asked = sum(len(trial.answers) for trial in self.trials)
        extra, passes = (sum(getattr(trial, name) for trial in self.trials)
                         for name in ("extra_turns", "passes"))  # fmt: skip
        words = [f"{len(self.trials)} whole games, {asked} questions"]
        words += [f"{extra} extra turns"] if extra else []
        words += [f"{passes} passes"] if passes else []
        self.report.facts.append(", ".join(words))
        if given_up := sum(trial.resigned for trial in self.trials):
            self.report.facts.append(f"it resigned {given_up} of them")

    def check_unsolicited_output(self) -> None:
        """What it wrote that nobody had asked for."""
        notes = self.main.notes if isinstance(self.main, ProtocolAgent) else []
        for note in dict.fromkeys(notes):
            if note.startswith(("wrote unasked", "wrote a line before")):
                self.report.findings.append(
                    f"it {note[:120]}\nwrite one line for each question, and nothing before it; "
                    "what you want to say goes to stderr"
                )
                return
        self.report.facts += [f"it {note}" for note in dict.fromkeys(notes)][:3]

    def check_positions(self) -> None:
        """Whether it answers in every position that it must survive."""
        if not self.positions:
            return
        groups: dict[str, list[tuple[Position, str]]] = {}
        self.doing = f"{len(self.positions):,} positions that it must survive"
        for position, how in failed_positions(self.main, self.of, self.positions, SEED):
            groups.setdefault(NUMBERS.sub("0", how), []).append((position, how))
        for failed in groups.values():
            position, how = failed[0]
            times = f"(in {len(failed):,} of {len(self.positions):,} positions)"
            self.report.findings.append(f"{how} {times}\nthe position: {self.of.text(position)}")
        if not groups:
            self.report.facts.append(f"it survived all {len(self.positions):,} positions")

    def check_values(self) -> None:
        """Whether the values of an evaluation differ once they are clipped and rounded."""
        evaluate = getattr(self.main, "evaluate_rows", None)
        positions = [position for trial in self.trials for position, _ in trial.answers]
        if evaluate is None or "evaluate" not in self.spec.options or not positions:
            return
        board, rows = Board(self.of), []
        for position in positions:
            board.place(position)
            rows.append(board.words[STATE : board.first_slot].copy())
        try:
            values = [abs(value) for value in evaluate(np.array(rows))]
        except AgentFailure:  # it was asked alone, which no game does
            return
        clipped = sum(value >= HIGHEST_VALUE for value in values)
        if clipped:
            # A position that is as good as won may be worth any large number.
            lines = self.report.findings if 2 * clipped > len(values) else self.report.facts
            lines.append(
                f"{clipped} of {len(values)} values are clipped at ±{HIGHEST_VALUE:,}: a search "
                "cannot tell these positions apart; return smaller numbers"
            )
        elif max(values) < SMALLEST_VALUE:
            self.report.findings.append(
                f"no value is beyond ±{max(values):g}, and values are rounded to thousandths: a "
                "search can hardly tell positions apart; return larger numbers"
            )

    def check_speed(self) -> None:
        """How long it takes to start, and to answer."""
        first = self.trials[0].seconds[0] if self.trials[0].seconds else 0.0
        limit = self.start_seconds
        if first > limit * SLOW_SHARE:
            self.report.findings.append(
                f"slow start: its first answer took {first:.1f} s of the {limit:g} s that it may "
                "take; on a busy machine it is lost (start_seconds = 60 allows more)"
            )
        rest = [seconds for trial in self.trials for seconds in trial.seconds][1:]
        longest = f", the longest of the others {max(rest):.3f} s" if rest else ""
        self.report.facts.append(f"its first answer took {first:.2f} s{longest}")

    @property
    def start_seconds(self) -> float:
        """How long it may take to start."""
        bot = getattr(self.main, "bot", None)
        return bot.limits.start_seconds if bot is not None else self.terms.seconds

    def check_state(self) -> None:
        """Whether the same questions are answered as before: in this process, and in new ones."""
        for player in (0, 1):
            self.doing = f"a game of the {('first', 'second')[player]} player again"
            before = next(trial for trial in self.trials if trial.player == player)
            again = play_trial(self.main, self.of, player, before.seed)
            fresh = [self.fresh(player, before.seed) for _ in range(2)]
            kept = first_difference(fresh[0], again) or first_difference(fresh[0], before)
            if kept:  # dice may have fallen alike in the first two new processes
                fresh += [self.fresh(player, before.seed) for _ in range(SURER)]
            if each := next(filter(None, (first_difference(fresh[0], x) for x in fresh[1:])), None):
                self.report.findings.append(self.varies(*each))
                return
            if kept:
                self.report.findings.append(self.keeps_state(*kept))
                return
        self.report.facts.append("the same questions were answered the same way")

    def keeps_state(self, position: Position, one: int, other: int) -> str:
        """That what it has played before decides what it answers."""
        if call := random_call(user_files(self.spec)):
            return self.uses_own_random(call, position, one, other)
        return (
            "it keeps state between games: asked the same, with the same random number, it "
            f"answers {self.text(position, other)} in a process that has played before and "
            f"{self.text(position, one)} in a new one\n"
            f"the position: {self.of.text(position)}\n"
            "a tournament then depends on the order of its games; forget all at a new one"
        )

    def varies(self, position: Position, one: int, other: int) -> str:
        """That it answers at random."""
        if call := random_call(user_files(self.spec)):
            return self.uses_own_random(call, position, one, other)
        advice = self.chance_advice()
        if self.spec.options.get("deterministic"):
            advice = f"deterministic = true is wrong, then; {advice}"
        return (
            "it gives different answers to the same question: "
            f"{self.text(position, one)}, then {self.text(position, other)}, in new processes\n"
            f"the position: {self.of.text(position)}\n{advice}"
        )

    def uses_own_random(self, call: str, position: Position, one: int, other: int) -> str:
        """That its code calls a generator of its own."""
        return (
            f"it uses its own random numbers ({call}): asked the same, it answers "
            f"{self.text(position, one)}, then {self.text(position, other)}\n"
            f"the position: {self.of.text(position)}\n{self.chance_advice()}"
        )

    def chance_advice(self) -> str:
        """Where a bot gets random numbers with which its games can be repeated."""
        given = "rng, the last argument of choose" if self.spec.kind == "python" else GIVEN_NUMBER
        return f"for all that you leave to chance, use {given}"

    def text(self, position: Position, move: int) -> str:
        """A move as it is printed on the board."""
        return self.of.move_text(position, move)

    def fresh(self, player: int, seed: int) -> TrialGame:
        """The trial in a new process."""
        agent = self.agent()
        trial = play_trial(agent, self.of, player, seed)
        close = getattr(agent, "close", None)
        if close is not None:
            close()
        return trial


def random_call(files: Sequence[Path]) -> str | None:
    """The first call of a generator that the bot was not given, in a Python file; None: no call."""
    for path in files:
        with suppress(OSError, ValueError, SyntaxError):
            tree = ast.parse(path.read_bytes() if path.suffix == ".py" else b"")
            names = dict[str, str]()
            for node in ast.walk(tree):
                if isinstance(node, ast.Import):
                    names |= {each.asname: each.name for each in node.names if each.asname}
                elif isinstance(node, ast.ImportFrom):
                    names |= {
                        each.asname or each.name: f"{node.module}.{each.name}"
                        for each in node.names
                    }
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and OWN_RANDOM.match(name := _dotted(node, names)):
                    return f"{name} in {printable(path.name)}, line {node.lineno}"
    return None


def _dotted(call: ast.Call, names: Mapping[str, str]) -> str:
    """The full name of what is called, as in `numpy.random.choice`; empty if it has none.

    A generator that is made from a seed has none: the seed may be the given number.
    """
    parts, node = list[str](), call.func
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or (call.args and SEEDED.match((parts or [node.id])[0])):
        return ""
    return ".".join([names.get(node.id, node.id), *reversed(parts)])
