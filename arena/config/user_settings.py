"""Settings of a user."""

import argparse
import os
import re
from pathlib import Path

from arena.config.toml_file import Problems, Source, read_text, toml_tables
from games.base.schema import Key, read_table
from games.base.text import quote

ADDRESS = re.compile(r"(tcp|tls)://[^\s/]+:(?P<port>[0-9]{1,5})|local:([1-9][0-9]?|1[0-9]{2})|none")
ADDRESS_FORMS = "tcp://HOST:PORT, tls://HOST:PORT, local:N for N processes of this machine, or none"
KEYS = (
    Key(
        "cluster",
        "table",
        "the cluster that plays",
        keys=(Key("address", "text", f"the address of a Dask scheduler: {ADDRESS_FORMS}"),),
    ),
)


def settings_path() -> Path:
    """Return the path of the settings file."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "pitflip" / "settings.toml"


def is_address(text: str) -> str:
    """Return a valid address of a cluster; an argparse type."""
    if not _is_address(text):
        raise argparse.ArgumentTypeError(f"must be {ADDRESS_FORMS}, got {quote(text)}")
    return text


def _is_address(text: str) -> bool:
    found = ADDRESS.fullmatch(text)
    return found is not None and (found["port"] is None or 0 < int(found["port"]) < 1 << 16)


def cluster_address(on: str | None) -> str | None:
    """Return the address on the command line, else in the settings; None plays here."""
    stored = read_address(settings_path())
    address = stored if on is None else on
    return None if address == "none" else address


def read_address(path: Path) -> str | None:
    """Return the address in the settings file; ExperimentError names problems."""
    if not path.is_file():
        return None
    text = read_text(path)
    tables = toml_tables(path, text)
    problems = Problems(Source(path, text, tables))
    values = read_table(tables, (), KEYS, problems.add)["cluster"] or {}
    address = values.get("address")
    if address is not None and not _is_address(address):
        problems.add(
            ("cluster", "address"), f"address must be {ADDRESS_FORMS}, got {quote(address)}"
        )
    problems.raise_if_any()
    return address
