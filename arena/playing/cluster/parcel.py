"""Work packed for other machines: drawn plans, and the users' files by their content."""

import hashlib
import pickle
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from agents import AgentSpec, with_files
from agents.user_files import split_reference
from arena.planning.drawing import DrawnPlan
from arena.planning.openings import Openings
from arena.planning.pairings import Pairings
from arena.planning.plan import Plan
from arena.playing.cluster.sent_files import File, SentFiles, stays, unpack
from games import Game, game


class Parcel(NamedTuple):
    """Everything a machine needs for the work, except our packages, which it has."""

    maker: str  # "module:function": makes the crew of the content, on the other side
    content: bytes  # a pickle of plain values, opened by those who have the same code
    files: Mapping[str, File]  # the users' own, by their place under a directory
    alike: bool  # whether only machines of the same speed may do it
    homes: Mapping[str, str]  # where the sender has each file, by its place

    @property
    def digest(self) -> str:
        """The parcel's name; the same work has the same name."""
        digest = hashlib.blake2b(self.maker.encode() + self.content, digest_size=16)
        for place in sorted(self.files):
            digest.update(place.encode())
        return digest.hexdigest()


class PackedPlan(NamedTuple):
    """A drawn plan in which the users' files are named by their content."""

    plan: Plan
    game_file: tuple[str, str] | None  # its place and its digest
    openings: Openings
    pairings: Pairings


def parcel(maker: str, plans: tuple[DrawnPlan, ...], *more: Any) -> Parcel:
    """The parcel of plans and of the other arguments of the function `maker`."""
    sent = SentFiles()
    content = pickle.dumps((tuple(packed(each, sent) for each in plans), more))
    clocks = [each.plan for each in plans if not each.plan.reproducible]
    homes = {place: str(path) for path, place in sent.places.items()}
    alike = any(not plan.mixed_machines for plan in clocks)
    return Parcel(maker, content, sent.files, alike, homes)


def crew_of(sent: Parcel, directory: Path) -> Any:
    """The crew that the parcel's maker builds; users' files are written below `directory`."""
    unpack(sent.files, directory)
    plans, more = pickle.loads(sent.content)
    module, _, name = sent.maker.partition(":")
    return getattr(import_module(module), name)(
        tuple(unpacked(each, directory) for each in plans), *more
    )


def at_home(sent: Parcel, directory: Path) -> dict[str, str]:
    """Where the sender has the files that lie below `directory` here, by their paths here."""
    return {str(directory / place): home for place, home in sent.homes.items()}


def packed(drawn: DrawnPlan, sent: SentFiles) -> PackedPlan:
    """The plan with the users' files by their places among the files sent."""
    agents = {name: renamed(spec, sent) for name, spec in drawn.plan.agents.items()}
    source, digest = drawn.of.source, drawn.of.digest
    game_file = None if source is None else (sent.place(source), digest)
    plan = replace(drawn.plan, agents=agents, base=Path())
    return PackedPlan(plan, game_file, drawn.openings, drawn.pairings)


def renamed(spec: AgentSpec, sent: SentFiles) -> AgentSpec:
    """The spec with every file by its place; a name after a colon stays."""

    def place(reference: str) -> str:
        path, name = split_reference(reference, "")
        if stays(path if name else Path(reference)):
            return reference
        return f"{sent.place(path)}:{name}" if name else sent.place(path)

    return with_files(spec, place)


def unpacked(sent: PackedPlan, directory: Path) -> DrawnPlan:
    """The drawn plan on this machine, where users' files lie below `directory`."""
    agents = {
        name: with_files(spec, lambda reference: str(directory / reference))
        for name, spec in sent.plan.agents.items()
    }
    plan = replace(sent.plan, agents=agents)
    return DrawnPlan(plan, _game(sent, directory), sent.openings, sent.pairings)


def _game(sent: PackedPlan, directory: Path) -> Game:
    if sent.game_file is None:
        return game(sent.plan.game)
    place, digest = sent.game_file
    made: Game = import_module("games.user_game").reloaded(
        sent.plan.game, directory / place, digest
    )
    return made
