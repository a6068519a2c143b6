"""The eight views of a board of 64 squares: flipped, mirrored, transposed."""

import numpy as np

from games.kernels.bits import U
from games.kernels.jit import inlined, unbound

VIEWS = 8
ONE, TWO, FOUR, EIGHT, SIXTEEN, HALF = U(1), U(2), U(4), U(8), U(16), U(32)
BYTES, PAIRS = U(0x00FF_00FF_00FF_00FF), U(0x0000_FFFF_0000_FFFF)
BITS_1, BITS_2, BITS_4 = (
    U(0x5555_5555_5555_5555),
    U(0x3333_3333_3333_3333),
    U(0x0F0F_0F0F_0F0F_0F0F),
)
SEVEN, FOURTEEN, TWENTY_EIGHT = U(7), U(14), U(28)
SWAP_1, SWAP_2, SWAP_4 = (
    U(0x00AA_00AA_00AA_00AA),
    U(0x0000_CCCC_0000_CCCC),
    U(0x0000_0000_F0F0_F0F0),
)


@inlined
def flipped(board: np.uint64) -> np.uint64:
    """The first row becomes the last."""
    board = ((board >> EIGHT) & BYTES) | ((board & BYTES) << EIGHT)
    board = ((board >> SIXTEEN) & PAIRS) | ((board & PAIRS) << SIXTEEN)
    return (board >> HALF) | (board << HALF)


@inlined
def mirrored(board: np.uint64) -> np.uint64:
    """The first column becomes the last."""
    board = ((board >> ONE) & BITS_1) | ((board & BITS_1) << ONE)
    board = ((board >> TWO) & BITS_2) | ((board & BITS_2) << TWO)
    return ((board >> FOUR) & BITS_4) | ((board & BITS_4) << FOUR)


@inlined
def transposed(board: np.uint64) -> np.uint64:
    """Rows become columns."""
    change = (board ^ (board >> SEVEN)) & SWAP_1
    board = board ^ change ^ (change << SEVEN)
    change = (board ^ (board >> FOURTEEN)) & SWAP_2
    board = board ^ change ^ (change << FOURTEEN)
    change = (board ^ (board >> TWENTY_EIGHT)) & SWAP_4
    return board ^ change ^ (change << TWENTY_EIGHT)


def image(squares: int, view: int, back: bool = False) -> int:
    """The squares in view `view` of the board; `back` undoes it."""
    steps = [transposed] * (view >> 2) + [flipped] * (view & 1) + [mirrored] * (view >> 1 & 1)
    board = U(squares)
    with np.errstate(over="ignore"):
        for step in reversed(steps) if back else steps:
            board = unbound(step)(board)
    return int(board)
