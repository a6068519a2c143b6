"""Play a bot as a tournament would do, and report its problems."""

import ast
import random
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import numpy as np

from agents.core import Agent, AgentFailure, AgentSpec, GameFollower, HostSettings, Resignation
from agents.create import create_agent
from agents.fault_text import SLOW_FAULTS, failure_text, fault_text
from agents.registry import user_files
from agents.sandbox.protocol_agent import UNFLUSHED_TEXT, ProtocolAgent, accepts_any_position
from games import Game, Position
from games.base.errors import UserError, printable
from games.base.files import read_with_limit
from games.base.progress import Progress
from games.base.text import GameError, join_names, quote
from games.board import Board, board_numbers
from games.kernels.context import STATE

MOST_POSITIONS = 10_000
LONGEST = 2000  # plies of a trial game
MOST_OPENING_PLIES = 6
PAIRS = 5  # from different openings
SEED = 1
SURER = 3  # additional processes before a finding about kept state
SMALLEST_VALUE = 0.01  # at least one value should reach it
HIGHEST_VALUE = 999_999.999  # values of undecided positions are clipped here
SLOW_SHARE = 0.5  # of the start limit
NUMBERS = re.compile(r"\d[\d, ]*")  # faults that differ only in numbers are equal
COMPILE = "cannot be compiled"  # in the message about an evaluation
QUESTION = "the random number in the question"
OWN_RANDOM = re.compile(r"(random|numpy\.random|secrets)\.\w+|os\.urandom|uuid\.uuid[14]")
SEEDED = re.compile(r"Random$|default_rng$|RandomState$")
EXITS = (
    "it exits after a game and is started again for the next one, which costs time; read questions "
    'until the input ends, or set process = "game"'
)
ADVICE = {
    "timeout": "answer each question within the limit (--seconds)",
    "crashed": "keep the process running until its input ends",
    "unreadable": "answer one line that holds a move and nothing else; a line before the question "
    "or after the answer is read as the next answer",
    "flooded": "answer one line",
    "memory": 'memory = "2GB" in its table allows more',
}


def read_positions(path: Path, game: Game) -> list[Position]:
    """Return the positions of a file; blank lines and comments after # are skipped."""
    try:
        lines = read_with_limit(path).decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: the positions cannot be read: {printable(str(error))}") from None
    positions = []
    for number, line in enumerate(lines, 1):
        if (text := line.partition("#")[0].strip()) == "":
            continue
        try:
            position = game.parse(text)
        except GameError as error:
            raise UserError(f"{path}, line {number}: {error}") from None
        if game.over(position):
            raise UserError(f"{path}, line {number}: the game is over in {quote(text)}")
        positions.append(position)
    if not 0 < len(positions) <= MOST_POSITIONS:
        count = f"{len(positions):,}"
        raise UserError(f"{path}: must have 1 to {MOST_POSITIONS:,} positions, got {count}")
    return positions


def position_failures(
    agent: Agent, game: Game, positions: Sequence[Position], seed: int
) -> Iterator[tuple[Position, str]]:
    """Yield the positions in which the agent fails, with the reasons.

    Stops at a fault that takes long, such as a timeout.
    """
    if positions and not accepts_any_position(agent):
        raise UserError("it follows games move by move, so it cannot be tried on single positions")
    for position in positions:
        try:
            agent.start(seed)
            if game.legal(position) != (game.pass_move,):
                agent.choose(position)
        except AgentFailure as failure:
            yield position, failure_text(failure)
            if failure.kind in SLOW_FAULTS:
                return
        except Resignation:
            yield position, "it resigns"


Difference = tuple[Position, int, int]  # a position and two answers


@dataclass(slots=True)
class TrialGame:
    """One game of a bot against a random player."""

    player: int
    seed: int
    answers: list[tuple[Position, int]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)  # of answers; the first includes the start
    extra_turns: int = 0
    passes: int = 0
    resigned: bool = False
    failure: AgentFailure | None = None
    last_question: Position | None = None  # the position of a failure


def play_trial(agent: Agent, game: Game, player: int, seed: int) -> TrialGame:
    """Play one game; equal seeds give equal openings and equal opponents."""
    trial, rng = TrialGame(player, seed), random.Random(f"{game.name} {seed}")
    opening = rng.randrange(MOST_OPENING_PLIES)
    position, ply = game.start(), 0
    since = time.monotonic()
    try:
        agent.start(seed)
        while not game.over(position) and ply < LONGEST:
            move = rng.choice(game.legal(position))  # for both sides, so that all trials draw alike
            if position.mover == player and ply >= opening and move != game.pass_move:
                trial.last_question = position
                move = agent.choose(position).move
                trial.seconds.append(time.monotonic() - since)
                trial.answers.append((position, move))
            before, position, ply = position, game.play(position, move), ply + 1
            _count_turns(trial, game, before, position, move)
            if isinstance(agent, GameFollower):
                agent.note_move(move, before, position)
            since = time.monotonic()
        if isinstance(agent, GameFollower):
            agent.finish()
    except AgentFailure as failure:
        trial.failure = failure
    except Resignation:
        trial.resigned = True
    return trial


def _count_turns(
    trial: TrialGame, game: Game, before: Position, after: Position, move: int
) -> None:
    if move == game.pass_move:
        trial.passes += 1
    elif before.mover == after.mover == trial.player and not game.over(after):
        trial.extra_turns += 1


def first_difference(one: TrialGame, other: TrialGame) -> Difference | None:
    """Return the first question that two trials answer differently, with both answers."""
    for (position, move), (same, another) in zip(one.answers, other.answers, strict=False):
        if position == same and move != another:
            return position, move, another
    return None


@dataclass(slots=True)
class CheckReport:
    """The problems of a bot, and facts about it."""

    findings: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)


class BotCheck:
    """A check of one bot in one game.

    `positions` are positions that the bot must survive in addition to the games.
    """

    def __init__(
        self,
        spec: AgentSpec,
        game: Game,
        host: HostSettings,
        pairs: int = PAIRS,
        positions: Sequence[Position] = (),
    ) -> None:
        self.spec, self.game, self.host, self.pairs = spec, game, host, pairs
        self.positions = positions
        self.report = CheckReport()
        self.trials: list[TrialGame] = []
        self.activity = "starting the bot"

    def run(self) -> CheckReport:
        """Run all steps; a step assumes that the earlier steps found no problem."""
        for step in (
            self.play_games,
            self.check_unsolicited_output,
            self.check_speed,
            self.check_positions,
            self.check_values,
            self.check_state,
        ):
            step()
            if self.report.findings and step in (self.play_games, self.check_state):
                break
        return self.report

    def progress(self) -> Progress:
        """Return the current step."""
        return Progress(self.activity)

    def start_agent(self) -> Agent:
        """Create the bot in a new process."""
        agent = create_agent(self.spec, self.game, self.host)
        if isinstance(agent, ProtocolAgent):
            agent.tests_flushing = True
        return agent

    def play_games(self) -> None:
        """Play whole games from both sides in one process."""
        self.host.sandbox.open()  # not part of the bot's start time
        self.main = self.start_agent()
        if prepare := getattr(self.main, "prepare", None):
            prepare()
        for seed, player in product(range(SEED, SEED + self.pairs), (0, 1)):
            self.activity = f"game {len(self.trials) + 1} of {2 * self.pairs}"
            trial = play_trial(self.main, self.game, player, seed)
            self.trials.append(trial)
            if trial.failure and trial.failure.kind in SLOW_FAULTS:
                break
            exits = not trial.failure and seed == SEED and self.exits_after_game()
            if exits and EXITS not in self.report.findings:
                self.report.findings.append(EXITS)
        if faults := self.equal_faults():
            self.report.findings += map(self.failure_text, faults)
        else:
            self.add_game_facts()

    def equal_faults(self) -> list[list[TrialGame]]:
        """Return the failed games, grouped by equal faults."""
        groups = defaultdict[str, list[TrialGame]](list)
        for trial in self.trials:
            if failure := trial.failure:
                groups[fault_text(failure.kind, f"\n{failure.trace}")].append(trial)
        return list(groups.values())

    def failure_text(self, trials: Sequence[TrialGame]) -> str:
        """Return a finding about games with equal faults, with advice."""
        trial, failure = trials[0], trials[0].failure
        assert failure is not None  # true for all games of this group
        side = ("first", "second")[trial.player]
        number = self.trials.index(trial) + 1
        when = f"as {side} player in game {number}"
        when += f"; {len(trials)} of {len(self.trials)} games failed like this" * (
            len(self.trials) > 1
        )
        words = failure_text(failure)
        if COMPILE in failure.message:  # the reasons follow
            words = f"{failure.kind}: {failure.message.rstrip(':')}"
        lines = [f"{words} ({when})"]
        if trial.last_question is not None and failure.kind != "unloadable":
            lines.append(f"the position: {self.game.text(trial.last_question)}")
            lines += self.numbering_hints(trial.last_question, failure.message)
        lines += [ADVICE[failure.kind]] if failure.kind in ADVICE else []
        if UNFLUSHED_TEXT in failure.message:
            lines.append("flush after every answer, as in print(move, flush=True), fflush(stdout)")
        # Compile problems are our text, anything else is the bot's output.
        lead = "" if COMPILE in failure.message else "it wrote: "
        lines += [f"{lead}{line}" for line in failure.trace.splitlines()]
        return "\n".join(lines)

    def numbering_hints(self, position: Position, message: str) -> Iterator[str]:
        """Yield hints if another numbering of the holes would make the answer legal."""
        found = re.search(r"answered \D{0,1}(\d{1,4})\b", message)
        if self.game.pack != "sowing" or not found:
            return
        given, numbers = int(found[1]), board_numbers(self.game)[position.side].number
        slots = [
            slot for slot in map(self.game.slots_of, self.game.legal(position)) if slot in numbers
        ]
        ways: dict[str, Callable[[int], int]] = {
            "counted from 0 instead of 1": lambda slot: numbers[slot] - 1,
            "counted in sowing order, from the mover's side": lambda slot: slot + 1,
            "counted in sowing order from 0": lambda slot: slot,
        }
        fits = [words for words, way in ways.items() if given in map(way, slots)]
        if fits:
            yield f"it would be legal {' or '.join(fits)}: is your numbering wrong?"
        yield f"answer the numbers printed on the board: {join_names([numbers[s] for s in slots])}"

    def exits_after_game(self) -> bool:
        """Return whether the process ended together with its game."""
        if not isinstance(self.main, ProtocolAgent) or self.spec.kind == "files":
            return False
        single = self.spec.options.get("process", "run") != "run"
        return not single and self.main.bot.alive and self.main.bot.wait_for_exit()

    def add_game_facts(self) -> None:
        """Add a fact with the contents of the games."""
        questions = sum(len(trial.answers) for trial in self.trials)
        extra, passes = (sum(getattr(trial, name) for trial in self.trials)
                         for name in ("extra_turns", "passes"))  # fmt: skip
        words = [f"{len(self.trials)} whole games, {questions} questions"]
        words += [f"{extra} extra turns"] if extra else []
        words += [f"{passes} passes"] if passes else []
        self.report.facts.append(", ".join(words))
        if resigned := sum(trial.resigned for trial in self.trials):
            self.report.facts.append(f"it resigned {resigned} of them")

    def check_unsolicited_output(self) -> None:
        """Report output without a question."""
        notes = self.main.notes if isinstance(self.main, ProtocolAgent) else []
        for note in dict.fromkeys(notes):
            if note.startswith(("wrote unasked", "wrote a line before")):
                self.report.findings.append(
                    f"it {note[:120]}\nwrite one line for each question, and nothing before it; "
                    "other output belongs on stderr"
                )
                return
        self.report.facts += [f"it {note}" for note in dict.fromkeys(notes)][:3]

    def check_positions(self) -> None:
        """Report the given positions in which the bot fails."""
        if not self.positions:
            return
        groups: dict[str, list[tuple[Position, str]]] = {}
        self.activity = f"{len(self.positions):,} positions that it must survive"
        for position, how in position_failures(self.main, self.game, self.positions, SEED):
            groups.setdefault(NUMBERS.sub("0", how), []).append((position, how))
        for failures in groups.values():
            position, how = failures[0]
            times = f"(in {len(failures):,} of {len(self.positions):,} positions)"
            self.report.findings.append(f"{how} {times}\nthe position: {self.game.text(position)}")
        if not groups:
            self.report.facts.append(f"it survived all {len(self.positions):,} positions")

    def check_values(self) -> None:
        """Report evaluations whose values are all equal once they are clipped and rounded."""
        evaluate = getattr(self.main, "evaluate_rows", None)
        positions = [position for trial in self.trials for position, _ in trial.answers]
        if evaluate is None or "evaluate" not in self.spec.options or not positions:
            return
        board, rows = Board(self.game), []
        for position in positions:
            board.set_position(position)
            rows.append(board.words[STATE : board.first_slot].copy())
        try:
            values = [abs(value) for value in evaluate(np.array(rows))]
        except AgentFailure:  # games never ask for the static value
            return
        clipped = sum(value >= HIGHEST_VALUE for value in values)
        if clipped:
            # A nearly won position may have any large value.
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
        """Report the times of the start and of the answers."""
        first = self.trials[0].seconds[0] if self.trials[0].seconds else 0.0
        limit = self.start_seconds
        if first > limit * SLOW_SHARE:
            self.report.findings.append(
                f"slow start: its first answer took {first:.1f} s of the {limit:g} s that it may "
                "take; on a busy machine it may be too late (start_seconds = 60 allows more)"
            )
        rest = [seconds for trial in self.trials for seconds in trial.seconds][1:]
        longest = f", the longest of the others {answer_time_text(max(rest))}" if rest else ""
        self.report.facts.append(f"its first answer took {answer_time_text(first)}{longest}")

    @property
    def start_seconds(self) -> float:
        """The time limit of the start in seconds."""
        bot = getattr(self.main, "bot", None)
        return bot.limits.start_seconds if bot is not None else self.host.move_seconds

    def check_state(self) -> None:
        """Report answers that change between games or between processes."""
        for player in (0, 1):
            self.activity = f"a game of the {('first', 'second')[player]} player again"
            before = next(trial for trial in self.trials if trial.player == player)
            again = play_trial(self.main, self.game, player, before.seed)
            fresh = [self.play_in_new_process(player, before.seed) for _ in range(2)]
            kept = first_difference(fresh[0], again) or first_difference(fresh[0], before)
            if kept:  # the first two processes may have agreed by chance
                fresh += [self.play_in_new_process(player, before.seed) for _ in range(SURER)]
            varied = next(filter(None, (first_difference(fresh[0], x) for x in fresh[1:])), None)
            if varied or kept:
                self.report.findings.append(self.difference_text(varied, kept))
                return
        self.report.facts.append("the same questions were answered the same way")

    def difference_text(self, varied: Difference | None, kept: Difference | None) -> str:
        """Return the finding about answers that vary, or else depend on earlier games."""
        difference = varied or kept
        assert difference is not None  # the caller has found one
        position, *moves = difference
        one, other = (self.game.move_text(position, move) for move in moves)
        generator = "rng, the last argument of choose" if self.spec.kind == "python" else QUESTION
        advice = f"for all random choices, use {generator}"
        if call := random_call(user_files(self.spec)):
            text = (
                f"it uses its own random numbers ({call}): to the same question, it answers "
                f"{one}, then {other}"
            )
        elif varied:
            text = (
                "it gives different answers to the same question: "
                f"{one}, then {other}, in new processes"
            )
            if self.spec.options.get("deterministic"):
                advice = f"deterministic = true is wrong for it; {advice}"
        else:
            text = (
                "it keeps state between games: to the same question, with the same random number, "
                f"it answers {other} in a process that has played before and {one} in a new one"
            )
            advice = (
                "a tournament then depends on the order of its games; reset everything when a "
                "game begins"
            )
        return f"{text}\nthe position: {self.game.text(position)}\n{advice}"

    def play_in_new_process(self, player: int, seed: int) -> TrialGame:
        """Play a trial in a new process."""
        agent = self.start_agent()
        trial = play_trial(agent, self.game, player, seed)
        if close := getattr(agent, "close", None):
            close()
        return trial


def answer_time_text(seconds: float) -> str:
    """Return the time of an answer in seconds, to milliseconds."""
    return f"{seconds:.3f} s" if seconds >= 0.001 else "<0.001 s"


def random_call(files: Sequence[Path]) -> str | None:
    """Return the first call of another random generator in a Python file, or None."""
    for path in files:
        with suppress(OSError, ValueError, SyntaxError):
            tree = ast.parse(path.read_bytes() if path.suffix == ".py" else b"")
            names = dict[str, str]()
            for node in ast.walk(tree):
                if isinstance(node, ast.Import):
                    names |= {alias.asname: alias.name for alias in node.names if alias.asname}
                elif isinstance(node, ast.ImportFrom):
                    names |= {
                        alias.asname or alias.name: f"{node.module}.{alias.name}"
                        for alias in node.names
                    }
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and OWN_RANDOM.match(name := _call_name(node, names)):
                    return f"{name} in {printable(path.name)}, line {node.lineno}"
    return None


def _call_name(call: ast.Call, names: Mapping[str, str]) -> str:
    """Return the full name of the called function, such as `numpy.random.choice`.

    The name is empty for a generator with a seed, because the seed may be the supplied number.
    """
    parts, node = list[str](), call.func
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or (call.args and SEEDED.match((parts or [node.id])[0])):
        return ""
    return ".".join([names.get(node.id, node.id), *reversed(parts)])
