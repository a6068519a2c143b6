"""What games come to, worked out from the whole table, game by game."""
