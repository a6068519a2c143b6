"""Writes files without end."""
# ends: raised timeout memory flooded


def choose(view, legal, rng):
    for number in range(1 << 20):
        with open(f"file-{number}", "wb") as file:
            file.write(b"x" * (1 << 20))
    return legal[0]
