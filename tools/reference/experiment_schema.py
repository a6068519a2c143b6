"""The JSON Schema of experiment files, for editors: completion and errors while typing."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agents.registry import AGENTS, kind_of
from arena.analysis.checks.registry import CHECKS, check_kind
from arena.config.agents import KIND
from arena.config.checks import CLAIM_KEY
from arena.config.keys import EXPERIMENT_KEYS
from arena.learning.config import LEARN
from arena.planning.openings.registry import COMMON_KEYS, OPENINGS, opening_method
from arena.planning.schedules.registry import SCHEDULES, schedule_method
from arena.tuning.table import TUNE
from games.base.schema import GAME_TIME, Key, KeyType

Schema = dict[str, Any]
DRAFT = "http://json-schema.org/draft-07/schema#"
TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
TYPES: Mapping[KeyType, Schema] = {
    "int": {"type": "integer"},
    "float": NUMBER,
    "bool": {"type": "boolean"},
    "text": TEXT,
    "texts": {"type": "array", "items": TEXT},
    "numbers": {"type": "array", "items": NUMBER},
    "list": {"type": "array"},
    "time": {"type": "string", "pattern": f"^{GAME_TIME.pattern}$"},
    "size": {"type": "string", "pattern": "^[0-9]{1,9} *[kMGmgK][iI]?[bB]$"},
    "file": TEXT,
    "path": TEXT,
    "paths": {"type": "array", "items": TEXT},
    "command": {"type": "array", "items": TEXT, "minItems": 1},
    "weights": {
        "anyOf": [
            TEXT,
            {
                "type": "object",
                "additionalProperties": {
                    "anyOf": [NUMBER, {"type": "array", "items": NUMBER, "minItems": 1}]
                },
            },
        ]
    },
    "table": {"type": "object"},
    "any": {},
}


def schema_text() -> str:
    """Return the schema as JSON."""
    return json.dumps(experiment_schema(), indent=1, ensure_ascii=False) + "\n"


def experiment_schema() -> Schema:
    """Return the schema of a whole file."""
    tables: dict[str, Schema] = {
        "schedule": _choice({name: schedule_method(name) for name in SCHEDULES}, ()),
        "openings": _choice({name: opening_method(name) for name in OPENINGS}, COMMON_KEYS),
        "agents": {"type": "object", "additionalProperties": _agent()},
        "checks": {"type": "array", "items": _check()},
        "sweep": {"type": "object"},
        "tune": _object(TUNE),
        "learn": _object(LEARN),
    }
    made = _object(EXPERIMENT_KEYS)
    for key in EXPERIMENT_KEYS:
        if key.name in tables:
            made["properties"][key.name] = tables[key.name] | {"description": key.description}
    made["required"] = ["game"]
    made["anyOf"] = [{"required": ["agents"]}, {"required": ["roster"]}]
    return {"$schema": DRAFT, "title": "Experiment of Pitflip", **made}


def _object(keys: Iterable[Key]) -> Schema:
    """Return the schema of a table with these keys and no others."""
    known = list(keys)
    made: Schema = {
        "type": "object",
        "properties": {key.name: key_schema(key) for key in known},
        "additionalProperties": False,
    }
    if required := [key.name for key in known if key.required]:
        made["required"] = required
    return made


def key_schema(key: Key) -> Schema:
    """Return the schema of one value."""
    about: Schema = {"description": key.description}
    if not callable(key.default) and key.default not in (None, ()):
        about["default"] = key.default
    if key.choices:
        return {"enum": list(key.choices), **about}
    if key.keys:
        return {**_object(key.keys), **about}
    if key.type == "plies":
        whole = {"type": "integer", **_bounds(key)}
        two = {"type": "array", "items": whole | {"minimum": 1}, "minItems": 2, "maxItems": 2}
        return {"anyOf": [whole, two], **about}
    return {**TYPES[key.type], **_bounds(key), **about}


def _bounds(key: Key) -> Schema:
    words = {"minimum": key.low, "exclusiveMinimum": key.above,
             "maximum": key.high, "exclusiveMaximum": key.below}  # fmt: skip
    return {word: bound for word, bound in words.items() if math.isfinite(bound)}


def _choice(entries: Mapping[str, Any], shared: Sequence[Key]) -> Schema:
    """Return the schema of a key that takes a word or a table with one of several forms."""
    words = [name for name, entry in entries.items() if entry.name_suffices]
    forms = [_form(entry.keys, shared) for entry in entries.values() if entry.keys]
    return {"anyOf": [{"enum": words}, *forms]}


def _form(keys: Sequence[Key], shared: Sequence[Key]) -> Schema:
    return {**_object([*keys, *shared]), "required": [keys[0].name]}


def _agent() -> Schema:
    """Return the schema of an agent; a roster may give its kind."""
    kinds = [name for name in AGENTS if name != "human"]
    forms = []
    for name in kinds:
        made = _object(kind_of(name).options)
        made["properties"] = {"kind": {"const": name, "description": KIND.description},
                              **made["properties"]}  # fmt: skip
        made.pop("required", None)
        forms.append(made)
    return {"anyOf": forms}


def _check() -> Schema:
    return {"anyOf": [_form([check_kind(name).keys[0], CLAIM_KEY, *check_kind(name).keys[1:]], ())
                      | {"required": [CLAIM_KEY.name, name]} for name in CHECKS]}  # fmt: skip
