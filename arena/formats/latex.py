"""LaTeX: tables as tabular environments that need no package."""

from arena.formats.records import Cell, TextTable

SUFFIX, RAW = ".tex", False
LETTERS = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''",
    "\u2212": "$-$", "\u2013": "--", "\u2026": r"\ldots{}", "\u00a0": "~", "\u00bd": r"$\frac12$",
    "\u00b5": r"$\mu$",
}  # fmt: skip


def table_text(table: TextTable) -> str:
    """Return a table below its caption, which is a comment."""
    columns = "l" * table.text_columns + "r" * (len(table.head) - table.text_columns)
    lines = [
        f"% {' '.join(table.caption.split())}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\hline",
        _row(table.head),
        r"\hline",
        *map(_row, table.rows),
        r"\hline",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _row(cells: tuple[Cell, ...]) -> str:
    return " & ".join(_escape(cell) for cell in cells) + r" \\"


def _escape(cell: Cell) -> str:
    text = "" if cell is None else str(cell)
    letters = (LETTERS.get(letter, letter) for letter in text)
    # Control characters would end the line, or stop LaTeX.
    return "".join(each for each in letters if each[0] >= " " and each[0] != "\x7f")
