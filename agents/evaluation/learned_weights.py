"""Files of learned weights."""

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.core import SpecError, Weights
from games import Game
from games.base.errors import printable
from games.base.files import atomic_write, parse_json, read_limited
from games.base.schema import Key, table_faults
from games.base.text import GameError, format_value, quote
from games.learned_tables import LookedUp, TableLayout

SUFFIX = ".npz"
FORMAT = 1
MOST_BYTES = 1 << 24  # of a file
MOST_UNPACKED = 1 << 27
PARTS = ("about.npy", "weights.npy")
MOST_LEFT = 1 << 20  # beans or squares, more than any game has
TABLE_SCALE = 256  # of the weights of tables, as searches read them
FEATURES = "features"  # the kind of a file whose weights are those of features
HEADER = (
    Key("format", "int", "the version of the format", required=True),
    Key("game", "text", "the game that the weights are for", required=True),
    Key("kind", "text", "the kind of the tables, or features", required=True),
    Key("groups", "table", "the squares or holes that each table looks up", required=True),
    Key("least", "int", "what is left where the last phase ends", 0, low=0, high=MOST_LEFT),
    Key("most", "int", "what is left where the first phase begins", 0, low=0, high=MOST_LEFT),
    Key("scale", "int", "the weight that is worth one disc or bean", TABLE_SCALE, low=1),
    Key("games", "int", "the games that the weights were fitted to", 0, low=0),
    Key("games_digest", "text", "the digest of these games", ""),
    Key("commands", "texts", "the commands that wrote the file", ()),
    Key("more", "table", "how well the weights fit, and versions"),
    Key("digest", "text", "the digest of weights and header", required=True),
)
# Whatever may be in such a file; a RuntimeError is one that is encrypted.
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
    """What a file holds: for which game and layout its weights are, and where they come from."""

    game: str
    kind: str  # of the tables, as in TABLES of the pack; or FEATURES
    groups: Mapping[str, str]  # name -> squares, or what else is looked up
    weights: NDArray[Any]  # a row a phase: int16 of different entries, or numbers of features
    least: int = 0  # how much is left where the phases begin, and where they end
    most: int = 0
    scale: int = TABLE_SCALE  # a weight of so much is worth one disc or bean
    games: int = 0
    games_digest: str = ""
    commands: tuple[str, ...] = ()
    more: Mapping[str, object] = field(default_factory=dict)  # how well they fit, versions

    @property
    def phases(self) -> int:
        """How many phases of the game have weights of their own."""
        return len(self.weights)

    @property
    def digest(self) -> str:
        """Digest of the weights with what they mean: the same on every machine."""
        head = {key: value for key, value in self.about().items() if key not in ("more", "digest")}
        digest = hashlib.blake2b(json.dumps(head, sort_keys=True).encode(), digest_size=8)
        digest.update(np.ascontiguousarray(self.weights).tobytes())
        return digest.hexdigest()

    def about(self) -> dict[str, object]:
        """Everything but the weights, as the file says it."""
        said = {key: value for key, value in asdict(self).items() if key != "weights"}
        return {"format": FORMAT, **said, "commands": list(self.commands)}

    def by_feature(self) -> Weights:
        """The weights of features, a number a phase."""
        rows = self.weights.T.tolist()
        return {name: tuple(row) for name, row in zip(self.groups, rows, strict=True)}


def write_learned(path: Path, weights: LearnedWeights) -> None:
    """Write a whole file; equal weights are equal bytes."""
    said = json.dumps({**weights.about(), "digest": weights.digest}).encode()
    arrays = {"about": np.frombuffer(said, np.uint8), "weights": weights.weights}
    with atomic_write(path) as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]  # its stubs know no **


def read_learned(path: Path) -> LearnedWeights:
    """What a file holds; a SpecError says in one line why it cannot be used."""
    try:
        content = read_limited(path, MOST_BYTES)
    except OSError as error:
        raise SpecError(f"{path}: weights file cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise SpecError(f"{path}: {error}") from None
    return _parsed(str(path), content)


@cache
def _parsed(name: str, content: bytes) -> LearnedWeights:
    try:
        weights = _read(content)
    except FAULTY as error:
        why = printable(str(error)) or type(error).__name__
        raise SpecError(f"{name}: is no whole file of learned weights ({why})") from None
    return weights


def _read(content: bytes) -> LearnedWeights:
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        if tuple(sorted(packed.namelist())) != PARTS:
            raise ValueError("it holds something else")
        if sum(each.file_size for each in packed.infolist()) > MOST_UNPACKED:
            raise ValueError("it is too large")
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        about, weights = parse_json(arrays["about"].tobytes()), arrays["weights"]
    if about["format"] != FORMAT:
        raise ValueError(f"its format is {about['format']}, this version reads {FORMAT}")
    if weights.ndim != 2 or weights.dtype not in (np.int16, np.float64):
        raise ValueError("its weights are no table")
    for _, message in table_faults(about, HEADER):
        raise ValueError(f"its header is wrong: {message}")
    known = {name: about[name] for name in about if name not in ("format", "digest")}
    groups = {str(name): str(words) for name, words in about["groups"].items()}
    commands = tuple(about["commands"])
    read = LearnedWeights(weights=weights, **{**known, "groups": groups, "commands": commands})
    if read.digest != about["digest"]:
        raise ValueError("its weights are not those that were written")
    refuse_other_numbers(read)
    return read


def refuse_other_numbers(read: LearnedWeights) -> None:
    """Raise a ValueError if the header does not describe the weights."""
    if not read.phases:
        raise ValueError("it has no weights")
    features = read.kind == FEATURES
    if read.weights.dtype != (np.float64 if features else np.int16):
        raise ValueError(f"its weights are not those of {quote(read.kind)}")
    if features and (not read.groups or len(read.groups) != read.weights.shape[1]):
        raise ValueError(f"it has {read.weights.shape[1]} weights of {len(read.groups)} features")
    if not features and read.scale != TABLE_SCALE:
        raise ValueError(f"its scale is {format_value(read.scale)}, of tables it is {TABLE_SCALE}")


def learned_for(path: Path, of: Game) -> tuple[LearnedWeights, LookedUp, TableLayout]:
    """The weights with their tables, for a game; a SpecError says why they do not fit."""
    from agents.evaluation.learned_value import looked_up  # noqa: PLC0415  # it loads the compiler

    read = read_learned(path)
    if read.game != of.name:
        raise other_game(path, read, of)
    try:
        tables = looked_up(of, read.kind)
        layout = tables.layout(of.rules, read.groups)
    except GameError as error:
        raise SpecError(f"{path}: {error}") from None
    same = tables.same(layout)
    if read.weights.shape[1] != len(np.unique(same)):
        message = f"{read.weights.shape[1]:,} weights do not fit tables of {quote(read.kind)}"
        raise SpecError(f"{path}: {message}")
    return read, tables, layout


def other_game(path: Path, read: LearnedWeights, of: Game) -> SpecError:
    """The error of a file whose weights are for another game."""
    return SpecError(f"{path}: these weights are for {printable(read.game)}, not for {of.name}")
