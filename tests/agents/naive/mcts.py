"""Monte Carlo tree search in plain Python, on positions of the game, with a tree of objects."""

import math
from itertools import pairwise

from games import Game, Position

MASK = (1 << 64) - 1
STRIDE = 0x9E37_79B9_7F4A_7C15


def mixed(word: int) -> int:
    word = (word ^ (word >> 30)) * 0xBF58_476D_1CE4_E5B9 & MASK
    word = (word ^ (word >> 27)) * 0x94D0_49BB_1331_11EB & MASK
    return word ^ (word >> 31)


class Node:
    def __init__(self, position: Position) -> None:
        self.position, self.children = position, {}
        self.visits, self.points = 0, 0.0  # points of the player who chose the move


class Search:
    def __init__(self, of: Game, seed: int, exploration: float) -> None:
        self.of, self.word, self.exploration = of, seed, exploration

    def after(self, position: Position, move: int) -> Position:
        """The position after a move and a forced pass."""
        position = self.of.play(position, move)
        return self.of.play(position, self.of.pass_move) if self.passes(position) else position

    def passes(self, position: Position) -> bool:
        return self.of.legal(position) == (self.of.pass_move,)

    def random_score(self, position: Position) -> float:
        """The points of the first player after random moves."""
        while legal := self.of.legal(position):
            self.word = (self.word + STRIDE) & MASK
            position = self.after(position, legal[(mixed(self.word) >> 32) * len(legal) >> 32])
        margin = self.of.margin(position)
        return 0.5 + 0.5 * (margin > 0) - 0.5 * (margin < 0)

    def bound(self, node: Node, child: Node) -> float:
        log = math.floor(math.log(node.visits) * 2**20 + 0.5) / 2**20
        return child.points / child.visits + self.exploration * math.sqrt(log / child.visits)

    def run(self, position: Position, simulations: int) -> Node:
        root = Node(position)
        for _ in range(simulations):
            path = [root]
            while legal := self.of.legal(path[-1].position):
                node = path[-1]
                if len(node.children) < len(legal):
                    move = legal[len(node.children)]
                    node.children[move] = Node(self.after(node.position, move))
                    path.append(node.children[move])
                    break
                path.append(max(node.children.values(), key=lambda each: self.bound(node, each)))
            score = self.random_score(path[-1].position)
            root.visits += 1
            for node, child in pairwise(path):
                child.visits += 1
                child.points += score if node.position.mover == 0 else 1 - score
        return root
