"""Dask's TLS: addresses and settings are passed through, and other clients are refused."""

import os
import subprocess

import pytest

from tests.arena.playing.cluster.machines import Room
from tests.arena.running import experiment_file, run_in_subprocess, small

ENDS = ("SCHEDULER", "WORKER", "CLIENT")


def certified(directory):
    """Dask's settings with a new certificate."""
    key, certificate = directory / "key.pem", directory / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-subj", "/CN=pitflip", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    comm = "DASK_DISTRIBUTED__COMM__"
    settings = {f"{comm}REQUIRE_ENCRYPTION": "true", f"{comm}TLS__CA_FILE": str(certificate)}
    for end in ENDS:
        settings |= {f"{comm}TLS__{end}__CERT": str(certificate)}
        settings |= {f"{comm}TLS__{end}__KEY": str(key)}
    return settings


@pytest.mark.slow  # a cluster of its own
@pytest.mark.slow
def test_run_needs_certificates(tmp_path, monkeypatch):
    path = experiment_file(tmp_path, small(10), "good")
    settings = certified(tmp_path)
    with monkeypatch.context() as inside:
        for name, value in settings.items():
            inside.setenv(name, value)
        room = Room(tmp_path, "tls")
        room.begin_scheduler()
    with room:
        room.begin_worker(**settings)
        words = path, "--results", tmp_path / "results", "--cluster", room.address
        assert room.address.startswith("tls://")
        ended = run_in_subprocess(*words, env={**os.environ, **settings})
        assert ended.returncode == 0, ended.stderr
        refused = run_in_subprocess(*words)
        assert refused.returncode == 2
        assert "requires certificates" in refused.stderr
        assert "Traceback" not in refused.stderr
