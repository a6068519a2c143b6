"""Tables as CSV: the columns of the run's tables, for spreadsheets and other programs."""

import csv
import io

from arena.showing.exported import ExportedTable

SUFFIX, RAW = ".csv", True


def text(each: ExportedTable) -> str:
    """One table; what is missing is empty."""
    lines = io.StringIO()
    rows = csv.writer(lines, lineterminator="\n")
    rows.writerow(each.head)
    rows.writerows(["" if cell is None else cell for cell in row] for row in each.rows)
    return lines.getvalue()
