"""Hashes of states, for openings and tables."""

import numpy as np

from games.kernels.bits import ONE, U
from games.kernels.jit import inline
from games.kernels.quad import Quad
from games.kernels.streams import mixed


@inline
def quad_key(quad: Quad) -> np.uint64:
    """Return a hash of four words."""
    return mixed(quad.w0 + mixed(quad.w1 + mixed(quad.w2 + mixed(quad.w3))))


@inline
def pair_key(own: np.uint64, other: np.uint64) -> np.uint64:
    """Return a hash of two words, never 0."""
    word = own * U(0x9E37_79B9_7F4A_7C15) + (other ^ (other >> U(31))) * U(0xD6E8_FEB8_6659_FD93)
    word = (word ^ (word >> U(29))) * U(0xBF58_476D_1CE4_E5B9)
    return word ^ (word >> U(32)) | ONE
