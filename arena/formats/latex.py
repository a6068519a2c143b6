"""Tables as LaTeX, for papers: a tabular that needs no package."""

from arena.formats.records import Cell, TextTable

SUFFIX, RAW = ".tex", False
LETTERS = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''",
    "\u2212": "$-$", "\u2013": "--", "\u2026": r"\ldots{}", "\u00a0": "~", "\u00bd": r"$\frac12$",
    "\u00b5": r"$\mu$",
}  # fmt: skip


def text(each: TextTable) -> str:
    """One table, its caption as a comment above it."""
    columns = "l" * each.words + "r" * (len(each.head) - each.words)
    lines = [
        f"% {' '.join(each.caption.split())}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\hline",
        _row(each.head),
        r"\hline",
        *map(_row, each.rows),
        r"\hline",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _row(cells: tuple[Cell, ...]) -> str:
    return " & ".join(_escaped(cell) for cell in cells) + r" \\"


def _escaped(cell: Cell) -> str:
    words = "" if cell is None else str(cell)
    letters = (LETTERS.get(letter, letter) for letter in words)
    # Control characters would end the line, or the run of LaTeX.
    return "".join(each for each in letters if each[0] >= " " and each[0] != "\x7f")
