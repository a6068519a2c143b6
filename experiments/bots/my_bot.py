"""A bot that plays a move with the best score after it."""


def choose(view, legal, rng):
    """Return a legal move; `view` is the position, `rng` the random numbers of this game."""
    scores = {move: score_after(view, move) for move in legal}
    best = max(scores.values())
    return rng.choice([move for move in legal if scores[move] == best])


def score_after(view, move):
    """Return my score minus the opponent's after the move."""
    after = view.play(move)
    return after.margin if after.mover == view.mover else -after.margin
