"""Plans and user files sent."""

import hashlib
import os
import pickle
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from agents.core import AgentSpec
from agents.languages import source_tree
from agents.registry import replace_files
from agents.user_files import split_reference
from arena.planning.openings.openings import Openings
from arena.planning.plan import Plan
from arena.planning.schedule import DrawnPlan, PairOrder
from arena.playing.executor import Job
from games import Game, game
from games.base.errors import UserError
from games.base.files import InputTooLarge, atomic_write
from games.base.text import quote

MOST_BYTES = 64 << 20  # of all files of a user's: they go to each worker


class PackedFile(NamedTuple):
    """A file of a user's."""

    content: bytes
    program: bool  # whether it may be executed


class PackedFiles:
    """The files that are sent, each at a place that follows from its content."""

    def __init__(self) -> None:
        """Nothing is packed yet."""
        self.files: dict[str, PackedFile] = {}
        self.places: dict[Path, str] = {}
        self.bytes = 0

    def place(self, path: Path) -> str:
        """Return where this file or directory is on any machine, below a common directory."""
        if path not in self.places:
            self.places[path] = self._packed(path)
        return self.places[path]

    def _packed(self, path: Path) -> str:
        """Take a file with what it imports, or all files of a directory."""
        try:
            inside = {name: self._read(each) for name, each in source_tree(path).files.items()}
        except InputTooLarge as error:
            raise UserError(f"{error}; they are not sent to a cluster") from None
        digest = hashlib.blake2b(digest_size=8)
        for name, file in sorted(inside.items()):
            digest.update(f"{name} {file.program} ".encode())
            digest.update(hashlib.blake2b(file.content, digest_size=8).digest())
        base = Path(digest.hexdigest())
        self.files |= {(base / name).as_posix(): file for name, file in inside.items()}
        return (base / path.name).as_posix()

    def _read(self, path: Path) -> PackedFile:
        try:
            self.bytes += path.stat().st_size
            if self.bytes > MOST_BYTES:
                raise UserError(
                    f"{quote(str(path))}: files of more than {MOST_BYTES >> 20} MB in all are not "
                    "sent to a cluster; install them on its machines, each in a directory bin"
                )
            return PackedFile(path.read_bytes(), os.access(path, os.X_OK))
        except OSError as error:
            raise UserError(f"{quote(str(path))}: cannot be sent to a cluster ({error})") from None


def is_installed(path: Path) -> bool:
    """Return whether a path means the same on another machine: it is installed, or not here.

    A program in a directory `bin` needs the library next to it.
    """
    return not path.exists() or path.parent.name == "bin"


def write_files(files: Mapping[str, PackedFile], directory: Path) -> None:
    """Write the files that are not there yet below a directory."""
    for place, file in files.items():
        path = directory / place
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(path) as written:
                written.write(file.content)
                os.fchmod(written.fileno(), 0o755 if file.program else 0o644)


class WorkPackage(NamedTuple):
    """Everything a machine needs for a job, except our packages, which it has."""

    maker: str  # "module:function": makes the job from the content, on the other machine
    content: bytes  # a pickle of plain values, opened by those who have the same code
    files: Mapping[str, PackedFile]  # the users' own, by their place under a directory
    alike: bool  # whether only machines of the same speed may do it
    homes: Mapping[str, str]  # where the sender has each file, by its place

    @property
    def digest(self) -> str:
        """The name of the package; equal jobs have equal names."""
        digest = hashlib.blake2b(self.maker.encode() + self.content, digest_size=16)
        for place in sorted(self.files):
            digest.update(place.encode())
        return digest.hexdigest()


class RemoteSite(NamedTuple):
    """A machine that works for another one."""

    worker: str = ""  # the name of its Dask worker
    sender_paths: Mapping[str, str] = MappingProxyType({})  # of users' files, by their paths here


HERE = RemoteSite()


class PortableSchedule(NamedTuple):
    """A drawn plan in which the users' files are named by their content."""

    plan: Plan
    game_file: tuple[str, str] | None  # its place and its digest
    openings: Openings
    pairings: PairOrder


def make_package(maker: str, plans: tuple[DrawnPlan, ...], *more: Any) -> WorkPackage:
    """Package plans and the other arguments of the function `maker`."""
    sent = PackedFiles()
    content = pickle.dumps((tuple(pack_schedule(each, sent) for each in plans), more))
    homes = {place: str(path) for path, place in sent.places.items()}
    alike = any(not each.plan.reproducible for each in plans)
    return WorkPackage(maker, content, sent.files, alike, homes)


def load_job(sent: WorkPackage, directory: Path, worker: str) -> Job[Any, Any]:
    """Return the job of a package, for this Dask worker; users' files go below `directory`."""
    write_files(sent.files, directory)
    plans, more = pickle.loads(sent.content)
    site = RemoteSite(worker, {str(directory / place): home for place, home in sent.homes.items()})
    module, _, name = sent.maker.partition(":")
    make_job = getattr(import_module(module), name)
    job: Job[Any, Any] = make_job(
        site, tuple(unpack_schedule(each, directory) for each in plans), *more
    )
    return job


def pack_schedule(drawn: DrawnPlan, sent: PackedFiles) -> PortableSchedule:
    """Return the schedule with users' files named by their places among the files sent."""
    agents = {name: pack_spec(spec, sent) for name, spec in drawn.plan.agents.items()}
    source, digest = drawn.of.source, drawn.of.digest
    game_file = None if source is None else (sent.place(source), digest)
    plan = replace(drawn.plan, agents=agents, base=Path())
    return PortableSchedule(plan, game_file, drawn.openings, drawn.pairings)


def pack_spec(spec: AgentSpec, sent: PackedFiles) -> AgentSpec:
    """Return the spec with every file named by its place; a name after a colon stays."""

    def place(reference: str) -> str:
        path, name = split_reference(reference, "")
        if is_installed(path if name else Path(reference)):
            return reference
        return f"{sent.place(path)}:{name}" if name else sent.place(path)

    return replace_files(spec, place)


def unpack_schedule(sent: PortableSchedule, directory: Path) -> DrawnPlan:
    """Return the schedule on this machine, with users' files below `directory`."""
    agents = {
        name: replace_files(spec, lambda reference: str(directory / reference))
        for name, spec in sent.plan.agents.items()
    }
    plan = replace(sent.plan, agents=agents)
    return DrawnPlan(plan, _game(sent, directory), sent.openings, sent.pairings)


def _game(sent: PortableSchedule, directory: Path) -> Game:
    if sent.game_file is None:
        return game(sent.plan.game)
    place, digest = sent.game_file
    made: Game = import_module("games.user_games.load").reloaded(
        sent.plan.game, directory / place, digest
    )
    return made
