"""A KGP client that others start: it connects to the port of its agent, through a whole run."""

import contextlib
import socket
import subprocess
import sys

import pandas as pd
import pytest

from tests.arena.running import ROOT, begun, directory_of

EXPERIMENT = """
game = "kalah(4,3)"
pairs = 3
seed = 5
openings = {{ random_plies = 3 }}
[agents.random]
kind = "random"
[agents.client]
kind = "kgp"
port = {port}
start_seconds = 60
think_seconds = 20
"""
PATIENCE_SECONDS = 120


@contextlib.contextmanager
def client(port):
    """Our own client, which tries again until somebody listens."""
    serve = [
        sys.executable,
        "-m",
        "pitflip",
        "serve",
        "kgp",
        "--agent",
        "random",
        "--port",
        str(port),
    ]
    loop = "import subprocess, sys\nwhile subprocess.run(sys.argv[1:]).returncode: pass"
    with subprocess.Popen(
        [sys.executable, "-c", loop, *serve], cwd=ROOT, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield
        finally:
            process.kill()


@pytest.mark.slow
def test_a_client_that_connects_to_a_port_plays_a_whole_run(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path = tmp_path / "port.toml"
    path.write_text(EXPERIMENT.format(port=port))
    with client(port), begun(path, "--results", tmp_path, "--known", "off", "--quiet") as run:
        errors = run.communicate(timeout=PATIENCE_SECONDS)[1]
    assert run.returncode == 0, errors
    games = pd.read_parquet(directory_of(tmp_path) / "games.parquet")
    assert len(games) == 6
    assert set(games.termination) == {"normal"}
