"""Absolute scales: anchors of a game with stored ratings, which `benchmarks.scale` measures."""

import hashlib
import json
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import games
from agents.core import AgentSpec
from agents.registry import build
from games import Game, Position
from games.base.errors import UserError
from games.base.schema import KeyValues
from games.base.text import join_names

SCALE = "scale"  # the opponent that means the anchors of a scale
FOLDERS = tuple(Path(games.__file__).parent / pack / "scales" for pack in ("sowing", "othello"))
CHECKED_POSITIONS = 16  # an agent that chooses other moves in one of them has changed


@dataclass(frozen=True, slots=True)
class Scale:
    """Anchors with their specs, the weakest first, and how their ratings were measured.

    `moves` has a digest of the moves of each anchor in fixed positions, `losses` its mean move loss
    near the end of the game.
    """

    game: str
    openings: KeyValues
    anchors: Mapping[str, AgentSpec]
    elo: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]
    moves: tuple[str, ...]
    losses: tuple[float, ...]
    command: str
    version: str

    def without(self, spec: AgentSpec) -> "list[int]":
        """Return the places of all anchors that are not this agent."""
        return [at for at, each in enumerate(self.anchors.values()) if each != spec]

    def changed_anchors(self, game: Game) -> list[str]:
        """Return the anchors that choose other moves than when they were rated."""
        both = zip(self.anchors.items(), self.moves, strict=True)
        return [name for (name, spec), before in both if moves_digest(spec, game) != before]

    def to_json(self) -> dict[str, object]:
        """Return the scale as its file has it."""
        rows = zip(self.anchors.items(), self.elo, self.moves, self.losses, strict=True)
        return {
            "made_by": {"command": self.command, "version": self.version},
            "game": self.game,
            "openings": dict(self.openings),
            "anchors": {
                name: {"agent": spec.to_json(), "elo": elo, "moves": moves, "loss": loss}
                for (name, spec), elo, moves, loss in rows
            },
            "covariance": self.covariance,
        }

    @classmethod
    def from_json(cls, stored: KeyValues) -> "Scale":
        """Return the scale that `to_json` wrote."""
        rows = stored["anchors"]
        return cls(
            stored["game"],
            stored["openings"],
            {name: AgentSpec.from_json(row["agent"]) for name, row in rows.items()},
            tuple(row["elo"] for row in rows.values()),
            tuple(map(tuple, stored["covariance"])),
            tuple(row["moves"] for row in rows.values()),
            tuple(row["loss"] for row in rows.values()),
            stored["made_by"]["command"],
            stored["made_by"]["version"],
        )


def scale_path(game: Game) -> Path:
    """Return the path of the scale of a game."""
    stem = re.sub(r"\W+", "_", game.name).strip("_")
    return Path(games.__file__).parent / game.pack / "scales" / f"{stem}.json"


def load_scale(game: Game) -> Scale:
    """Return the scale of a game; a UserError if it has none."""
    path = scale_path(game)
    if not path.is_file():
        stored = [json.loads(each.read_text())["game"] for each in scale_files()]
        raise UserError(
            f"there is no scale of {game.name} (there are scales of {join_names(stored)}); "
            "play against agents by name, as in pitflip match my_bot.py smart"
        )
    return Scale.from_json(json.loads(path.read_text()))


def scale_files() -> list[Path]:
    """Return the paths of all scales."""
    return sorted(path for folder in FOLDERS for path in folder.glob("*.json"))


def require_current_scale(game: Game) -> None:
    """Raise a UserError if an anchor of the scale no longer plays as it was rated."""
    scale = load_scale(game)
    if changed := scale.changed_anchors(game):
        raise UserError(
            f"the scale of {game.name} was made with version {scale.version}, and "
            f"{join_names(changed)} plays differently now; make it again: {scale.command}"
        )


def moves_digest(spec: AgentSpec, game: Game) -> str:
    """Return a digest of the moves that an agent chooses in fixed positions."""
    agent, digest = build(spec, game), hashlib.blake2b(digest_size=8)
    for number, position in enumerate(sample_positions(game)):
        agent.start(number)
        digest.update(f"{agent.choose(position).move} ".encode())
    return digest.hexdigest()


def sample_positions(game: Game) -> Iterator[Position]:
    """Yield positions of random games, from early to late ones."""
    chance, found = random.Random(game.name), 0
    while found < CHECKED_POSITIONS:
        position, plies = game.start(), 2 * found
        while plies and not game.over(position):
            position = game.play(position, chance.choice(game.legal(position)))
            plies -= 1
        if not game.over(position):
            found += 1
            yield position
