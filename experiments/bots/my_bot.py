"""A bot of one's own: it plays whatever leaves it the best score one move later."""


def choose(view, legal, rng):
    """One of the legal moves; `view` is the position, `rng` this game's own random numbers."""
    scores = {move: score_after(view, move) for move in legal}
    best = max(scores.values())
    return rng.choice([move for move in legal if scores[move] == best])


def score_after(view, move):
    """My score minus the other's after the move."""
    after = view.play(move)
    return after.margin if after.mover == view.mover else -after.margin
