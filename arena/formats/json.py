"""Games as JSON, one object a line."""

import json
from dataclasses import fields

from arena.formats.records import GameRecord

SUFFIX = ".jsonl"


def text(each: GameRecord) -> str:
    """One game."""
    content = {field.name: getattr(each, field.name) for field in fields(each)}
    content["game"] = content.pop("of").name
    content["termination"] = content.pop("ending")
    return json.dumps(content, ensure_ascii=False) + "\n"
