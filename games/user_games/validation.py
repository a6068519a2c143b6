"""Check a user's game in random games, interpreted and compiled."""

import random
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import NoReturn

import numpy as np

from games.base.text import GameError, quote
from games.core import Game, Position, kernels
from games.kernels.context import PASS
from games.kernels.family import State, key
from games.kernels.jit import Kernel, specialise
from games.kernels.quad import Quad
from games.user_games.family import compile_problem, plain_functions
from games.user_games.load import Answer, called, module_of

GAMES = 300
POSITIONS = 10_000  # enough of them end the trial
IN_PYTHON = 300  # of those, so many are also run by Python
PLAYED = 5  # moves of each of these
ASKED_TWICE = 50
LONGEST = 20_000
WORD = 1 << 64

Played = tuple[tuple[int, ...], bool]  # of play: the words of the state, who moves again


def hash_of(state: State) -> np.uint64:
    """The state's key, as the kernels see it."""
    return key(state)


@cache
def hash_kernel(family_name: str) -> Kernel:
    """The compiled key of a family."""
    family = import_module(family_name)
    made: Kernel = specialise(f"{family.FAMILY}_laws", (hash_of,), key=family.key).hash_of
    return made


def try_laws(of: Game) -> None:
    """Play random games; a GameError names the first law that is broken, and where."""
    trial = TriedGame(of)
    trial.compile()
    for number in range(GAMES):
        if trial.positions >= POSITIONS:
            break
        trial.play_game(random.Random(number))


class TriedGame:
    """What was seen of one game: keys with their states, states with their moves."""

    def __init__(self, of: Game) -> None:
        """Nothing is seen yet."""
        assert of.source is not None  # a user's game
        self.of, self.path = of, of.source
        self.own = plain_functions(module_of(of.source, of.digest))
        self.positions = 0
        self.states: dict[int, tuple[int, ...]] = {}
        self.legal: dict[tuple[int, ...], tuple[int, ...]] = {}

    def broken(self, law: str, state: State | None = None) -> NoReturn:
        """Say which law is broken, in which state."""
        where = "" if state is None else f" (in state {_plain(state)})"
        raise GameError(f"{self.path}: {law}{where}")

    def ask(self, name: str, *arguments: object) -> Answer:
        """What the file's function answers when Python runs it; at first it is asked twice."""
        with np.errstate(all="ignore"):  # words wrap around on purpose
            answer = called(self.path, self.own[name], *arguments)
            if self.positions <= ASKED_TWICE:
                again = called(self.path, self.own[name], *arguments)
                if str(again) != str(answer):
                    both = f"{quote(str(answer))}, then {quote(str(again))}"
                    self.broken(f"{name} must answer the same to the same, got {both}")
        return answer

    def compile(self) -> None:
        """Compile the kernels of the game; what Numba does not take is said in one line."""
        of = self.of
        self.checked_state("start", self.ask("start", of.rules))
        state = of.start().state
        if not self.in_python(state):  # a mistake that Python also makes is easier to read
            self.broken("the first player must have a move", state)
        try:
            self.compiled = kernels(of.family_name)
            self.hash: Callable[[State], int] = hash_kernel(of.family_name)
            self.hash(state)
            of.legal(of.start())
            self.compiled.margin(of.context, state)
            self.compiled.step(of.context, state, PASS)
        except Exception as error:
            raise GameError(f"{self.path}: {compile_problem(error, self.path)}") from None

    def play_game(self, dice: random.Random) -> None:
        """One game by lot, every position of it looked at."""
        of, position, before = self.of, self.of.start(), self.of.context.copy()
        for ply in range(LONGEST):
            self.positions += 1
            legal = self.look(position, ply)
            if not legal:
                self.at_the_end(position)
                break
            position = self.after(position, dice.choice(legal))
        else:
            self.broken(f"a game must end within {LONGEST} plies, this one goes on", position.state)
        if not np.array_equal(before, of.context):
            self.broken("play must change the state alone, but the rules were changed")

    def look(self, position: Position, ply: int) -> tuple[int, ...]:
        """Try what holds in every position; its legal moves."""
        of, state = self.of, position.state
        plain = _plain(state)
        if self.positions <= IN_PYTHON:
            self.in_python(state)
        hashed = int(self.hash(state))
        if hashed == 0:
            self.broken("key must never be 0", state)
        if self.states.setdefault(hashed, plain) != plain:
            self.broken(f"two states have one key, the other is {self.states[hashed]}", state)
        legal = of.legal(position)
        if self.legal.setdefault(plain, legal) != legal:
            self.broken("the same state must have the same moves", state)
        turned = self.turned(state)
        if _plain(self.turned(turned)) != plain:
            self.broken("turned twice must be the same state", state)
        if self.positions <= IN_PYTHON:
            self.text_law(position, legal)
        return legal

    def turned(self, state: State) -> State:
        """The state seen by the other side, by the compiled function."""
        return self.of.family.restored(self.compiled.step(self.of.context, state, PASS)[0])

    def after(self, position: Position, move: int) -> Position:
        """The position after a move, which must differ from the one before."""
        reached = self.of.play(position, move)
        if move != self.of.pass_move:
            same = reached.mover == position.mover
            seen = reached.state if same else self.turned(reached.state)
            if _plain(seen) == _plain(position.state):
                text = self.of.move_text(position, move)
                self.broken(f"play must change the state, but move {text} does not", position.state)
        return reached

    def in_python(self, state: State) -> int:
        """Run the file's functions by Python: their answers fit, and are those of the kernels.

        The legal moves, a bit for each slot.
        """
        of, rules = self.of, self.of.rules
        mask = self.mask(self.ask("moves", rules, state))
        if extra := mask & ~sum(1 << slot for slot in of.slots):
            self.broken(f"moves names slot {extra.bit_length() - 1}, slots has {of.slots}", state)
        answers = {PASS: (self.checked_state("turned", self.ask("turned", state)), False)}
        self.word("key", self.ask("key", state))
        legal = [slot for slot in of.slots if mask >> slot & 1]
        for slot in random.Random(mask).sample(legal, min(PLAYED, len(legal))):
            played = self.ask("play", rules, state, np.uint64(slot))
            if not isinstance(played, tuple) or len(played) != 2 or hasattr(played, "_fields"):
                told = "play must return the next state and whether the same side moves again"
                self.broken(f"{told}, got {quote(str(played))}", state)
            answers[slot] = self.checked_state("play", played[0]), bool(played[1])
        ends = not mask and ("over" not in self.own or bool(self.ask("over", rules, state)))
        if hasattr(self, "compiled"):
            self.agree(state, mask, ends, answers)
        return mask

    def agree(self, state: State, mask: int, ends: bool, answers: Mapping[int, Played]) -> None:
        """The kernels must answer as Python did."""
        of = self.of
        slots = np.empty(len(of.slots), np.int64)
        count = self.compiled.options(of.context, state, slots)
        if sum(1 << slot for slot in slots[: max(count, 0)].tolist()) != mask:
            self.differ("moves", state)
        if (count < 0) != ends:
            self.differ("over", state)
        for slot, answer in answers.items():
            child, same = self.compiled.step(of.context, state, slot)
            if (_plain(child), bool(same)) != answer:
                self.differ("turned" if slot == PASS else "play", state)
        if int(self.hash(state)) != int(self.ask("key", state)) % WORD:
            self.differ("key", state)

    def differ(self, name: str, state: State) -> NoReturn:
        """Say that a function is another one when it is compiled."""
        advice = "write every number of a word as U(...)"
        self.broken(f"{name} compiled answers otherwise than run by Python; {advice}", state)

    def mask(self, value: object) -> int:
        """The legal moves as one number, however many words they are."""
        words = value if isinstance(value, Quad) else (value,)
        last = self.of.slots[-1]
        if last >= 64 * len(words):
            told = "moves must answer a Quad of games.kernels.quad"
            self.broken(f"slots has {last}: beyond 63, {told}, got {quote(str(value))}")
        return sum(self.word("moves", word) << 64 * place for place, word in enumerate(words))

    def word(self, name: str, value: object) -> int:
        """A whole number that fits 64 bits."""
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            self.broken(f"{name} must answer a whole number, got {quote(str(value))}")
        if not 0 <= int(value) < WORD:
            self.broken(f"{name} must stay within 64 bits, from 0 to 2**64 - 1, got {int(value)}")
        return int(value)

    def checked_state(self, name: str, state: State) -> tuple[int, ...]:
        """The words of a state that a function made."""
        fields = self.own["start"].__globals__["State"]._fields
        if not isinstance(state, tuple) or len(state) != len(fields):
            self.broken(f"{name} must answer a State of {len(fields)}, got {quote(str(state))}")
        return tuple(self.word(f"{name}: {f}", word) for f, word in zip(fields, state, strict=True))

    def text_law(self, position: Position, legal: tuple[int, ...]) -> None:
        """Moves and positions are read back as they are written."""
        of = self.of
        for move in legal:
            text = of.move_text(position, move)
            if of.notation.split(text) != [text] or of.notation.parse_move(position, text) != move:
                self.broken(f"move {move} is written {quote(text)}, which is not read back as it")
        text = of.text(position)
        back = of.parse(text)
        if (_plain(back.state), back.mover) != (_plain(position.state), position.mover):
            self.broken(f"a position is written {quote(text)}, which is not read back as it")
        of.draw(position)

    def at_the_end(self, position: Position) -> None:
        """The margin of a finished game is the file's own score, the mover's minus the other's."""
        of = self.of
        compiled = int(self.compiled.margin(of.context, position.state))
        if "final" in self.own:
            final = int(self.ask("final", of.rules, position.state))
            if final != compiled:
                self.differ("final", position.state)
        first, second = of.score(position)
        margin = first - second if position.mover == 0 else second - first
        if margin != compiled:
            told = f"final is {compiled} for the mover, player {position.mover + 1}"
            self.broken(f"{told}, but score says {first} to {second}", position.state)


def _plain(state: State) -> tuple[int, ...]:
    return tuple(int(word) for word in state)
