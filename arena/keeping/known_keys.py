"""What decides a game, as the key under which it is known: rules, agents, opening, chance, code."""

import hashlib
import importlib.metadata
import json

import numpy as np
from numpy.typing import NDArray

from agents import AgentSpec, outside, users_code, users_trees, varies, with_files
from agents.user_files import split_reference
from arena.keeping.provenance import code_digest
from arena.planning.drawing import DrawnPlan
from arena.planning.pairing_seeds import agent_seeds
from arena.planning.pairings import Block
from arena.planning.plan import CLOCKS
from games.file_trees import file_tree
from games.kernels.splitmix import STRIDE, mixed

Words = NDArray[np.uint64]
PACKAGES = ("numba", "numpy")
TURNED = np.uint64(1)  # the bit of games in which the later one of the two contents moves first


def may_be_known(spec: AgentSpec) -> bool:
    """Whether the agent's moves follow from its spec and its seed: no clock, no unknown code."""
    if outside(spec) or any(name in spec.options for name in CLOCKS):
        return False
    return users_code(spec) is None or bool(spec.options.get("deterministic"))


class GameKeys:
    """The keys of the games of one drawn plan."""

    def __init__(self, drawn: DrawnPlan, everybody: bool = False) -> None:
        """Contents are worked out once; files are read now, as the run's digest has them.

        With `everybody` each game counts as a sample of what its agents do, whoever they are and
        whatever our sources were.
        """
        self.drawn = drawn
        clock = drawn.plan.turn_seconds is not None or drawn.plan.game_seconds is not None
        self.known = [everybody or (may_be_known(spec) and not clock) for spec in drawn.specs]
        self.contents = [
            content(spec) if known else ""
            for spec, known in zip(drawn.specs, self.known, strict=True)
        ]
        self.chance = [known and varies(spec) is not None for spec, known in
                       zip(drawn.specs, self.known, strict=True)]  # fmt: skip
        if everybody:
            self.rules = json.dumps([drawn.of.name, drawn.of.digest])
            return
        versions = [importlib.metadata.version(package) for package in PACKAGES]
        self.rules = json.dumps([drawn.of.name, drawn.of.digest, code_digest(), versions])

    def shelf(self, a: int, b: int) -> bytes | None:
        """The name of the shelf of two agents; None if their games cannot be known."""
        if not (self.known[a] and self.known[b]):
            return None
        both = sorted([self.contents[a], self.contents[b]])
        return hashlib.blake2b(f"{self.rules} {both}".encode(), digest_size=16).digest()

    def words(self, block: Block) -> Words:
        """Two words for each game of a block, both games of a pairing one after the other."""
        pairings = self.drawn.pairings
        openings, seeds = pairings.keys[pairings.openings(block)], pairings.seeds(block)
        words = np.empty((block.size, 2, 2), np.uint64)
        words[:, :, 0] = openings[:, None]
        for leg, seats in enumerate(((block.a, block.b), (block.b, block.a))):
            turned = self.contents[seats[0]] > self.contents[seats[1]]
            word = np.zeros(block.size, np.uint64)
            for seat in seats:
                own = agent_seeds(seeds, leg, pairings.agents[seat])
                chance = own if self.chance[seat] else np.zeros_like(own)
                word = mixed(word * STRIDE + chance)
            words[:, leg, 1] = (word & ~TURNED) | np.uint64(turned)
        return words.reshape(-1, 2)

    def turned(self, a: int, b: int, words: Words) -> NDArray[np.bool_]:
        """In which games of the shelf of two agents the second one moved first."""
        later = self.contents[a] > self.contents[b]
        return np.asarray(((words[:, 1] & TURNED) == TURNED) != later)


def content(spec: AgentSpec) -> str:
    """All that an agent is made of: its spec with files by what they and their imports hold."""
    named = with_files(spec, _by_content)
    # Of a file with imports each file has one: ladders of earlier versions know games by this.
    digests = [
        each.digest(16)
        for tree in users_trees(spec)
        for each in ([tree] if tree.is_directory else map(file_tree, tree.files.values()))
    ]
    return json.dumps([named.to_json(), digests], sort_keys=True, default=str)


def _by_content(reference: str) -> str:
    path, name = split_reference(reference, "")
    return f"{file_tree(path).digest(16)}:{name}" if path.exists() else reference
