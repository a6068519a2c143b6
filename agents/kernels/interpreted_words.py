"""A pack's words and features as plain functions, for whoever cannot wait for a compilation."""

from collections.abc import Mapping
from functools import cache
from types import FunctionType

import numpy as np

from agents.kernels.bind import bound_words, feature_names
from games.kernels.bits import PLAIN_TWINS
from games.kernels.jit import Kernel, unbound
from games.pack import board_words, package_of
from games.user_file import codes, copied


@cache
def interpreted_words(family_name: str) -> Mapping[str, Kernel]:
    """Every word and feature of the family as plain functions, those that they call as well."""
    names = bound_words(family_name)
    made: dict[object, object] = dict(PLAIN_TWINS)
    wanted = (*board_words(package_of(family_name)), *feature_names(family_name))
    # Words wrap around on purpose, as compiled ones do.
    quiet = np.errstate(over="ignore")
    return {name: quiet(interpreted(names[name], made)) for name in wanted}


def interpreted(function: Kernel, made: dict[object, object]) -> FunctionType:
    """A copy that Python runs, and calls copies of the functions of ours that it calls."""
    plain: FunctionType = unbound(function)
    if plain not in made:
        scope = dict(plain.__globals__)
        made[plain] = copied(plain, scope)
        for name in {each for code in codes(plain.__code__) for each in code.co_names}:
            value = scope.get(name)
            if value in made if callable(value) else False:
                scope[name] = made[value]
            elif value is not None and unbound(value) is not value:
                scope[name] = interpreted(value, made)
    return made[plain]  # type: ignore[return-value]  # what is made here are functions
