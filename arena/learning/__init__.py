"""Learning weights from games: played, labelled, fitted, matched, round after round."""

import os

# The same sums on every core: threads of linear algebra would only be in their way.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
