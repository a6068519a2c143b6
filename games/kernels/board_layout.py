"""Where what stands in a board's words; read without a compiler, by bots too."""

LOOK = -2  # in place of a slot: only look what is legal
# A board is an array of words: these, those of the state, then the legal slots.
HEAD, MOVER, LEFT, COUNT, STATE = range(5)
