"""The key of a state in a search's table: the family's own, told apart by a second sum."""

from types import ModuleType

from games.kernels.bits import ONE, U
from games.kernels.boards import words_of
from games.kernels.jit import Kernel, Scope, inlined
from games.kernels.quad import Quad

# Above the bits that name a place in the table.
HIGH = U(0xFFFF_FF00_0000_0000)
FACTORS = (0xC2B2_AE3D_27D4_EB4F, 0x94D0_49BB_1331_11EB, 0xFF51_AFD7_ED55_8CCD)
BEGUN = U(0x1656_67B1_9E37_79F9)


def table_key(family: ModuleType) -> Kernel:
    """The function from a state to its key, never 0; a line of code for each of its words.

    The first sum of `pair_key` is linear in two words, so all states with one certain difference
    share a key, and for packed rows there is one of few beans: seven more in the mover's pot, six
    fewer in a hole of the other side, one fewer in its pot. A search took the value of one for
    the other. Openings keep their keys, and positions their places.
    """
    body = ["more = BEGUN"]
    for place, word in enumerate(_words(family)):
        body.append(f"more = (more ^ {word}) * U({FACTORS[place % len(FACTORS)]})")
        body.append("more = more ^ (more >> U(29))")
    text = "\n    ".join(["def key(s):", *body, "return own_key(s) ^ (more * LAST & HIGH) | ONE"])
    scope: Scope = {
        "U": U, "ONE": ONE, "HIGH": HIGH, "BEGUN": BEGUN, "LAST": U(FACTORS[0]),
        "own_key": family.key,
    }  # fmt: skip
    exec(text, scope)
    made: Kernel = inlined(scope["key"])
    return made


def _words(family: ModuleType) -> list[str]:
    """The words of a state, as code."""
    found = []
    for name, words in words_of(family.State):
        found += [f"s.{name}.{each}" for each in Quad._fields] if words > 1 else [f"s.{name}"]
    return found
