"""What weights of Othello positions may be learned for: the table of tables."""

TABLES = {"patterns": "games.othello.tables.patterns"}
# Solved in a tenth of a millisecond, so every game learned from can end so.
SOLVE_FROM = 10
# Of a game, longer than the openings of any match: 10 to 24 plies on 8x8.
OPENING_SHARES = (1 / 6, 2 / 5)
FEW_GAMES, PHASES = 100_000, 3  # one phase below so many games
