"""What was tried and what became of it, as tables of Markdown."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from tools.torture.campaign import Tried
from tools.torture.disturbances import DISTURBANCES
from tools.torture.laws import BROKEN, COUNTED, Verdict
from tools.torture.subjects import SUBJECTS

BEGIN, END = "<!-- torture: begin -->", "<!-- torture: end -->"
COLUMNS = {
    "same bytes": (Verdict.SAME,),
    "refused, afresh the same": (Verdict.REFUSED,),
    "different": (Verdict.DIFFERS,),
    "orphans": (Verdict.ORPHAN,),
    "hangs": (Verdict.HANG,),
    "other": (Verdict.WORDLESS, Verdict.ELSEWHERE),
    "too late": (Verdict.LATE,),
    "skipped": (Verdict.SKIPPED,),
}


def table(lines: Sequence[Tried], title: str, name: Callable[[Tried], str],
          order: Iterable[str]) -> str:  # fmt: skip
    """A row for each name, a column for each thing that can become of a trial."""
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


def effective(lines: Iterable[Tried]) -> int:
    """How many disturbances came neither too late nor were skipped."""
    return sum(line.verdict in (*COUNTED, *BROKEN) for line in lines)


def printed(lines: Sequence[Tried]) -> str:
    """Both tables, with what was broken in words."""
    codes = sorted({line.code for line in lines})
    seeds = sorted({line.seed for line in lines})
    broken = [line for line in lines if line.verdict in BROKEN]
    head = (
        f"{effective(lines):,} disturbances of {len({line.subject for line in lines})} subjects in "
        f"{len({line.disturbance for line in lines})} ways, "
        f"seed {', '.join(map(str, seeds))}, of the code "
        f"{', '.join(f'`{code}`' for code in codes)}: {len(broken)} broke a law."
    )
    by_way = table(lines, "disturbance", lambda line: line.disturbance, DISTURBANCES)
    by_subject = table(lines, "subject", lambda line: line.subject, SUBJECTS)
    return f"{head}\n\n{by_way}\n\n{by_subject}"


def into(page: Path, text: str) -> None:
    """Put the tables between the marks of a page."""
    before, begun, rest = page.read_text().partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not begun or not ended:
        raise SystemExit(f"{page}: has no place for the tables ({BEGIN} ... {END})")
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")
