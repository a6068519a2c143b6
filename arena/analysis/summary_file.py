"""Read and write summary.json."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from arena.analysis.checks.registry import Check, Verdict
from arena.analysis.evidence import KEY, exclusions_json
from arena.analysis.summary import StopResult, Summary
from arena.analysis.tables import tournament_json
from games.base.files import Shape, parse_json, read_with_limit, require_shape
from games.base.schema import KeyValues

SUMMARY = "summary.json"
LARGEST = 1 << 26  # bytes of it
NUMBER = (float, None)
ESTIMATE: Mapping[str, Shape] = {
    "value": NUMBER, "low": NUMBER, "high": NUMBER, "level": float, "kind": str, "reason": str,
}  # fmt: skip
SCORE_CHECK: Mapping[str, Shape] = {
    "wanted": float, "score": NUMBER, "bound": NUMBER, "level": float, "openings": int,
}  # fmt: skip
SHAPE: Mapping[str, Shape] = {
    "experiment": str,
    "game": str,
    "games": int,
    "distinct_games": int,
    "openings": int,
    "forfeits": int,
    "duplicates": (int, None),
    "unplayed": (int, None),
    KEY: ([{"agent": str, "since": int, "unplayed": int, "reason": str}], None),
    "first_mover": ESTIMATE,
    "opening_plies": ([int], None),
    "groups": [[str]],
    "stopped": ({
        "agent": str, "opponent": str, "decision": str, "text": str,
        "why": (str, None),
        "raw": ESTIMATE, "corrected": ESTIMATE,
    }, None),
    "tournament": ({
        "schedule": str, "rounds": int, "over": bool, "answer": str, "notes": [str],
        "agents": [{"agent": str, "state": str, "round": (int, None), "why": str}],
    }, None),
    "checks": [{
        "that": str, "test": str, "values": dict, "status": str, "detail": str,
        "replay": (str, None), "game": (int, None), "measured": (SCORE_CHECK, None),
    }],
}  # fmt: skip


def load_summary(directory: Path, shape: Mapping[str, Shape] = SHAPE) -> KeyValues:
    """Return the content of a run's summary.json; ValueError and OSError name the fault."""
    stored = parse_json(read_with_limit(directory / SUMMARY, LARGEST))
    require_shape(stored, shape, SUMMARY)
    summary: KeyValues = stored
    return summary


def summary_text(summary: Summary, checks: Sequence[Check], verdicts: Sequence[Verdict]) -> str:
    """Return the content of summary.json."""
    content = summary_json(summary, checks, verdicts)
    return json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def summary_json(
    summary: Summary, checks: Sequence[Check], verdicts: Sequence[Verdict]
) -> KeyValues:
    """Return the parts of a summary that its tables do not store."""
    same = {"same_players": list(summary.identical_agents)} if summary.identical_agents else {}
    content: KeyValues = {
        "experiment": summary.experiment,
        "game": summary.game,
        "games": summary.games,
        "distinct_games": summary.distinct_games,
        "openings": summary.openings,
        "duplicates": summary.duplicates,
        "forfeits": summary.forfeits,
        "unplayed": summary.unplayed_games,
        KEY: exclusions_json(summary.excluded),
        "first_mover": asdict(summary.first_mover),
        "opening_plies": summary.opening_plies,
        "groups": [list(group.agents) for group in summary.groups],
        "stopped": summary.stop and _stop_json(summary.stop),
        "tournament": tournament_json(summary),
        "checks": [_check_json(*each) for each in zip(checks, verdicts, strict=True)],
        **same,
    }
    plain: KeyValues = json.loads(json.dumps(content, default=str))
    return plain


def _stop_json(stopped: StopResult) -> dict[str, object]:
    estimates = {name: asdict(getattr(stopped, name)) for name in ("raw", "corrected")}
    words = {
        name: getattr(stopped, name) for name in ("agent", "opponent", "decision", "why", "text")
    }
    return {**words, **estimates}


def _check_json(check: Check, verdict: Verdict) -> dict[str, object]:
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


def load_checks(directory: Path) -> list[KeyValues]:
    """Return the checks of a run's summary with their verdicts; [] without a readable summary."""
    try:
        return list(load_summary(directory, {"checks": SHAPE["checks"]})["checks"])
    except (OSError, ValueError):
        return []


def load_stop_result(directory: Path) -> KeyValues:
    """Return how a stop rule ended a run, from its summary."""
    stopped: KeyValues = load_summary(directory, {"stopped": SHAPE["stopped"]})["stopped"]
    return stopped
