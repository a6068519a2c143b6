"""Weights of features and learned tables: files, defaults, declarations, ProbCut errors."""

import ast
import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.core import SpecError, Weights
from agents.user_files import split_reference
from games import Game
from games.base.errors import printable
from games.base.files import (
    atomic_write,
    format_toml,
    parse_json,
    parse_toml,
    read_with_limit,
    toml_key,
)
from games.base.schema import Key, table_problems
from games.base.text import GameError, did_you_mean, format_value, join_names, quote
from games.learned_tables import TableKind, TableLayout

# Errors of files that are missing, too large or not Python.
UNREADABLE = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    AttributeError,
    RecursionError,
    MemoryError,
)
MOST_PHASES = 8
LARGEST = 100_000.0


def read_declared_weights(reference: str) -> Weights | None:
    """Return the weights declared in the file of `path.py:evaluate`; None if they are computed."""
    try:
        body = ast.parse(read_with_limit(split_reference(reference, "evaluate")[0])).body
        for node in body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "WEIGHTS":
                declared = ast.literal_eval(node.value)
                return {str(name): (float(value),) for name, value in declared.items()}
    except UNREADABLE:
        pass  # building the agent reports it
    return None


def read_weights(path: Path, game: Game | None = None) -> Mapping[str, object] | str:
    """Return the unchecked `[weights]` table of a TOML file, or the path of learned tables.

    Feature weights learned for another game than `game` are refused.
    """
    if path.suffix == SUFFIX:
        learned = read_learned_weights(path)
        if learned.kind != FEATURES:
            return str(path.absolute())
        if game is not None and learned.game.partition("(")[0] != game.name.partition("(")[0]:
            raise other_game_error(path, learned, game)
        return learned.feature_weights()
    try:
        tables = parse_toml(read_with_limit(path).decode())
    except OSError as error:
        raise SpecError(f"{path}: weights file cannot be read: {error.strerror}") from None
    except ValueError as error:  # not TOML, not text, or too large
        raise SpecError(f"{path}: not valid TOML: {error}") from None
    weights = tables.get("weights", tables)
    if not isinstance(weights, dict):
        raise SpecError(f"{path}: [weights] must be a table of names and numbers")
    if not weights:
        raise SpecError(f"{path}: there are no weights in this file")
    return weights


def validate_weights(table: Mapping[str, object], known: Sequence[str]) -> Weights:
    """Return every weight as one number per phase; a SpecError names the first invalid one."""
    weights: dict[str, tuple[float, ...]] = {}
    for name, value in table.items():
        if name not in known:
            names = f"it has {join_names(known)}" if known else "it has none"
            raise SpecError(
                f"this agent has no weight {quote(name)} ({names}){did_you_mean(name, known)}"
            )
        values = value if isinstance(value, list | tuple) else (value,)
        if not 1 <= len(values) <= MOST_PHASES:
            raise SpecError(f"weight {name} must have 1 to {MOST_PHASES} phases, got {len(values)}")
        for number in values:
            if isinstance(number, bool) or not isinstance(number, int | float):
                raise SpecError(f"weight {name} must be a number, got {format_value(number)}")
            if not abs(number) <= LARGEST:
                raise SpecError(
                    f"weight {name} must lie within ±{LARGEST:g}, got {format_value(number)}"
                )
        weights[name] = tuple(float(number) for number in values)
    return weights


def classroom_weights(game: Game) -> Weights:
    """Return the classroom weights; 1 for every feature if the package defines none."""
    classroom = game.defaults.classroom if game.has_part("defaults") else {}
    features = game.features if game.has_part("features") else ()
    return validate_weights(classroom or dict.fromkeys(features, 1.0), features)


def smart_weights(game: Game) -> Weights:
    """Return the best known weights of the features of this game."""
    weights = game.defaults.weights if game.has_part("defaults") else {}
    return validate_weights({k: v for k, v in weights.items() if k in game.features}, game.features)


def default_weights(game: Game) -> Weights | str:
    """Return the file of learned weights for this game, or else the best feature weights."""
    learned = game.defaults.learned.get(game.name) if game.has_part("defaults") else None
    return smart_weights(game) if learned is None else str(learned)


def default_endgame(game: Game) -> int | None:
    """Return the units left at which endgames are solved; None if they never are."""
    return game.defaults.endgame if game.has_part("defaults") else None


class ShallowError(NamedTuple):
    """The mean and standard deviation of a search to `depth` minus one to `shallow`, in points."""

    depth: int
    shallow: int
    shift: float
    error: float


def shallow_errors(game: Game) -> tuple[ShallowError, ...]:
    """Return the errors measured with the shipped weights of this game, if any."""
    measured = game.defaults.probcut.get(game.name) if game.has_part("defaults") else None
    return tuple(ShallowError(*row) for row in measured["searches"]) if measured else ()


def default_probcut(game: Game) -> float:
    """Return the best number of errors for ProbCut; 0 where ProbCut does not help."""
    measured = game.defaults.probcut.get(game.name) if game.has_part("defaults") else None
    return float(measured["errors"]) if measured else 0.0


def cut_margins(
    errors: Iterable[ShallowError], probcut: float
) -> Iterator[tuple[int, int, float, float]]:
    """Yield depth, shallow depth, and the margins above and below the window, in points."""
    for depth, shallow, shift, error in errors:
        yield depth, shallow, max(probcut * error - shift, 0.0), max(probcut * error + shift, 0.0)


SUFFIX = ".npz"
FORMAT = 1
MOST_BYTES = 1 << 24  # of a compressed file
MOST_UNPACKED = 1 << 27
PARTS = ("about.npy", "weights.npy")
MOST_LEFT = 1 << 20  # beans or squares, more than any game has
TABLE_SCALE = 256  # the scale of table weights, which searches expect
FEATURES = "features"  # the kind of a file with feature weights
HEADER = (
    Key("format", "int", "the version of the format", required=True),
    Key("game", "text", "the game that the weights are for", required=True),
    Key("kind", "text", "the kind of the tables, or features", required=True),
    Key("groups", "table", "the squares or holes that each table looks up", required=True),
    Key("least", "int", "the units left where the last phase ends", 0, low=0, high=MOST_LEFT),
    Key("most", "int", "the units left where the first phase begins", 0, low=0, high=MOST_LEFT),
    Key("scale", "int", "the weight that is worth one disc or bean", TABLE_SCALE, low=1),
    Key("games", "int", "the games that the weights were fitted to", 0, low=0),
    Key("games_digest", "text", "the digest of these games", ""),
    Key("commands", "texts", "the commands that wrote the file", ()),
    Key("more", "table", "how well the weights fit, and versions"),
    Key("digest", "text", "the digest of weights and header", required=True),
)
# Errors that reading a damaged file may raise; an encrypted archive raises a RuntimeError.
FAULTY = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    EOFError,
    RuntimeError,
    ArithmeticError,
    MemoryError,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclass(frozen=True)
class LearnedWeights:
    """The content of a file: the weights, their game and layout, and their origin."""

    game: str
    kind: str  # a name in TABLES of the game's package, or FEATURES
    groups: Mapping[str, str]  # name -> the squares or holes that are looked up
    weights: NDArray[Any]  # one row per phase: int16 for tables, float64 for features
    least: int = 0  # units left where the last phase ends; `most`: where the first begins
    most: int = 0
    scale: int = TABLE_SCALE  # the weight that is worth one disc or bean
    games: int = 0
    games_digest: str = ""
    commands: tuple[str, ...] = ()
    more: Mapping[str, object] = field(default_factory=dict)  # fit quality and versions

    @property
    def phases(self) -> int:
        """The number of game phases with separate weights."""
        return len(self.weights)

    @property
    def digest(self) -> str:
        """The digest of weights and header, the same on every machine."""
        head = {key: value for key, value in self.header().items() if key not in ("more", "digest")}
        digest = hashlib.blake2b(json.dumps(head, sort_keys=True).encode(), digest_size=8)
        digest.update(np.ascontiguousarray(self.weights).tobytes())
        return digest.hexdigest()

    def header(self) -> dict[str, object]:
        """Return the header of the file: everything except the weights."""
        header = {key: value for key, value in asdict(self).items() if key != "weights"}
        return {"format": FORMAT, **header, "commands": list(self.commands)}

    def feature_weights(self) -> Weights:
        """Return the weights of each feature, one number per phase."""
        rows = self.weights.T.tolist()
        return {name: tuple(row) for name, row in zip(self.groups, rows, strict=True)}


def format_weights(weights: Mapping[str, Sequence[float]]) -> str:
    """Return weights as the table of a TOML file."""
    values = {name: each[0] if len(each) == 1 else list(each) for name, each in weights.items()}
    lines = [f"{toml_key(name)} = {format_toml(value)}" for name, value in values.items()]
    return "\n".join(["[weights]", *lines]) + "\n"


def write_learned_weights(path: Path, weights: LearnedWeights) -> None:
    """Write a file atomically; equal weights give equal bytes."""
    header = json.dumps({**weights.header(), "digest": weights.digest}).encode()
    arrays = {"about": np.frombuffer(header, np.uint8), "weights": weights.weights}
    with atomic_write(path) as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]  # the stubs lack **


def read_learned_weights(path: Path) -> LearnedWeights:
    """Return the content of a file; a SpecError gives the problem in one line."""
    try:
        content = read_with_limit(path, MOST_BYTES)
    except OSError as error:
        raise SpecError(f"{path}: weights file cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise SpecError(f"{path}: {error}") from None
    return _parse(str(path), content)


@cache
def _parse(name: str, content: bytes) -> LearnedWeights:
    try:
        weights = _read_archive(content)
    except FAULTY as error:
        why = printable(str(error)) or type(error).__name__
        raise SpecError(f"{name}: is not a complete file of learned weights ({why})") from None
    return weights


def _read_archive(content: bytes) -> LearnedWeights:
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        if tuple(sorted(packed.namelist())) != PARTS:
            raise ValueError("it must contain the arrays about and weights, and no others")
        if sum(part.file_size for part in packed.infolist()) > MOST_UNPACKED:
            raise ValueError("it is too large")
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        about, weights = parse_json(arrays["about"].tobytes()), arrays["weights"]
    if about["format"] != FORMAT:
        raise ValueError(f"its format is {about['format']}, this version reads {FORMAT}")
    if weights.ndim != 2 or weights.dtype not in (np.int16, np.float64):
        raise ValueError("its weights are not a table")
    for _, message in table_problems(about, HEADER):
        raise ValueError(f"its header is wrong: {message}")
    known = {name: about[name] for name in about if name not in ("format", "digest")}
    groups = {str(name): str(words) for name, words in about["groups"].items()}
    commands = tuple(about["commands"])
    read = LearnedWeights(weights=weights, **{**known, "groups": groups, "commands": commands})
    if read.digest != about["digest"]:
        raise ValueError("its weights do not match their digest")
    require_matching_header(read)
    return read


def require_matching_header(read: LearnedWeights) -> None:
    """Raise a ValueError if the header does not describe the weights."""
    if not read.phases:
        raise ValueError("it has no weights")
    features = read.kind == FEATURES
    if read.weights.dtype != (np.float64 if features else np.int16):
        raise ValueError(f"its weights are not those of {quote(read.kind)}")
    if features and (not read.groups or len(read.groups) != read.weights.shape[1]):
        raise ValueError(f"it has {read.weights.shape[1]} weights of {len(read.groups)} features")
    if not features and read.scale != TABLE_SCALE:
        raise ValueError(f"its scale must be {TABLE_SCALE}, got {format_value(read.scale)}")


def load_learned_weights(path: Path, game: Game) -> tuple[LearnedWeights, TableKind, TableLayout]:
    """Return the weights and their tables for a game; a SpecError says why they do not fit."""
    from agents.evaluation.learned_value import find_tables  # noqa: PLC0415  # it loads the compiler

    read = read_learned_weights(path)
    if read.game != game.name:
        raise other_game_error(path, read, game)
    try:
        tables = find_tables(game, read.kind)
        layout = tables.layout(game.rules, read.groups)
    except GameError as error:
        raise SpecError(f"{path}: {error}") from None
    same = tables.shared_entries(layout)
    if read.weights.shape[1] != len(np.unique(same)):
        message = f"{read.weights.shape[1]:,} weights do not fit tables of {quote(read.kind)}"
        raise SpecError(f"{path}: {message}")
    return read, tables, layout


def other_game_error(path: Path, read: LearnedWeights, game: Game) -> SpecError:
    """Return the error for a file whose weights are for another game."""
    return SpecError(f"{path}: these weights are for {printable(read.game)}, not for {game.name}")
