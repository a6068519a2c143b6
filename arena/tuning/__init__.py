"""Tuning weights: proposed, played in small tournaments, recommended by a posterior mean."""

import os

# Workers play on every core, where threads of linear algebra would only be in their way.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
