"""The claim that no move turned a result into a worse one."""

import numpy as np

from arena.analysis.checks.registry import (
    FAILS,
    HOLDS,
    LAST_BEANS,
    VACUOUS,
    Check,
    CheckKind,
    Verdict,
    judgement_text,
    make_verdict,
    no_moves_reason,
)
from arena.analysis.evidence import Evidence
from games.base.schema import Key
from games.solving.move_losses import RESULT_ONLY
from games.solving.solver import OUTCOMES, sign
from games.transcripts import replay_command

KEYS = (
    Key(
        "never_throws_away",
        "text",
        '"win": no won position was lost or drawn by a move; "draw": no drawn one lost either',
        choices=("win", "draw"),
    ),
    LAST_BEANS,
)


def verdict(check: Check, evidence: Evidence) -> Verdict:
    """Return whether no judged move of the agents turned a result into a worse one."""
    if reason := no_moves_reason(evidence):
        return make_verdict(check, VACUOUS, reason)
    moves = evidence.judge_moves(check.values["last_beans"])
    losses = moves.losses
    names = check.about(evidence)
    own = np.isin(moves.mover, [evidence.plan.names.index(name) for name in names])
    won = moves.plies["low"] > 0
    thrown = own & (losses.result > 0)
    if check.values["never_throws_away"] == "win":
        thrown &= won
    part = judgement_text(evidence, own, losses.result_known, moves.last)
    if not (own & losses.result_known).any():
        return make_verdict(check, VACUOUS, f"no move was judged ({part})")
    if not thrown.any():
        return make_verdict(check, HOLDS, f"none was ({part})")
    order = np.lexsort((-losses.margin[thrown], -losses.result[thrown]))
    worst = int(np.flatnonzero(thrown)[order[0]])
    row, ply = int(moves.row[worst]), int(moves.ply[worst])
    before, after = int(moves.plies["low"][worst]), int(moves.plies["after"][worst])
    margins = f", {before:+d} into {after:+d}" if abs(after) != RESULT_ONLY else ""
    detail = (
        f"{int((thrown & won).sum())} wins and {int((thrown & ~won).sum())} draws ({part}); "
        f"the worst is ply {ply + 1} of game {row}: {evidence.plan.names[int(moves.mover[worst])]} "
        f"turns a {OUTCOMES[sign(before)]} into a {OUTCOMES[sign(after)]}{margins}"
    )
    line = evidence.moves_of(row) or ()
    return make_verdict(check, FAILS, detail, replay_command(evidence.plan.game, line[: ply + 1]))


KIND = CheckKind(
    keys=KEYS,
    compares=False,
    verdict=verdict,
)
