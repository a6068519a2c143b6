"""A bot of the line protocol in Python: it plays a hole whose last bean reaches its pot, if any."""

import sys

for line in sys.stdin:
    position, legal, seconds, chance, game = line.strip().split(";")
    moves = legal.split()
    best = moves[-1]
    if game.startswith("kalah"):
        south = "South to move" in position
        row = position.split(", ")[0 if south else 1].split()[1:]
        for move in filter(str.isdigit, moves):
            hole = int(move)
            steps = len(row) + 1 - hole if south else hole  # from the hole to the own pot
            if int(row[hole - 1]) == steps:
                best = move
    print(best, flush=True)  # without flush the line stays in a buffer, and the bot loses on time
