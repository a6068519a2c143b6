"""Minimax by plies and by whole turns in plain Python, over the public interface of games.

A score is an integer number of thousandths; a finished game is worth its margin, beyond every
evaluation. `evaluate(position)` scores a position for its mover.
"""

WON = 1_000_000_000


def final_score(of, position) -> int:
    """The score of a finished game for the player to move."""
    margin = of.margin(position) if of.mover(position) == 0 else -of.margin(position)
    return 1000 * margin + WON * ((margin > 0) - (margin < 0))


def choice_value(score: int) -> float:
    """The score as a `Choice` tells it: an evaluation, or a margin."""
    return (score - WON if score >= WON else score + WON if score <= -WON else score) / 1000


def in_board_order(of, position) -> list[int]:
    """The legal moves from left to right, or row by row, as the board is drawn; a swap comes last.

    North's row is drawn against its sowing order, whether its holes are numbered along or against.
    """
    moves = [move for move in of.legal(position) if move != of.swap_move]
    drawn = moves[::-1] if hasattr(of.rules, "holes") and position.side == 1 else moves
    return drawn + [move for move in of.legal(position) if move == of.swap_move]


def ply_value(of, position, depth: int, evaluate) -> int:
    """The score for the mover after `depth` more plies; a pass costs none."""
    if of.over(position):
        return final_score(of, position)
    if depth == 0:
        return evaluate(position)
    legal = of.legal(position)
    if legal == (of.pass_move,):
        return -ply_value(of, of.play(position, of.pass_move), depth, evaluate)
    return max(move_value(of, position, move, depth, evaluate) for move in legal)


def cut_value(of, position, depth: int, evaluate, cut, alpha: int) -> int:
    """More than `alpha` or not, where a shallow search may answer (Buro 1995).

    `cut` is its depth, how far above the question it must be and how far below; None for none.
    """
    if cut is not None and -WON < alpha < WON - 1 and not of.over(position):
        shallow, above, below = cut
        seen = ply_value(of, position, shallow, evaluate)
        if seen >= alpha + 1 + above:
            return alpha + 1
        if seen <= alpha - below:
            return alpha
    return ply_value(of, position, depth, evaluate)


def move_value(of, position, move: int, depth: int, evaluate) -> int:
    """Return the score of a move for its player."""
    child = of.play(position, move)
    value = ply_value(of, child, depth - 1, evaluate)
    return value if of.mover(child) == of.mover(position) else -value


def best_by_plies(of, position, depth: int, evaluate) -> tuple[int, int]:
    """The first best move on the board and its score."""
    if of.legal(position) == (of.pass_move,):
        return of.pass_move, ply_value(of, position, depth, evaluate)
    values = {
        move: move_value(of, position, move, depth, evaluate)
        for move in in_board_order(of, position)
    }
    best = max(values, key=lambda move: values[move])
    return best, values[best]


def end_of_turn(of, position, player: int, evaluate):
    """Where the player's turn ends, and its score for him; `position` follows one of his moves.

    Extra turns are resolved at once: of all ways to go on, the one with the best evaluation at
    its end, the first on the board among equals.
    """
    if of.over(position) or of.mover(position) != player:
        return position, score_for(of, position, player, evaluate)
    best = None
    for move in in_board_order(of, position):
        end = end_of_turn(of, of.play(position, move), player, evaluate)
        if best is None or end[1] > best[1]:
            best = end
    return best


def score_for(of, position, player: int, evaluate) -> int:
    """Return the static score of a position for one of the players."""
    value = final_score(of, position) if of.over(position) else evaluate(position)
    return value if of.mover(position) == player else -value


def turn_value(of, position, depth: int, player: int, evaluate) -> int:
    """The score for `player` after `depth` more turns; the actor changes at every level."""
    if of.over(position) or depth == 0:
        return score_for(of, position, player, evaluate)
    mover = of.mover(position)
    values = [
        turn_value(of, end_of_turn(of, of.play(position, move), mover, evaluate)[0], depth - 1,
                   player, evaluate)
        for move in of.legal(position)
    ]  # fmt: skip
    return max(values) if mover == player else min(values)


def best_by_turns(of, position, depth: int, evaluate) -> tuple[int, int]:
    """The first best move on the board, its extra turns resolved, and its score."""
    player = of.mover(position)
    values = {}
    for move in in_board_order(of, position):
        end, _ = end_of_turn(of, of.play(position, move), player, evaluate)
        values[move] = turn_value(of, end, depth - 1, player, evaluate)
    best = max(values, key=lambda move: values[move])
    return best, values[best]
