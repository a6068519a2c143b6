"""Ways to choose the next weights to try: a module each, with `build(plan) -> Sampler`."""

from collections.abc import Mapping

# Text, so that a sampler's library is loaded only where the sampler is used.
SAMPLERS: Mapping[str, str] = {
    "tpe": "arena.tuning.samplers.tpe",
    "gp": "arena.tuning.samplers.gp",
    "cmaes": "arena.tuning.samplers.cmaes",
    "spsa": "arena.tuning.samplers.spsa",
}
# What proposes without a search: it fits games that were played before the first trial.
FITS: Mapping[str, str] = {"fit": "arena.tuning.samplers.fitted"}
