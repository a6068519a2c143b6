"""A finished run in one zip: written from its directory, read with suspicion."""

import json
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from arena.storage.provenance import RUN
from arena.storage.run_file import GAMES, NotARun, other_results
from arena.storage.versions import SOURCES
from games.base.files import parsed_json, read_bytes, whole_file
from games.base.machine_paths import page_without_machine_paths, without_machine_paths
from games.base.schema import KeyValues
from games.base.text import quoted

SUMMARY = "summary.json"
FILES = (RUN, SUMMARY, "report.html", "run.log")
TABLE = re.compile(r"[a-z_]{1,40}\.parquet")
# No part of a path is "." or "..".
SOURCE = re.compile(rf"{SOURCES}/[0-9a-f]{{16}}(/(?!\.{{1,2}}(/|$))[^/\\\0]{{1,255}}){{1,32}}")
ROOT = re.compile(r"[0-9a-f]{4,64}")
MOST_MEMBERS = 5_000
MOST_BYTES = 4 << 30  # of all files together, unpacked
LARGEST_RUN = 1 << 26
PIECE = 1 << 20
BEGINNING = (1980, 1, 1, 0, 0, 0)  # of time in a zip: the same run gives the same bytes
PROGRAM = 0o100


def pack(directory: Path, stored: KeyValues, path: Path) -> list[str]:
    """Write the zip of a finished run, without paths of this machine; what is in it."""
    root, inside = str(stored["digest"]), list[str]()
    with whole_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for each in _files_of(directory):
            name = each.relative_to(directory).as_posix()
            member = zipfile.ZipInfo(f"{root}/{name}", BEGINNING)
            member.compress_type = zipfile.ZIP_DEFLATED
            mode = 0o755 if each.stat().st_mode & PROGRAM else 0o644
            member.external_attr = (stat.S_IFREG | mode) << 16
            packed.writestr(member, _shared(name, each.read_bytes(), stored))
            inside.append(name)
    return inside


def _shared(name: str, content: bytes, stored: KeyValues) -> bytes:
    """The content of a file of a run as others get it."""
    base = Path(stored["path"]).parent
    if name == RUN:
        told = {
            **stored,
            "path": Path(stored["path"]).name,
            "unloadable": {
                agent: without_machine_paths(str(why), base)
                for agent, why in stored.get("unloadable", {}).items()
            },
            "forfeits": [
                without_machine_paths(str(why), base) for why in stored.get("forfeits", [])
            ],
        }
        return json.dumps(told, indent=1, ensure_ascii=False).encode() + b"\n"
    if name == SUMMARY:
        summary = json.loads(content)
        for each in summary.get("excluded") or ():
            each["reason"] = without_machine_paths(str(each["reason"]), base)
        return json.dumps(summary, indent=1, ensure_ascii=False).encode() + b"\n"
    if name.endswith(".html"):
        return page_without_machine_paths(content.decode(), base).encode()
    if name.endswith(".log"):
        return without_machine_paths(content.decode(errors="replace"), base).encode()
    return content


def unpack(path: Path, into: Path) -> Path:
    """The run's directory below `into`; NotARun if the zip holds anything but a run."""
    try:
        with zipfile.ZipFile(path) as packed:
            return _unpacked(packed, into)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise NotARun(f"{path} cannot be read as a zip: {quoted(str(error))}") from None
    except NotARun as error:
        raise NotARun(f"{path} is not a shared run: {error}") from None


def _unpacked(packed: zipfile.ZipFile, into: Path) -> Path:
    members = packed.infolist()
    if not 0 < len(members) <= MOST_MEMBERS:
        raise NotARun(f"it has {len(members):,} files, and 1 to {MOST_MEMBERS:,} are allowed")
    roots, left = set[str](), MOST_BYTES
    names = [_name(member, roots) for member in members]
    if len(roots) != 1 or len({name.lower() for name in names}) != len(names):
        raise NotARun("its files must lie in one directory, each once")
    (root,) = roots
    for member, name in zip(members, names, strict=True):
        target = into / root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with packed.open(member) as content, whole_file(target) as file:
            left -= _copy(content, file, left)
        target.chmod(0o755 if member.external_attr >> 16 & PROGRAM else 0o644)
    if not (into / root / RUN).exists():
        raise NotARun(f"it has no {RUN}")
    return into / root


def _name(member: zipfile.ZipInfo, roots: set[str]) -> str:
    """Where a member lies in the run's directory; NotARun if it has no place there."""
    root, _, name = member.filename.partition("/")
    mode = member.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        raise NotARun(f"{quoted(member.filename)} is no regular file")
    known = name in FILES or TABLE.fullmatch(name) or SOURCE.fullmatch(name)
    if not ROOT.fullmatch(root) or not known:
        raise NotARun(f"{quoted(member.filename)} has no place in a run")
    roots.add(root)
    return name


def _copy(content: IO[bytes], target: IO[bytes], most: int) -> int:
    """Copy at most so many bytes; how many there were. What a header says is not believed."""
    copied = 0
    while piece := content.read(PIECE):
        copied += len(piece)
        if copied > most:
            raise NotARun(f"it has more than {MOST_BYTES >> 30} GB")
        target.write(piece)
    return copied


def _files_of(directory: Path) -> Iterator[Path]:
    """The files of a run that are shared, in a fixed order."""
    yield from (directory / name for name in FILES if (directory / name).is_file())
    yield from (path for path in sorted(directory.iterdir()) if TABLE.fullmatch(path.name))
    for path in sorted((directory / SOURCES).rglob("*")):
        if path.is_file() and SOURCE.fullmatch(path.relative_to(directory).as_posix()):
            yield path


def stored_run(directory: Path) -> KeyValues:
    """The content of run.json of a finished run; NotARun if it is none."""
    if not (directory / RUN).is_file():
        raise NotARun(f"{directory} is not a run's directory: it has no {RUN}")
    try:
        stored = parsed_json(read_bytes(directory / RUN, LARGEST_RUN))
    except (OSError, ValueError):
        raise NotARun(f"{directory / RUN} cannot be read") from None
    if isinstance(stored, dict) and (instead := other_results(directory, stored)):
        raise NotARun(instead)
    whole = isinstance(stored, dict) and ROOT.fullmatch(str(stored.get("digest")))
    if not whole or not stored.get("finished") or not (directory / GAMES).is_file():
        raise NotARun(f"{directory} is not finished: the command that began it continues it")
    assert isinstance(stored, dict)
    return stored
