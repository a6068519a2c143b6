"""A table between the marks of a page, where a command puts it."""

from pathlib import Path


def put_between(page: Path, begin: str, end: str, text: str) -> None:
    """Replace what stands between the marks."""
    before, begun, rest = page.read_text().partition(begin)
    _, ended, after = rest.partition(end)
    if not begun or not ended:
        raise SystemExit(f"{page}: has no place for a table ({begin} ... {end})")
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}")
