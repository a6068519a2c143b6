"""Everything that another machine needs for a job: plans, and the users' files by content."""

import hashlib
import os
import pickle
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import games
from agents.core import AgentSpec
from agents.languages import source_tree
from agents.registry import replace_files
from agents.user_files import split_reference
from arena.planning.openings.openings import Openings
from arena.planning.plan import Plan
from arena.planning.schedule import PairOrder, Schedule
from arena.playing.executor import Job
from games import USER_GAMES, Game
from games.base.errors import UserError
from games.base.files import InputTooLarge, atomic_write
from games.base.text import quote

MAX_BYTES = 64 << 20  # of all files of a user: they go to each worker


class PackedFile(NamedTuple):
    """A user's file."""

    content: bytes
    is_program: bool


class PackedFiles:
    """The files that are sent, each at a place that follows from its content."""

    def __init__(self) -> None:
        self.files: dict[str, PackedFile] = {}
        self.places: dict[Path, str] = {}
        self.bytes = 0

    def place(self, path: Path) -> str:
        """Return where this file or directory is on any machine, below a common directory."""
        if path not in self.places:
            self.places[path] = self._pack(path)
        return self.places[path]

    def _pack(self, path: Path) -> str:
        """Pack a file with what it imports, or all files of a directory."""
        try:
            inside = {name: self._read(each) for name, each in source_tree(path).files.items()}
        except InputTooLarge as error:
            raise UserError(f"{error}; they are not sent to a cluster") from None
        digest = hashlib.blake2b(digest_size=8)
        for name, file in sorted(inside.items()):
            digest.update(f"{name} {file.is_program} ".encode())
            digest.update(hashlib.blake2b(file.content, digest_size=8).digest())
        base = Path(digest.hexdigest())
        self.files |= {(base / name).as_posix(): file for name, file in inside.items()}
        return (base / path.name).as_posix()

    def _read(self, path: Path) -> PackedFile:
        try:
            self.bytes += path.stat().st_size
            if self.bytes > MAX_BYTES:
                raise UserError(
                    f"{quote(str(path))}: files of more than {MAX_BYTES >> 20} MB in all are not "
                    "sent to a cluster; install them on its machines, each in a directory bin"
                )
            return PackedFile(path.read_bytes(), os.access(path, os.X_OK))
        except OSError as error:
            raise UserError(f"{quote(str(path))}: cannot be sent to a cluster ({error})") from None


def is_same_everywhere(path: Path) -> bool:
    """Return whether a path means the same on another machine: it is installed, or not here.

    A program in a directory `bin` is installed, because it needs the libraries next to it.
    """
    return not path.exists() or path.parent.name == "bin"


def write_files(files: Mapping[str, PackedFile], directory: Path) -> None:
    """Write the files that are not there yet below a directory."""
    for place, file in files.items():
        path = directory / place
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(path) as output:
                output.write(file.content)
                os.fchmod(output.fileno(), 0o755 if file.is_program else 0o644)


class WorkPackage(NamedTuple):
    """Everything that a machine needs for a job, except our own packages, which it has."""

    maker: str  # "module:function": makes the job from the content, on the other machine
    content: bytes  # a pickle of plain values, opened only by processes with the same code
    files: Mapping[str, PackedFile]  # of users, by their place below a directory
    equal_speed: bool  # whether only machines of the same speed may do it
    sender_paths: Mapping[str, str]  # where the sender has each file, by its place

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
    """A schedule in which the users' files are named by their content."""

    plan: Plan
    game_file: tuple[str, str] | None  # its place and its digest
    openings: Openings
    pairs: PairOrder


def make_package(maker: str, schedules: tuple[Schedule, ...], *more: Any) -> WorkPackage:
    """Package schedules and the other arguments of the function `maker`."""
    packed = PackedFiles()
    content = pickle.dumps((tuple(pack_schedule(each, packed) for each in schedules), more))
    originals = {copy: path for each in schedules for path, copy in each.plan.copies.items()}
    sender_paths = {place: str(originals.get(path, path)) for path, place in packed.places.items()}
    equal_speed = any(not each.plan.is_reproducible for each in schedules)
    return WorkPackage(maker, content, packed.files, equal_speed, sender_paths)


def load_job(package: WorkPackage, directory: Path, worker: str) -> Job[Any, Any]:
    """Return the job of a package and write the users' files below `directory`."""
    write_files(package.files, directory)
    schedules, more = pickle.loads(package.content)
    paths = {str(directory / place): path for place, path in package.sender_paths.items()}
    module, _, name = package.maker.partition(":")
    make_job = getattr(import_module(module), name)
    job: Job[Any, Any] = make_job(
        RemoteSite(worker, paths),
        tuple(unpack_schedule(each, directory) for each in schedules),
        *more,
    )
    return job


def pack_schedule(schedule: Schedule, packed: PackedFiles) -> PortableSchedule:
    """Return the schedule with users' files named by their places."""
    agents = {name: pack_spec(spec, packed) for name, spec in schedule.plan.agents.items()}
    source, digest = schedule.game.source, schedule.game.digest
    game_file = None if source is None else (packed.place(source), digest)
    plan = replace(schedule.plan, agents=agents, base=Path())
    return PortableSchedule(plan, game_file, schedule.openings, schedule.pairs)


def pack_spec(spec: AgentSpec, packed: PackedFiles) -> AgentSpec:
    """Return the spec with every file named by its place; a name after a colon stays."""

    def place(reference: str) -> str:
        path, name = split_reference(reference, "")
        if is_same_everywhere(path if name else Path(reference)):
            return reference
        return f"{packed.place(path)}:{name}" if name else packed.place(path)

    return replace_files(spec, place)


def unpack_schedule(portable: PortableSchedule, directory: Path) -> Schedule:
    """Return the schedule on this machine, with users' files below `directory`."""
    agents = {
        name: replace_files(spec, lambda reference: str(directory / reference))
        for name, spec in portable.plan.agents.items()
    }
    plan = replace(portable.plan, agents=agents)
    if portable.game_file is None:
        game: Game = games.game(plan.game_name)
    else:
        place, digest = portable.game_file
        game = import_module(USER_GAMES).reload_user_game(plan.game_name, directory / place, digest)
    return Schedule(plan, game, portable.openings, portable.pairs)
