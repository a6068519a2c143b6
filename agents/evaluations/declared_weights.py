"""The `WEIGHTS = {...}` of a user's evaluation, read as text: nothing of the file is run."""

import ast

from agents.core import Weights
from agents.user_files import split_reference
from games.limited_files import read_bytes

# Whatever may be in such a file: no Python, nothing at all, or far too much.
UNREADABLE = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    AttributeError,
    RecursionError,
    MemoryError,
)


def declared_weights(reference: str) -> Weights | None:
    """The weights that the file of `path.py:evaluate` declares; None if they are no literals."""
    try:
        body = ast.parse(read_bytes(split_reference(reference, "evaluate")[0])).body
        for node in body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "WEIGHTS":
                declared = ast.literal_eval(node.value)
                return {str(name): (float(value),) for name, value in declared.items()}
    except UNREADABLE:
        pass  # it is reported when the agent is built
    return None
