"""The games that stand out on a page: those that sorting all of them would put first."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from arena.report.games import LAST, SmallestRows

pieces = st.lists(st.lists(st.sampled_from([-3, 0, 1, 2, LAST]), max_size=9), max_size=6)


@given(pieces, st.integers(1, 8))
def test_the_least_of_all_pieces_are_the_first_of_all_sorted(pieces, most):
    least, numbers = SmallestRows(most), [number for piece in pieces for number in piece]
    start = 0
    for piece in pieces:
        least.take(start, np.array(piece, np.int64))
        start += len(piece)
    places = [place for place, number in enumerate(numbers) if number < LAST]
    assert least.rows.tolist() == sorted(places, key=lambda place: numbers[place])[:most]
