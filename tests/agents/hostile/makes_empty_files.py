"""Makes a million files."""
# ends: raised timeout flooded


def choose(view, legal, rng):
    for number in range(1 << 20):
        open(f"file-{number}", "w").close()
    return legal[0]
