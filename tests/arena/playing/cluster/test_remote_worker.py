"""Replies of a Dask worker before it starts a player."""

import pickle
from multiprocessing import Pipe
from types import SimpleNamespace

import pytest

from arena.playing.cluster import remote_worker
from arena.playing.cluster.package import WorkPackage
from arena.playing.cluster.remote_player import play
from arena.playing.executor import Job


@pytest.fixture
def sources(monkeypatch):
    """A function that sets the digest of the worker's sources."""
    worker = SimpleNamespace()
    monkeypatch.setattr(remote_worker, "get_worker", lambda: worker)
    monkeypatch.setattr(
        remote_worker, "_start_player", lambda _sent: remote_worker.AdmissionReply(None, "begun")
    )
    return lambda digest: monkeypatch.setattr(
        remote_worker.provenance, "code_digest", lambda: digest
    )


def answer(expected):
    return pickle.loads(remote_worker.prepare_worker(expected, pickle.dumps(None))).refusal


def test_worker_with_equal_sources_starts(sources):
    sources("new")
    assert answer("new") == "begun"


def test_worker_with_other_sources_is_refused(sources):
    sources("old")
    assert answer("new") == "it has other sources of pitflip, old, here they are new"


def test_worker_with_files_changed_while_it_ran_is_refused(sources):
    sources("old")
    assert answer("old") == "begun"
    sources("new")
    assert answer("new") == "pitflip was changed there while it ran: start it again"


def failing_job(error):
    def prepare():
        raise error

    return Job(str, prepare=prepare)


def full_disk(_site, _plans):
    return failing_job(OSError(28, "No space left on device"))


def without_node(_site, _plans):
    return failing_job(RuntimeError("bot.js cannot be started:\nthere is no program node"))


@pytest.mark.parametrize(
    ("maker", "lack"),
    [
        (full_disk, "No space left on device"),
        (without_node, r"cannot be started:\nthere is no program node"),
    ],
)
def test_missing_parts_of_a_machine_are_reported_in_one_line(maker, lack, tmp_path, capsys):
    ours, theirs = Pipe()
    ours.send(
        ("name", WorkPackage(f"{__name__}:{maker.__name__}", pickle.dumps(((), ())), {}, False, {}))
    )
    play(theirs, tmp_path)
    player = remote_worker.PlayerHandle("digest", ours)
    with pytest.raises(remote_worker.PlayerNotReady) as refused:
        player.wait_until_ready(lambda: True)
    assert lack in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "Traceback" in capsys.readouterr().err  # in its worker's log
