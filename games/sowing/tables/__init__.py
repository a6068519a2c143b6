"""What weights of sowing positions may be learned for: the table of tables."""

TABLES = {
    "pairs": "games.sowing.tables.pairs",
    "holes": "games.sowing.tables.holes",
    "all_pairs": "games.sowing.tables.all_pairs",
}
SOLVE_FROM = 14  # beans in the rows: solved in a twentieth of a millisecond
OPENING_SHARES = (1 / 12, 1 / 3)  # of a bean a ply: 4 to 16 plies with 48 beans
FEW_GAMES, PHASES = 10_000, 8
