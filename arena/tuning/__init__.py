"""Tuning: weights proposed, played in small tournaments, and recommended by a posterior mean."""

import os

# Workers play on every core: threads of linear algebra beside them would only be in their way.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
