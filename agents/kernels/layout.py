"""Where a search keeps its settings, state and results in the context array."""

from games.kernels.context import COUNTERS

(
    KIND,  # which policy or search chooses: one of KINDS
    DEPTH,  # plies, or UNLIMITED
    BUDGET,  # nodes a move, or UNLIMITED
    NANOSECONDS,  # time a move, or UNLIMITED
    ENDGAME,  # solve to the end when at most so many beans or empties are left
    RANDOM_TIES,  # 1: one of several equal root moves is chosen at random
    EPSILON,  # share of random moves, in parts of 2**32
    EVALUATOR,  # address of the compiled evaluation
    TABLE_AT,  # where the transposition table begins
    TABLE_MASK,  # its number of entries minus one
    ORDER_AT,  # where the move lists begin, ORDER_WIDTH words a ply
    PHASES,  # number of game phases with weights of their own
    TIES_BY_SIDE,  # 1: ties follow the numbers on the board, which run backwards for side 1
    NODES,  # positions looked at in this move
    CHECK_AT,  # node count at which limits are checked again
    STOPPED,  # 1 once a limit was reached
    DEADLINE,  # monotonic nanoseconds, or UNLIMITED
    GUESSES,  # evaluations, and table hits that rest on one
    RANDOM,  # state of the agent's random stream in this game
    SALT,  # makes table entries of earlier moves not match
    BEST,  # the move found
    VALUE,  # its value
    REACHED,  # the last finished depth
    EXACT,  # 1 when the value rests on no evaluation
    SWAP_SLOT,  # the slot of the swap, or NO_SLOT
    CLOCK,  # two words for the clock
    _,
    LEARNED,  # where the words of learned tables begin
    INDICES,  # where a fit lists what a position looks up
    PYTHON,  # `id` of a user's evaluation that Python runs
    PROBING,  # 1 inside a shallow search that may cut a node
) = range(COUNTERS, COUNTERS + 31)

# What shallow searches must say for a node of these depths to be cut.
CUTS, CUT_WORDS = 64, 3
SHALLOWEST_CUT, DEEPEST_CUT = 3, 12

NO_SLOT = -2
NOT_SEARCHED = -1

WEIGHTS = 96
MOST_FEATURES = 16
MOST_PHASES = 8

ORDER_WIDTH = 256
ORDER_PLIES = 192

UNLIMITED = 1 << 62
SOLVE = 200  # a depth that never runs out
DEEPEST = 120

# Scores are whole thousandths of an evaluation; a finished game is beyond all evaluations.
UNIT = 1000
WIN = 1_000_000_000
HIGHEST = 2_000_000_000

KINDS = (
    "random",
    "first",
    "last",
    "nearest_pot",
    "fewest",
    "greedy",
    "minimax",
    "collapsed",
    "alphabeta",
)
(
    RANDOM_KIND,
    FIRST_KIND,
    LAST_KIND,
    NEAREST_KIND,
    FEWEST_KIND,
    GREEDY_KIND,
    MINIMAX_KIND,
    COLLAPSED_KIND,
    ALPHABETA_KIND,
) = range(len(KINDS))
