"""JSON lines: one object for each game."""

import json
from dataclasses import fields

from arena.formats.records import GameRecord

SUFFIX = ".jsonl"


def game_text(record: GameRecord) -> str:
    """Return the object of a game."""
    content = {field.name: getattr(record, field.name) for field in fields(record)}
    content["game"] = record.game.name
    content["termination"] = content.pop("ending")
    return json.dumps(content, ensure_ascii=False) + "\n"
