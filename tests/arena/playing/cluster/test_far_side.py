"""What a Dask worker answers before it begins anything for us."""

import pickle
from types import SimpleNamespace

import pytest

from arena.playing.cluster import far_side


@pytest.fixture
def sources(monkeypatch):
    """Sets what the worker's files are now."""
    worker = SimpleNamespace()
    monkeypatch.setattr(far_side, "get_worker", lambda: worker)
    monkeypatch.setattr(far_side, "_prepared", lambda _sent: far_side.Welcome(None, "begun"))
    return lambda digest: monkeypatch.setattr(far_side.provenance, "code_digest", lambda: digest)


def answer(expected):
    return pickle.loads(far_side.welcome(expected, pickle.dumps(None))).refusal


def test_a_worker_of_our_sources_begins(sources):
    sources("new")
    assert answer("new") == "begun"


def test_a_worker_of_other_sources_does_not(sources):
    sources("old")
    assert answer("new") == "it has other sources of pitflip, old, here they are new"


def test_a_worker_whose_files_were_changed_while_it_ran_is_not_trusted(sources):
    sources("old")
    assert answer("old") == "begun"
    sources("new")
    assert answer("new") == "pitflip was changed there while it ran: start it again"
