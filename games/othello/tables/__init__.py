"""The kinds of learned tables for Othello positions."""

TABLES = {"patterns": "games.othello.tables.patterns"}
# Empty squares; solving takes 0.1 ms, so learning can solve the end of every game.
SOLVE_FROM = 10
# Shares of a game, longer than the openings of any match: 10 to 24 plies on 8x8.
OPENING_SHARES = (1 / 6, 2 / 5)
FEW_GAMES, PHASES = 100_000, 3  # with fewer games there is one phase
