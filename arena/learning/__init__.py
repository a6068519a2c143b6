"""Learn weights from games: play, fit and match, round after round."""

import os

# Sums depend on the number of threads; set before a program imports numpy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
