"""A bot's seed does not reveal that of its opponent."""

import numpy as np
import pytest

from agents.core import AgentFailure, AgentSpec, HostSettings
from agents.sandbox.messages import BotLimits
from agents.sandbox.sandbox import Sandbox
from agents.sandbox.sandboxed_agent import SandboxedAgent
from arena.planning.seeds import agent_seeds, hash64
from games import game
from games.kernels.splitmix import MIX_1, MIX_2, S27, S30, S31, mixed

OF = game("kalah(4,3)")
TELLS = "class Bot:\n    def start(self, seed):\n        raise ValueError(f'seed={seed}.')\n    "
TELLS += "def choose(self, view, legal, rng):\n        return legal[0]\n"


def unmixed(word: np.uint64) -> np.uint64:
    """The word that `mixed` scrambled."""
    rest, mask = int(word), (1 << 64) - 1
    for shift, factor in ((S31, MIX_2), (S27, MIX_1)):
        rest = _unshifted(rest, int(shift)) * pow(int(factor), -1, 1 << 64) & mask
    return np.uint64(_unshifted(rest, int(S30)))


def _unshifted(word: int, shift: int) -> int:
    return word ^ word >> shift ^ word >> 2 * shift


def test_a_bot_cannot_compute_the_seed_of_its_opponent(tmp_path):
    pair = np.array([7], np.uint64)
    own, other = (agent_seeds(pair, 0, name)[0] for name in ("bot", "random"))
    assert unmixed(own) ^ hash64("bot", 0) == pair[0]  # so an agent could that gets this one
    path = tmp_path / "mine.py"
    path.write_text(TELLS)
    sandbox = Sandbox()
    spec = AgentSpec("python", file=f"{path}:Bot")
    limits = BotLimits(start_seconds=60)
    agent = SandboxedAgent(spec, OF, HostSettings(sandbox), (path,), limits)
    try:
        with pytest.raises(AgentFailure) as failed:
            agent.start(int(own))
    finally:
        agent.close()
        sandbox.close()
    seen = np.uint64(failed.value.trace.rpartition("seed=")[2].partition(".")[0])
    found = mixed(np.array([unmixed(seen) ^ hash64("bot", 0) ^ hash64("random", 0)]))[0]
    assert found != other
    assert seen != own
