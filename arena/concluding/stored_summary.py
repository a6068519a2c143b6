"""What is concluded from a run beside its tables, as summary.json holds it."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from arena.concluding.checks import Check, Verdict
from arena.concluding.summary import Stopped, Summary
from arena.concluding.table_rows import tournament_json
from games.keys import KeyValues
from games.limited_files import parsed_json, read_bytes

SUMMARY = "summary.json"
LARGEST = 1 << 26  # bytes of it


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
        "groups": [list(group.agents) for group in summary.groups],
        "bridges": list(summary.bridges),
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
        stored = json.loads((directory / SUMMARY).read_text(encoding="utf-8"))
        checks = stored["checks"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [check for check in checks if isinstance(check, dict)]


def stored_test(directory: Path) -> KeyValues:
    """The sequential test that a run was stopped by, from its summary."""
    stored: KeyValues = parsed_json(read_bytes(directory / SUMMARY, LARGEST))["stopped"]
    return stored
