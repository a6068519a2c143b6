"""The results of a campaign as Markdown tables."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from tools.torture.campaign import TrialRecord
from tools.torture.disturbances import DISTURBANCES
from tools.torture.laws import BROKEN, COUNTED, Verdict
from tools.torture.subjects import SUBJECTS

BEGIN, END = "<!-- torture: begin -->", "<!-- torture: end -->"
COLUMNS = {
    "same bytes": (Verdict.SAME,),
    "refused, then same bytes": (Verdict.REFUSED,),
    "different": (Verdict.DIFFERS,),
    "orphans": (Verdict.ORPHAN,),
    "hangs": (Verdict.HANG,),
    "other": (Verdict.BAD_OUTPUT, Verdict.ELSEWHERE),
    "too late": (Verdict.LATE,),
    "skipped": (Verdict.SKIPPED,),
}


def table(lines: Sequence[TrialRecord], title: str, name: Callable[[TrialRecord], str],
          order: Iterable[str]) -> str:  # fmt: skip
    """Return a table with a row for each name and a column for each group of verdicts."""
    counts = Counter((name(line), line.verdict) for line in lines)
    rows = [[title, "disturbed", *COLUMNS], ["---"] * (2 + len(COLUMNS))]
    for each in (*order, "all"):
        sums = [
            sum(
                count
                for (of, verdict), count in counts.items()
                if each in (of, "all") and verdict in verdicts
            )
            for verdicts in COLUMNS.values()
        ]
        effective = sum(sums) - sum(sums[-2:])
        rows.append([each, *(f"{count:,}" for count in (effective, *sums))])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def count_effective(lines: Iterable[TrialRecord]) -> int:
    """Return the number of disturbances that were neither too late nor skipped."""
    return sum(line.verdict in (*COUNTED, *BROKEN) for line in lines)


def report_text(lines: Sequence[TrialRecord]) -> str:
    """Return a summary and both tables."""
    codes = sorted({line.code for line in lines})
    seeds = sorted({line.seed for line in lines})
    broken = [line for line in lines if line.verdict in BROKEN]
    head = (
        f"{count_effective(lines):,} disturbances of "
        f"{len({line.subject for line in lines})} subjects in "
        f"{len({line.disturbance for line in lines})} ways, "
        f"seed {', '.join(map(str, seeds))}, of the code "
        f"{', '.join(f'`{code}`' for code in codes)}: {len(broken)} broke a law."
    )
    by_way = table(lines, "disturbance", lambda line: line.disturbance, DISTURBANCES)
    by_subject = table(lines, "subject", lambda line: line.subject, SUBJECTS)
    return f"{head}\n\n{by_way}\n\n{by_subject}"


def insert_tables(page: Path, text: str) -> None:
    """Replace the text between the two marks of a page."""
    before, begin_mark, rest = page.read_text().partition(BEGIN)
    _, end_mark, after = rest.partition(END)
    if not begin_mark or not end_mark:
        raise SystemExit(f"{page}: the marks of the tables are missing: expected {BEGIN} ... {END}")
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")
