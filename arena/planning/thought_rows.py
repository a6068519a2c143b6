"""What agents thought of the moves of a game, as one text: how it travels and is journalled."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from agents.thoughts import Thought


class TimedThought(NamedTuple):
    """What an agent thought of the move that made this ply, and for how many nanoseconds."""

    ply: int  # 1 is the first move of the game, the opening's included
    side: int  # who moved: 0 moved first in the game
    nanoseconds: int
    thought: Thought


def encoded_thoughts(thoughts: Iterable[TimedThought]) -> str:
    """The thoughts of one game."""
    return json.dumps(
        [[*each[:3], *each.thought[:4], dict(each.thought.data)] for each in thoughts],
        separators=(",", ":"),
    )


def decoded_thoughts(text: str) -> Iterator[TimedThought]:
    """The thoughts that `encoded_thoughts` wrote."""
    for ply, side, nanoseconds, value, depth, nodes, line, data in json.loads(text):
        yield TimedThought(ply, side, nanoseconds, Thought(value, depth, nodes, line, data))


def data_text(data: Mapping[str, str]) -> str:
    """What a bot called data, as JSON; empty if it said nothing."""
    return json.dumps(data, ensure_ascii=False) if data else ""
