"""Tune weights: play candidates in small tournaments, recommend weights, validate them."""

import os

# Recommendations depend on the number of threads; set before a program imports numpy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
