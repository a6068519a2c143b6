"""Read and write summary.json."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from arena.analysis.checks.claims import Check, Verdict
from arena.analysis.summary import Stopped, Summary
from arena.analysis.tables import tournament_json
from arena.concluding.stored_shape import OrNone, Shape, misshapen
from games.base.files import parsed_json, read_bytes
from games.base.schema import KeyValues

SUMMARY = "summary.json"
LARGEST = 1 << 26  # bytes of it
NUMBER = OrNone("float")
KNOWN = OrNone("float", missing=False)
ESTIMATE: Mapping[str, Shape] = {
    "value": KNOWN, "low": KNOWN, "high": KNOWN, "level": "float", "kind": "text",
    "reason": "text",
}  # fmt: skip
MEASURED: Mapping[str, Shape] = {
    "wanted": "float", "score": NUMBER, "bound": NUMBER, "level": "float", "openings": "int"
}  # fmt: skip
STANDING: Mapping[str, Shape] = {
    "agent": "text",
    "state": "text",
    "round": OrNone("int"),
    "why": "text",
}
SHAPE: Mapping[str, Shape] = {
    "experiment": "text",
    "game": "text",
    "games": "int",
    "distinct_games": "int",
    "openings": "int",
    "forfeits": "int",
    "first_mover": ESTIMATE,
    "opening_plies": OrNone(["int"]),
    "groups": [["text"]],
    "stopped": OrNone({
        "agent": "text", "opponent": "text", "decision": "text", "text": "text",
        "raw": ESTIMATE, "corrected": ESTIMATE,
    }),
    "tournament": OrNone({
        "schedule": "text", "rounds": "int", "over": "bool", "answer": "text",
        "notes": ["text"], "agents": [STANDING],
    }),
    "checks": [{
        "that": "text", "test": "text", "values": "table", "status": "text", "detail": "text",
        "replay": OrNone("text"), "game": OrNone("int"), "measured": OrNone(MEASURED),
    }],
}  # fmt: skip


def stored_summary(directory: Path, shape: Mapping[str, Shape] = SHAPE) -> KeyValues:
    """What summary.json of a run holds; a ValueError or an OSError says what is wrong with it."""
    stored = parsed_json(read_bytes(directory / SUMMARY, LARGEST))
    if fault := misshapen(stored, shape, SUMMARY):
        raise ValueError(fault)
    summary: KeyValues = stored
    return summary


def summary_json(summary: Summary, checks: Sequence[Check], verdicts: Sequence[Verdict]) -> str:
    """The whole file."""
    content = summary_values(summary, checks, verdicts)
    return json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def summary_values(
    summary: Summary, checks: Sequence[Check], verdicts: Sequence[Verdict]
) -> KeyValues:
    """What the tables of a summary do not hold."""
    same = {"same_players": list(summary.same)} if summary.same else {}
    content: KeyValues = {
        "experiment": summary.experiment,
        "game": summary.game,
        "games": summary.games,
        "distinct_games": summary.distinct_games,
        "openings": summary.openings,
        "forfeits": summary.forfeits,
        "first_mover": asdict(summary.first_mover),
        "opening_plies": summary.opening_plies,
        "groups": [list(group.agents) for group in summary.groups],
        "stopped": summary.stopped and _stopped(summary.stopped),
        "tournament": tournament_json(summary),
        "checks": [_check(*each) for each in zip(checks, verdicts, strict=True)],
        **same,
    }
    plain: KeyValues = json.loads(json.dumps(content, default=str))
    return plain


def _stopped(stopped: Stopped) -> dict[str, object]:
    estimates = {name: asdict(getattr(stopped, name)) for name in ("raw", "corrected")}
    words = {name: getattr(stopped, name) for name in ("agent", "opponent", "decision", "text")}
    return {**words, **estimates}


def _check(check: Check, verdict: Verdict) -> dict[str, object]:
    return {
        "that": verdict.that,
        "test": verdict.test,
        "values": dict(check.values),
        "status": verdict.status,
        "detail": verdict.detail,
        "replay": verdict.replay,
        "game": verdict.game,
        "measured": verdict.measured and asdict(verdict.measured),
    }


def stored_checks(directory: Path) -> list[KeyValues]:
    """The checks of a run's summary with their verdicts; empty if it has none to read."""
    try:
        return list(stored_summary(directory, {"checks": SHAPE["checks"]})["checks"])
    except (OSError, ValueError):
        return []


def stored_test(directory: Path) -> KeyValues:
    """The sequential test that a run was stopped by, from its summary."""
    stopped: KeyValues = stored_summary(directory, {"stopped": SHAPE["stopped"]})["stopped"]
    return stopped
