"""Check a user's game in random games, interpreted and compiled."""

import random
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import NoReturn

import numpy as np

from games.base.text import GameError, quote
from games.core import Game, Position, family_drivers
from games.kernels.context import PASS
from games.kernels.family import State, key
from games.kernels.jit import Kernel, specialise
from games.kernels.quad import Quad
from games.user_games.family import describe_compile_error, plain_functions
from games.user_games.load import Answer, call_user_function, load_module

GAMES = 300
POSITIONS = 10_000  # after this many the check ends
IN_PYTHON = 300  # positions at the start that are also checked in Python
PLAYED = 5  # moves per position that are checked in Python
CALLED_TWICE = 50  # positions whose calls are repeated, to find functions that are not pure
LONGEST = 20_000  # plies of a game
WORD = 1 << 64

Played = tuple[tuple[int, ...], bool]  # result of play: the words of the state, extra turn


def hash_of(state: State) -> np.uint64:
    """Return the state's key, as kernels see it."""
    return key(state)


@cache
def hash_kernel(family_name: str) -> Kernel:
    """Return the compiled key function of a family."""
    family = import_module(family_name)
    made: Kernel = specialise(f"{family.FAMILY}_laws", (hash_of,), key=family.key).hash_of
    return made


def validate_game(game: Game) -> None:
    """Play random games; raise a GameError for the first violated law, with the state."""
    validator = GameValidator(game)
    validator.compile()
    for number in range(GAMES):
        if validator.positions >= POSITIONS:
            break
        validator.play_game(random.Random(number))


class GameValidator:
    """Plays one game and remembers states by key and legal moves by state, to compare them."""

    def __init__(self, game: Game) -> None:
        assert game.source is not None  # only users' games are validated
        self.game, self.path = game, game.source
        self.own = plain_functions(load_module(game.source, game.digest))
        self.positions = 0
        self.states: dict[int, tuple[int, ...]] = {}
        self.legal: dict[tuple[int, ...], tuple[int, ...]] = {}

    def fail(self, law: str, state: State | None = None) -> NoReturn:
        """Raise a GameError for a violated law."""
        where = "" if state is None else f" (in state {_plain(state)})"
        raise GameError(f"{self.path}: {law}{where}")

    def call(self, name: str, *arguments: object) -> Answer:
        """Return the result of an interpreted function; early calls are repeated and compared."""
        with np.errstate(all="ignore"):  # words wrap around by design
            answer = call_user_function(self.path, self.own[name], *arguments)
            if self.positions <= CALLED_TWICE:
                again = call_user_function(self.path, self.own[name], *arguments)
                if str(again) != str(answer):
                    both = f"{quote(str(answer))}, then {quote(str(again))}"
                    self.fail(f"{name} must return equal results for equal arguments, got {both}")
        return answer

    def compile(self) -> None:
        """Compile the kernels of the game; report Numba's errors in one line."""
        game = self.game
        self.require_state("start", self.call("start", game.rules))
        state = game.start().state
        if not self.check_in_python(state):  # Python's errors are easier to read than Numba's
            self.fail("the first player must have a move", state)
        try:
            self.compiled = family_drivers(game.family_name)
            self.hash: Callable[[State], int] = hash_kernel(game.family_name)
            self.hash(state)
            game.legal(game.start())
            self.compiled.margin(game.context, state)
            self.compiled.step(game.context, state, PASS)
        except Exception as error:
            raise GameError(f"{self.path}: {describe_compile_error(error, self.path)}") from None

    def play_game(self, rng: random.Random) -> None:
        """Play one random game and check all its positions."""
        game, position, before = self.game, self.game.start(), self.game.context.copy()
        for _ in range(LONGEST):
            self.positions += 1
            legal = self.check_position(position)
            if not legal:
                self.check_final_score(position)
                break
            position = self.play_and_check(position, rng.choice(legal))
        else:
            self.fail(f"a game must end within {LONGEST:,} plies", position.state)
        if not np.array_equal(before, game.context):
            self.fail("play must not change the rules")

    def check_position(self, position: Position) -> tuple[int, ...]:
        """Check the laws for all positions; return the legal moves."""
        game, state = self.game, position.state
        plain = _plain(state)
        if self.positions <= IN_PYTHON:
            self.check_in_python(state)
        hashed = int(self.hash(state))
        if hashed == 0:
            self.fail("key must never be 0", state)
        if self.states.setdefault(hashed, plain) != plain:
            self.fail(f"two states have the same key, the other is {self.states[hashed]}", state)
        legal = game.legal(position)
        if self.legal.setdefault(plain, legal) != legal:
            self.fail("the same state must have the same moves", state)
        turned = self.other_side(state)
        if _plain(self.other_side(turned)) != plain:
            self.fail("turned twice must return the same state", state)
        if self.positions <= IN_PYTHON:
            self.check_texts(position, legal)
        return legal

    def other_side(self, state: State) -> State:
        """Return the state as the other side sees it, by the compiled function."""
        return self.game.family.from_words(self.compiled.step(self.game.context, state, PASS)[0])

    def play_and_check(self, position: Position, move: int) -> Position:
        """Return the position after a move, which must change the state."""
        reached = self.game.play(position, move)
        if move != self.game.pass_move:
            same = reached.mover == position.mover
            seen = reached.state if same else self.other_side(reached.state)
            if _plain(seen) == _plain(position.state):
                text = self.game.move_text(position, move)
                self.fail(f"play must change the state, but move {text} does not", position.state)
        return reached

    def check_in_python(self, state: State) -> int:
        """Run the file's functions in Python and compare the results with those of the kernels.

        Return the legal moves as a bit for each slot.
        """
        game, rules = self.game, self.game.rules
        mask = self.mask(self.call("moves", rules, state))
        if extra := mask & ~sum(1 << slot for slot in game.slots):
            self.fail(
                f"moves returns slot {extra.bit_length() - 1}, but slots are {game.slots}", state
            )
        answers = {PASS: (self.require_state("turned", self.call("turned", state)), False)}
        self.word("key", self.call("key", state))
        legal = [slot for slot in game.slots if mask >> slot & 1]
        for slot in random.Random(mask).sample(legal, min(PLAYED, len(legal))):
            played = self.call("play", rules, state, np.uint64(slot))
            if not isinstance(played, tuple) or len(played) != 2 or hasattr(played, "_fields"):
                reason = "play must return the next state and whether the same side moves again"
                self.fail(f"{reason}, got {quote(str(played))}", state)
            answers[slot] = self.require_state("play", played[0]), bool(played[1])
        ends = not mask and ("over" not in self.own or bool(self.call("over", rules, state)))
        if hasattr(self, "compiled"):
            self.check_agreement(state, mask, ends, answers)
        return mask

    def check_agreement(
        self, state: State, mask: int, ends: bool, answers: Mapping[int, Played]
    ) -> None:
        """Fail if the kernels differ from the interpreted functions."""
        game = self.game
        slots = np.empty(len(game.slots), np.int64)
        count = self.compiled.options(game.context, state, slots)
        if sum(1 << slot for slot in slots[: max(count, 0)].tolist()) != mask:
            self.fail_compiled("moves", state)
        if (count < 0) != ends:
            self.fail_compiled("over", state)
        for slot, answer in answers.items():
            child, same = self.compiled.step(game.context, state, slot)
            if (_plain(child), bool(same)) != answer:
                self.fail_compiled("turned" if slot == PASS else "play", state)
        if int(self.hash(state)) != int(self.call("key", state)) % WORD:
            self.fail_compiled("key", state)

    def fail_compiled(self, name: str, state: State) -> NoReturn:
        """Fail because a compiled function differs from the interpreted one."""
        advice = "write all constants of words as U(...)"
        self.fail(f"compiled {name} differs from {name} in Python; {advice}", state)

    def mask(self, value: object) -> int:
        """Return the legal moves as one number."""
        words = value if isinstance(value, Quad) else (value,)
        last = self.game.slots[-1]
        if last >= 64 * len(words):
            reason = "moves must return a Quad of games.kernels.quad"
            self.fail(f"with slot {last}, beyond 63, {reason}, got {quote(str(value))}")
        return sum(self.word("moves", word) << 64 * place for place, word in enumerate(words))

    def word(self, name: str, value: object) -> int:
        """Return a whole number that must fit 64 bits."""
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            self.fail(f"{name} must return a whole number, got {quote(str(value))}")
        if not 0 <= int(value) < WORD:
            self.fail(f"{name} must stay within 64 bits, from 0 to 2**64 - 1, got {int(value)}")
        return int(value)

    def require_state(self, name: str, state: State) -> tuple[int, ...]:
        """Return the words of a state that a function returned."""
        fields = self.own["start"].__globals__["State"]._fields
        if not isinstance(state, tuple) or len(state) != len(fields):
            self.fail(f"{name} must return a State of {len(fields)} words, got {quote(str(state))}")
        return tuple(self.word(f"{name}: {f}", word) for f, word in zip(fields, state, strict=True))

    def check_texts(self, position: Position, legal: tuple[int, ...]) -> None:
        """Fail if moves and positions cannot be read back from their texts."""
        game = self.game
        for move in legal:
            text = game.move_text(position, move)
            if (
                game.notation.split(text) != [text]
                or game.notation.parse_move(position, text) != move
            ):
                self.fail(f"move {move} is written {quote(text)}, which reads back differently")
        text = game.text(position)
        back = game.parse(text)
        if (_plain(back.state), back.mover) != (_plain(position.state), position.mover):
            self.fail(f"a position is written {quote(text)}, which reads back differently")
        game.draw(position)

    def check_final_score(self, position: Position) -> None:
        """Fail if the margin of a finished game differs from the file's score."""
        game = self.game
        compiled = int(self.compiled.margin(game.context, position.state))
        if "final" in self.own:
            final = int(self.call("final", game.rules, position.state))
            if final != compiled:
                self.fail_compiled("final", position.state)
        first, second = game.score(position)
        margin = first - second if position.mover == 0 else second - first
        if margin != compiled:
            reason = f"final is {compiled} for the mover, player {position.mover + 1}"
            self.fail(f"{reason}, but score says {first} to {second}", position.state)


def _plain(state: State) -> tuple[int, ...]:
    return tuple(int(word) for word in state)
