"""Random whole games in plain Python: splitmix64 by its definition, one stream a game.

The game comes as an argument, so that this imports nothing of what it checks.
"""

WORD = 2**64
STRIDE = 0x9E3779B97F4A7C15  # 2**64 divided by the golden ratio, made odd


def mixed(word: int) -> int:
    """The output function of splitmix64."""
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % WORD
    return word ^ (word >> 31)


def draws(seed: int, number: int):
    """Half words of 32 bits, without end: the stream of one game of a seed."""
    word = mixed((seed + STRIDE * mixed((number + STRIDE) % WORD)) % WORD)
    while True:
        word = (word + STRIDE) % WORD
        yield mixed(word) >> 32


def random_game(of, position, seed: int, number: int):
    """Moves played and the last position of one game; a forced pass draws no number."""
    numbers, moves = draws(seed, number), 0
    while not of.over(position):
        legal = of.legal(position)
        forced = legal == (of.pass_move,)
        place = 0 if forced else next(numbers) * len(legal) // 2**32
        position = of.play(position, legal[place])
        moves += 1
    return moves, position


def tally(of, start, numbers, seed: int) -> tuple[int, int, int, int, int]:
    """Wins, draws, losses of the first player, all moves, the sum of his margins."""
    results = [random_game(of, start, seed, number) for number in numbers]
    margins = [of.margin(last) for _, last in results]
    return (
        sum(margin > 0 for margin in margins),
        sum(margin == 0 for margin in margins),
        sum(margin < 0 for margin in margins),
        sum(moves for moves, _ in results),
        sum(margins),
    )
