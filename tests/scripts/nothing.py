"""An evaluation that sees nothing, for games of any pack."""


def evaluate(rules, position):
    return 0
