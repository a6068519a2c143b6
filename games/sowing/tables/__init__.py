"""The kinds of learned tables for sowing positions."""

TABLES = {
    "pairs": "games.sowing.tables.pairs",
    "holes": "games.sowing.tables.holes",
    "all_pairs": "games.sowing.tables.all_pairs",
}
SOLVE_FROM = 14  # beans in the rows; solving takes 0.05 ms
OPENING_SHARES = (1 / 12, 1 / 3)  # plies per bean: 4 to 16 plies with 48 beans
FEW_GAMES, PHASES = 10_000, 8
