"""Cores: who keeps to one, and what is said of it."""

import os

import pytest

from arena.playing.process_pool import PINNED, pin_to_core, pinning_text


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system pins nobody")
def test_workers_keep_to_cores_where_there_is_one_for_each():
    enough = len(os.sched_getaffinity(0))
    assert pinning_text(enough, keeps=True) == PINNED
    assert pinning_text(enough + 1, keeps=True) == (
        f"bots move between cores: there are fewer cores than workers ({enough + 1})"
    )
    assert pinning_text(1, keeps=False) == "bots move between cores"


def test_a_process_that_is_no_worker_keeps_to_no_core():
    before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    assert pin_to_core(1) == ()
    assert before is None or os.sched_getaffinity(0) == before
