"""The settings file of a user."""

import argparse
import sys

import pytest

from arena.config.run_options import cluster_address, connect_cluster, parse_address
from arena.config.toml_file import ExperimentError
from games.base.errors import UserError


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """Writes the settings file of a user who has no other."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / "pitflip" / "settings.toml"
    path.parent.mkdir()
    return path.write_text


ADDRESS = "tcp://10.0.0.5:8786"


def test_default_is_this_machine(settings):
    assert cluster_address(None) is None
    assert cluster_address("local:2") == "local:2"


def test_the_command_line_comes_before_the_settings(settings):
    settings(f'[cluster]\naddress = "{ADDRESS}"\n')
    assert cluster_address(None) == ADDRESS
    assert cluster_address("local:2") == "local:2"
    assert cluster_address("none") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[cluster]\nadress = "x"', 'unknown key "adress"; did you mean "address"'),
        ('[cluster]\naddress = "10.0.0.5"', "address must be tcp://HOST:PORT"),
        ("[cluster]\naddress = 5", "address must be text"),
        ('[cluster]\naddress = "local:2"\nwait_seconds = 5', "it was removed"),
        ("[cluster", "settings.toml:1"),
    ],
)
def test_wrong_setting_is_reported_with_its_line(settings, text, message):
    settings(text)
    with pytest.raises(ExperimentError) as refused:
        cluster_address(None)
    assert "settings.toml:" in str(refused.value)
    assert message in str(refused.value)


@pytest.mark.parametrize("text", [ADDRESS, "tls://cluster.example:443", "local:4", "none"])
def test_valid_addresses(text):
    assert parse_address(text) == text


@pytest.mark.parametrize(
    "text", ["", "local:0", "10.0.0.5:8786", "http://x:1", "tcp://x", "tcp://x:99999", "tcp://x:0"]
)
def test_invalid_address_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match="must be tcp://HOST:PORT"):
        parse_address(text)


def test_missing_dask_names_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "arena.playing.cluster.connection", raising=False)
    with pytest.raises(UserError, match=r"needs Dask: pip install 'pitflip\[cluster\]'"):
        connect_cluster(ADDRESS)
