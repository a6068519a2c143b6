"""The sowing table of long rows: what each hole adds to every cell, by number of beans."""

from games.sowing.rules import SowingRules, last_bean, path

ROW_WORDS = 10  # four words a row, the pots, what the last bean means


def words_of(row: tuple[int, ...]) -> tuple[int, ...]:
    """Four words of four 16-bit lanes: hole k in word k mod 4, lane k div 4."""
    return tuple(sum(b << 16 * i for i, b in enumerate(row[word::4])) for word in range(4))


def sowing_table(rules: SowingRules, pot: int) -> list[int]:
    """`ROW_WORDS` words for every hole and every number of beans up to a lap, hole by hole."""
    table: list[int] = []
    for hole in range(rules.holes):
        row, other, pots = [0] * rules.holes, [0] * rules.holes, 0
        for cell in path(rules, hole):
            if cell < rules.holes:
                row[cell] += 1
            elif cell == rules.holes:
                pots += 1
            elif cell <= 2 * rules.holes:
                other[cell - rules.holes - 1] += 1
            else:
                pots += 1 << 32
            last = last_bean(rules, cell, cell, pot)
            table += [*words_of(tuple(row)), *words_of(tuple(other)), pots, last]
    return table
