"""What uv.lock installs: files with hashes, no version whose hole tests/advisories.toml knows."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from packaging.version import Version

from tests.arena.running import ROOT

Locked = Sequence[tuple[str, str]]  # names with versions
Holes = Mapping[str, Mapping[str, Mapping[str, str]]]  # by package, then by advisory
SHA256 = re.compile(r"sha256:[0-9a-f]{64}")


def packages() -> list[dict[str, Any]]:
    return tomllib.loads((ROOT / "uv.lock").read_text())["package"]


def advisories() -> Holes:
    tables = tomllib.loads((ROOT / "tests" / "advisories.toml").read_text())
    return {name: table for name, table in tables.items() if isinstance(table, dict)}


def known_holes(locked: Locked, holes: Holes) -> Iterator[str]:
    """What is known of these versions."""
    for name, version in locked:
        for advisory, of in holes.get(name, {}).items():
            if Version(of.get("introduced", "0")) <= Version(version) < Version(of["fixed"]):
                yield f"{name} {version} has {advisory}, which {of['fixed']} has not"


def test_every_file_of_the_lock_has_its_hash():
    for package in packages():
        files = [*package.get("wheels", ()), *filter(None, [package.get("sdist")])]
        assert files or package["source"] == {"editable": "."}, package["name"]
        assert all(SHA256.fullmatch(each["hash"]) for each in files), package["name"]


def test_no_locked_version_has_a_known_hole():
    locked = [(each["name"], each["version"]) for each in packages()]
    assert list(known_holes(locked, advisories())) == []


def test_what_is_known_is_of_packages_that_are_locked():
    assert advisories().keys() <= {package["name"] for package in packages()}


@pytest.mark.parametrize(
    ("name", "version", "found"),
    [
        ("jinja2", "3.1.5", ["CVE-2025-27516"]),
        ("jinja2", "3.1.6", []),
        ("distributed", "2021.9.1", ["CVE-2021-42343"]),
        ("pyarrow", "0.11.1", []),
        ("pyarrow", "14.0.0", ["CVE-2023-47248"]),
        ("sqlalchemy", "1.3.0b2", ["CVE-2019-7164", "CVE-2019-7548"]),
    ],
)
def test_a_hole_is_found(name, version, found):
    said = list(known_holes([(name, version)], advisories()))
    assert [line.split()[3].rstrip(",") for line in said] == found
